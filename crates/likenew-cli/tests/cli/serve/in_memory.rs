//! With a manual clock, a client gets the drive's own rate from a server, at its own queue depth.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

use likenew_core::drive::{Drive as _, Lane};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use likenew_nbd::Export;
use likenew_nbd::server::{self, Clock, Server, Service};
use likenew_nbd::store::Pages;
use likenew_sim::{SimDrive, Spec};

const BLOCK: u32 = 4096;
const IOS: usize = 20_000;
/// Bytes of the reply to a read of a hole.
const ANSWER: usize = 32;

fn drive(target: &str) -> SimDrive {
    Spec::parse(target).unwrap().open(|path| std::fs::read(path)).unwrap()
}

/// Places in pseudo-random order, the same on every call.
fn places(capacity: u64) -> impl Iterator<Item = u64> {
    let blocks = capacity / u64::from(BLOCK);
    let mut state = 7u64;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((state >> 20) % blocks * u64::from(BLOCK))
    })
}

/// IOPS of the drive itself.
fn of_the_drive(target: &str, depth: usize) -> f64 {
    let mut drive = drive(target);
    let mut lane: Lane<'_> = server::lane(&mut drive).unwrap();
    let mut places = places(lane.geometry().capacity);
    let mut read = |slot| Io {
        slot,
        op: Op::Read,
        offset: places.next().unwrap(),
        length: BLOCK,
        data: DataClass::Random,
        sync: None,
    };
    let begun = lane.now();
    let first: Vec<Io> = (0..depth as u32).map(|slot| read(Slot(slot))).collect();
    lane.submit(&first).unwrap();
    let (mut ended, mut done) = (0, Vec::new());
    while ended < IOS {
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        for completion in done.drain(..) {
            ended += 1;
            lane.submit(&[read(completion.slot)]).unwrap();
        }
    }
    ended as f64 / lane.now().since(begun).as_secs_f64()
}

#[derive(Clone, Default)]
struct Hand(Rc<Cell<Nanos>>);

impl Clock for Hand {
    fn now(&self) -> Nanos {
        self.0.get()
    }
}

/// Bytes to the server, and bytes to the client.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<(VecDeque<u8>, VecDeque<u8>)>>);

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.borrow_mut().0.read(buffer) {
            Ok(0) => Err(ErrorKind::WouldBlock.into()),
            other => other,
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Wire {
    fn say(&self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.0.borrow_mut().0.extend(*part));
    }

    fn heard(&self) -> usize {
        self.0.borrow_mut().1.drain(..).count()
    }

    fn ask(&self, offset: u64) {
        let head = [0x25, 0x60, 0x95, 0x13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        self.say(&[&head, &offset.to_be_bytes(), &BLOCK.to_be_bytes()]);
    }
}

/// IOPS of a client of the drive, in wall time without a real clock.
fn of_a_client(target: &str, depth: usize) -> f64 {
    let mut drive = drive(target);
    let capacity = drive.geometry().capacity;
    let export = Export {
        name: String::new(),
        description: String::new(),
        capacity,
        block: 512,
        read_only: false,
        trims: true,
        rotates: false,
    };
    let service = Service { export, store: Some(Box::new(Pages::new(0))), speed: 1.0, compresses: false };
    let (hand, wire) = (Hand::default(), Wire::default());
    let mut server = Server::new(server::lane(&mut drive).unwrap(), service, hand.clone());
    server.connect(wire.clone(), "a test");
    // Flags; structured replies; the default export the old way, with a reply of ten bytes.
    wire.say(&[
        &[0, 0, 0, 3],
        b"IHAVEOPT",
        &[0, 0, 0, 8, 0, 0, 0, 0],
        b"IHAVEOPT",
        &[0, 0, 0, 1, 0, 0, 0, 0],
    ]);
    server.poll(&[1]).unwrap();
    wire.heard();
    let mut places = places(capacity);
    (0..depth).for_each(|_| wire.ask(places.next().unwrap()));
    server.poll(&[1]).unwrap();
    let (begun, mut ended) = (hand.now(), 0);
    while ended < IOS {
        hand.0.set(server.wake_at());
        server.poll(&[1]).unwrap();
        let answers = wire.heard() / ANSWER;
        ended += answers;
        (0..answers).for_each(|_| wire.ask(places.next().unwrap()));
        server.poll(&[1]).unwrap();
    }
    assert_eq!(server.stats().depth_max as usize, depth);
    ended as f64 / hand.now().since(begun).as_secs_f64()
}

#[test]
fn a_client_gets_what_the_drive_gives() {
    for target in ["sim:tiny-flash?state=used", "sim:wd6400aaks"] {
        let rates: Vec<f64> = [1, 32]
            .into_iter()
            .map(|depth| {
                let (drive, client) = (of_the_drive(target, depth), of_a_client(target, depth));
                assert!((client / drive - 1.0).abs() < 0.01, "{target} at {depth}: {client} IOPS of {drive}");
                client
            })
            .collect();
        assert!(rates[1] > 1.5 * rates[0], "depth is worth something to {target}: {rates:?}");
    }
}
