//! Timing: the drive sees the clients' queue depth, and answers come in the drive's order, never early.

use std::cell::Cell;
use std::collections::VecDeque;

use likenew_core::memory::Memory;
use likenew_core::units::Nanos;

use super::rig::{CAPACITY, Rig, SERVICE, ServerEnd, drive, export};
use crate::protocol::command as c;
use crate::server::{self, Clock, Server, Service};
use crate::store::Pages;

/// Replies within `span` of wall time, for this many connections with this queue depth each.
fn stats(rig: &mut Rig, depth: usize, connections: usize, span: Nanos) -> u64 {
    let mut clients: Vec<_> = (0..connections).map(|_| rig.client(true)).collect();
    let mut at: VecDeque<u64> = (0..CAPACITY as u64).step_by(4096).collect();
    let begun = rig.hand.now();
    let mut replies = 0;
    for client in &mut clients {
        client.ask_often(depth, at[0], 4096);
    }
    while rig.hand.now() < begun + span {
        rig.poll();
        for client in &mut clients {
            // The store is empty, so each answer is one chunk of 32 bytes.
            for _ in 0..client.received().len() / 32 {
                replies += 1;
                at.rotate_left(7);
                client.ask(c::READ, 0, at[0], 4096, &[]);
            }
        }
        // Submits the new requests now.
        rig.poll();
        rig.hand.set(rig.server.wake_at());
    }
    replies
}

#[test]
fn depth_reaches_the_drive() {
    for (depth, connections) in [(1, 1), (8, 1), (32, 1), (8, 4)] {
        let mut rig = Rig::of(drive(32), export(), Some(Box::new(Pages::new(0))));
        let replies = stats(&mut rig, depth, connections, Nanos::from_millis(100));
        let expected = 1000 * (depth * connections) as u64;
        assert!(replies.abs_diff(expected) <= expected / 100, "{replies} at {depth} × {connections}");
        assert_eq!(rig.server.stats().depth_max as usize, depth * connections);
    }
}

#[test]
fn time_runs_as_fast_as_is_reported() {
    for speed in [0.25, 1.0, 8.0] {
        let store = Some(Box::new(Pages::new(0)) as Box<_>);
        let service = Service { export: export(), store, speed, compresses: false };
        let mut rig = Rig::with(drive(1), service);
        let replies = stats(&mut rig, 1, 1, Nanos::from_millis(100));
        let expected = 1000.0 * speed;
        assert!((replies as f64 - expected).abs() <= expected / 100.0, "{replies} at {speed}");
    }
}

#[test]
fn answers_come_in_the_order_of_the_drive_and_not_early() {
    // Two I/Os can be in service at once. A long request is split into 1 MiB pieces, so a short one overtakes it.
    let export = crate::Export { capacity: 8 << 20, ..export() };
    let mut rig = Rig::of(Memory::new(8 << 20, SERVICE, 2), export, Some(Box::new(Pages::new(0))));
    let mut client = rig.client(true);
    let long = client.ask(c::READ, 0, 0, 3 << 20, &[]);
    let short = client.ask(c::READ, 0, 0, 512, &[]);
    let last = client.ask(c::READ, 0, 0, 3 << 20, &[]);
    rig.poll();
    assert_eq!(client.waiting_bytes(), 0);
    rig.hand.set(SERVICE + SERVICE - Nanos(1));
    rig.poll();
    assert_eq!(client.waiting_bytes(), 0, "nothing ends a nanosecond early");
    let cookies: Vec<u64> = rig.answers(&client, 3).iter().map(|reply| reply.cookie).collect();
    assert_eq!(cookies, [long, short, last]);
    let mut client = rig.client(true);
    let long = client.ask(c::READ, 0, 0, 8 << 20, &[]);
    rig.poll();
    rig.hand.set(rig.hand.now() + Nanos(1));
    let short = client.ask(c::FLUSH, 0, 0, 0, &[]);
    let cookies: Vec<u64> = rig.answers(&client, 2).iter().map(|reply| reply.cookie).collect();
    assert_eq!(cookies, [long, short]);
}

#[test]
fn idle_time_is_the_drives_own_and_lag_is_reported() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    rig.pass(Nanos::from_secs(600));
    assert_eq!(rig.server.drive_now(), Nanos::from_secs(600));
    client.ask(c::READ, 0, 0, 512, &[]);
    rig.poll();
    // The server is polled 5 ms late.
    rig.hand.set(rig.hand.now() + SERVICE + Nanos::from_millis(5));
    rig.answer(&client);
    let lag = rig.server.stats().lag;
    assert_eq!(lag.answers, 1);
    assert!(lag.max_ns.abs_diff(5_000_000) < 10_000, "{lag:?}");
}

#[test]
fn more_than_the_drive_takes_at_once_waits_in_order() {
    let mut rig = Rig::of(drive(1), export(), Some(Box::new(Pages::new(0))));
    let mut clients: Vec<_> = (0..3).map(|_| rig.client(true)).collect();
    for client in &mut clients {
        client.ask_often(2000, 0, 512);
    }
    for client in &clients {
        let replies = rig.answers(client, 2000);
        assert!(replies.is_sorted_by_key(|reply| reply.cookie));
    }
    assert_eq!(rig.server.stats().depth_max, 1024);
}

/// A wall clock that advances whenever it is read, as while a drive is simulated slowly.
struct Slow(Cell<Nanos>);

impl Clock for Slow {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + Nanos::from_millis(40));
        self.0.get()
    }
}

#[test]
fn a_drive_that_is_simulated_too_slowly_keeps_nobody_waiting() {
    let service = Service { export: export(), store: None, speed: 1000.0, compresses: false };
    let lane = server::lane(Box::leak(Box::new(drive(1)))).unwrap();
    let mut server = Server::<ServerEnd, Slow>::new(lane, service, Slow(Cell::default()));
    server.poll(&[]).unwrap();
    // About 40 ms of wall time are 40 s of the drive's. In 100 ms, the simulation gets three seconds far.
    assert_eq!(server.drive_now(), Nanos::from_secs(3));
    server.poll(&[]).unwrap();
    assert_eq!(server.drive_now(), Nanos::from_secs(6), "the next turn goes on with it");
    server.end();
    assert!(server.has_ended(), "it ends although it has not caught up");
}
