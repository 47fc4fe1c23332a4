//! Tests every command, every refusal, and clients that break the rules.

use likenew_core::io::{Durability, Op};
use likenew_core::memory::Memory;
use likenew_core::units::Nanos;

use super::replies::Reply;
use super::rig::{CAPACITY, Client, Rig, SERVICE, drive, export};
use crate::engine::Job;
use crate::handshake::Export;
use crate::protocol::{command as c, flag as f};
use crate::request::{Command, ValidRequest};
use crate::server::Clock as _;
use crate::store::Pages;

const EPERM: u32 = 1;
const EIO: u32 = 5;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const EOVERFLOW: u32 = 75;
const ENOTSUP: u32 = 95;
const ESHUTDOWN: u32 = 108;

fn bytes(length: usize, value: u8) -> Vec<u8> {
    vec![value; length]
}

/// Sends a request and waits for its reply.
#[track_caller]
fn ask(
    rig: &mut Rig,
    client: &mut Client,
    kind: u16,
    flags: u16,
    offset: u64,
    length: u32,
    payload: &[u8],
) -> Reply {
    let cookie = client.ask(kind, flags, offset, length, payload);
    let reply = rig.answer(client);
    assert_eq!(reply.cookie, cookie);
    reply
}

#[track_caller]
fn write(rig: &mut Rig, client: &mut Client, offset: u64, payload: &[u8]) {
    assert_eq!(ask(rig, client, c::WRITE, 0, offset, payload.len() as u32, payload).errno, 0);
}

#[test]
fn what_is_written_is_read_and_what_never_was_is_a_hole() {
    for structured in [false, true] {
        let mut rig = Rig::new();
        let mut client = rig.client(structured);
        write(&mut rig, &mut client, 8192, &bytes(4096, 7));
        write(&mut rig, &mut client, 20480, &bytes(512, 9));
        let reply = ask(&mut rig, &mut client, c::READ, 0, 4096, 20480, &[]);
        let expected =
            [bytes(4096, 0), bytes(4096, 7), bytes(8192, 0), bytes(512, 9), bytes(3584, 0)].concat();
        assert!(reply.data == expected);
        // Hole, data, hole, data: the store keeps whole pages.
        assert_eq!(reply.chunks, if structured { vec![2, 1, 2, 1] } else { vec![] });
    }
}

#[test]
fn a_read_in_one_chunk_is_one() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    write(&mut rig, &mut client, 4096, &bytes(4096, 7));
    assert_eq!(ask(&mut rig, &mut client, c::READ, f::DF, 0, 16384, &[]).chunks, [1]);
    assert_eq!(ask(&mut rig, &mut client, c::READ, f::DF, 4096, 4096, &[]).chunks, [1]);
    let hole = ask(&mut rig, &mut client, c::READ, f::DF, 8192, 8192, &[]);
    assert_eq!((hole.chunks, hole.data.len()), (vec![2], 8192));
}

#[test]
fn trim_and_zeroes_make_zeros_and_holes() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    for (kind, flags) in [
        (c::TRIM, 0),
        (c::TRIM, f::FUA),
        (c::WRITE_ZEROES, 0),
        (c::WRITE_ZEROES, f::FAST_ZERO),
        (c::WRITE_ZEROES, f::NO_HOLE | f::FUA),
    ] {
        write(&mut rig, &mut client, 0, &bytes(65536, 7));
        assert_eq!(ask(&mut rig, &mut client, kind, flags, 512, 32768, &[]).errno, 0);
        let data = ask(&mut rig, &mut client, c::READ, 0, 0, 65536, &[]).data;
        assert!(data == [bytes(512, 7), bytes(32768, 0), bytes(65536 - 33280, 7)].concat(), "{kind} {flags}");
        let extents = ask(&mut rig, &mut client, c::BLOCK_STATUS, 0, 0, 65536, &[]).extents;
        // Both ends lie in pages with data.
        assert_eq!(extents, [(4096, 0), (28672, 3), (32768, 0)]);
    }
    let hold = ask(&mut rig, &mut client, c::WRITE_ZEROES, f::FAST_ZERO | f::NO_HOLE, 0, 512, &[]);
    assert_eq!((hold.errno, &hold.message[..]), (ENOTSUP, "zeros would have to be written out"));
    let stats = rig.server.stats();
    assert_eq!((stats.trims, stats.bytes_trimmed, stats.zeroes, stats.refused), (2, 65536, 3, 1));
}

#[test]
fn block_status_names_extents_once_it_was_agreed_on() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    write(&mut rig, &mut client, 4096, &bytes(8192, 7));
    let extents = |rig: &mut Rig, client: &mut Client, flags, offset| {
        ask(rig, client, c::BLOCK_STATUS, flags, offset, 65536, &[]).extents
    };
    assert_eq!(extents(&mut rig, &mut client, 0, 0), [(4096, 3), (8192, 0), (53248, 3)]);
    assert_eq!(extents(&mut rig, &mut client, f::REQ_ONE, 4608), [(7680, 0)]);
    let mut simple = rig.client(false);
    assert_eq!(ask(&mut rig, &mut simple, c::BLOCK_STATUS, 0, 0, 512, &[]).errno, EINVAL);
}

#[test]
fn a_drive_hears_which_writes_have_to_be_durable() {
    let sync = |command, durable| {
        let request =
            ValidRequest { command, durable, offset: 0, length: 2 << 20, cookie: 0, payload: vec![] };
        let mut job = Job::new(0, request, false);
        let pieces = std::iter::from_fn(|| job.next());
        pieces.map(|piece| (piece.op, piece.sync)).collect::<Vec<_>>()
    };
    let durable = (Op::Write, Some(Durability::Data));
    assert_eq!(sync(Command::Write, true), [durable; 2]);
    assert_eq!(sync(Command::Write, false), [(Op::Write, None); 2]);
    assert_eq!(sync(Command::Zero { keep_allocated: true, only_fast: false }, true), [durable; 2]);
}

#[test]
fn a_write_with_fua_is_durable_by_itself_and_a_trim_is_flushed() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    let mut took = |kind, flags, length: u32| {
        let before = rig.hand.now();
        let payload = if kind == c::WRITE { bytes(length as usize, 1) } else { vec![] };
        assert_eq!(ask(&mut rig, &mut client, kind, flags, 0, length, &payload).errno, 0);
        rig.hand.now().since(before)
    };
    assert_eq!(took(c::WRITE, 0, 4096), SERVICE);
    assert_eq!(took(c::WRITE, f::FUA, 4096), SERVICE);
    assert_eq!(took(c::TRIM, f::FUA, 4096), SERVICE + SERVICE);
    assert_eq!(took(c::READ, f::FUA, 4096), SERVICE);
    assert_eq!(took(c::FLUSH, 0, 0), SERVICE);
    assert_eq!(took(c::CACHE, 0, 4096), SERVICE);
    // The whole drive has 1 MiB, which is one piece.
    assert_eq!(took(c::READ, 0, CAPACITY as u32), SERVICE);
    // Empty requests take no time.
    for kind in [c::READ, c::WRITE, c::TRIM, c::WRITE_ZEROES, c::CACHE] {
        assert_eq!(took(kind, 0, 0), Nanos::ZERO);
    }
}

#[test]
fn refusals_have_the_number_that_the_protocol_says_and_the_connection_lives() {
    let size = CAPACITY as u64;
    let big = 33 << 20;
    for structured in [false, true] {
        let mut rig = Rig::new();
        let mut client = rig.client(structured);
        write(&mut rig, &mut client, 0, &bytes(4096, 5));
        for (kind, flags, offset, length, errno) in [
            (c::READ, 0, 1, 512, EINVAL),
            (c::READ, 0, 0, 511, EINVAL),
            (c::READ, 0, size, 512, EINVAL),
            (c::READ, 0, u64::MAX - 511, 512, EINVAL),
            (c::READ, f::NO_HOLE, 0, 512, EINVAL),
            (c::READ, f::DF, 0, 512, if structured { 0 } else { EINVAL }),
            (c::WRITE, 0, 1, 512, EINVAL),
            (c::WRITE, 0, size, 512, ENOSPC),
            (c::WRITE, f::DF, 0, 512, EINVAL),
            (c::WRITE, 0, 0, big, ENOSPC),
            (c::TRIM, 0, size - 512, 1024, EINVAL),
            (c::WRITE_ZEROES, 0, size - 512, 1024, ENOSPC),
            (c::WRITE_ZEROES, f::REQ_ONE, 0, 512, EINVAL),
            (c::CACHE, 0, 0, 100, EINVAL),
            (c::FLUSH, 0, 0, 512, EINVAL),
            (c::FLUSH, 0, 512, 0, EINVAL),
            (c::BLOCK_STATUS, 0, 0, 0, EINVAL),
            (c::BLOCK_STATUS, f::NO_HOLE, 0, 512, EINVAL),
            (8, 0, 0, 0, EINVAL),
            (u16::MAX, u16::MAX, 7, 7, EINVAL),
        ] {
            let payload = if kind == c::WRITE { bytes(length as usize, 0xEE) } else { vec![] };
            let reply = ask(&mut rig, &mut client, kind, flags, offset, length, &payload);
            assert_eq!(reply.errno, errno, "{kind} {flags} {offset} {length}");
            assert!(!structured || errno == 0 || !reply.message.is_empty());
        }
        let data = ask(&mut rig, &mut client, c::READ, 0, 0, size as u32, &[]).data;
        assert!(data == [bytes(4096, 5), bytes(CAPACITY - 4096, 0)].concat(), "nothing else was written");
        let notes = rig.server.notes();
        assert!(notes.len() == 5 && notes[4].ends_with("(further lines suppressed)"), "{notes:?}");
    }
}

#[test]
fn payloads_beyond_32_mib_are_refused_and_skipped() {
    let export = Export { capacity: 1 << 30, ..export() };
    let mut rig = Rig::of(drive(1), export, Some(Box::new(Pages::new(u64::MAX))));
    let mut client = rig.client(true);
    let length = (32 << 20) + 512;
    assert_eq!(ask(&mut rig, &mut client, c::READ, 0, 0, length, &[]).errno, EINVAL);
    assert_eq!(ask(&mut rig, &mut client, c::READ, f::DF, 0, length, &[]).errno, EOVERFLOW);
    let payload = bytes(length as usize, 3);
    assert_eq!(ask(&mut rig, &mut client, c::WRITE, 0, 0, length, &payload).errno, EINVAL);
    assert_eq!(ask(&mut rig, &mut client, c::READ, 0, 0, 4096, &[]).data, bytes(4096, 0));
}

#[test]
fn an_export_for_reading_only_is_not_written() {
    let export = Export { read_only: true, ..export() };
    let mut rig = Rig::of(drive(1), export, Some(Box::new(Pages::new(u64::MAX))));
    let mut client = rig.client(true);
    for kind in [c::WRITE, c::TRIM, c::WRITE_ZEROES] {
        let payload = if kind == c::WRITE { bytes(512, 1) } else { vec![] };
        assert_eq!(ask(&mut rig, &mut client, kind, 0, 0, 512, &payload).errno, EPERM);
    }
    assert_eq!(ask(&mut rig, &mut client, c::FLUSH, 0, 0, 0, &[]).errno, 0);
    assert_eq!(ask(&mut rig, &mut client, c::READ, 0, 0, 512, &[]).data, bytes(512, 0));
}

#[test]
fn a_drives_errors_are_answers_with_their_place_and_change_nothing() {
    let bad = drive(1).with_bad(8192..12288, 5);
    let mut rig = Rig::of(bad, export(), Some(Box::new(Pages::new(u64::MAX))));
    let mut client = rig.client(true);
    let reply = ask(&mut rig, &mut client, c::READ, 0, 4096, 8192, &[]);
    assert_eq!((reply.errno, reply.at, &reply.data[..]), (EIO, Some(4096), &[][..]));
    assert_eq!(ask(&mut rig, &mut client, c::WRITE, f::FUA, 8192, 512, &bytes(512, 1)).errno, EIO);
    assert_eq!(ask(&mut rig, &mut client, c::BLOCK_STATUS, 0, 0, 65536, &[]).extents, [(65536, 3)]);
    assert_eq!((rig.server.stats().failed, rig.server.stats().writes), (2, 0));
}

#[test]
fn a_full_store_is_reported_as_no_space() {
    let mut rig = Rig::of(drive(1), export(), Some(Box::new(Pages::new(8192))));
    let mut client = rig.client(true);
    write(&mut rig, &mut client, 0, &bytes(8192, 1));
    let reply = ask(&mut rig, &mut client, c::WRITE, 0, 8192, 4096, &bytes(4096, 1));
    assert_eq!((reply.errno, reply.at), (ENOSPC, None));
    assert!(rig.server.notes()[0].contains("is full"));
    write(&mut rig, &mut client, 8192, &bytes(4096, 0));
    assert_eq!(ask(&mut rig, &mut client, c::TRIM, 0, 0, 4096, &[]).errno, 0);
    write(&mut rig, &mut client, 8192, &bytes(4096, 1));
    assert_eq!(rig.server.stats().bytes_kept, Some(8192));
}

#[test]
fn a_drive_that_keeps_its_bytes_gives_them_back() {
    let mut rig = Rig::of(drive(2), export(), None);
    for structured in [false, true] {
        let mut client = rig.client(structured);
        write(&mut rig, &mut client, 4096, &bytes(12288, 7));
        assert_eq!(ask(&mut rig, &mut client, c::WRITE_ZEROES, 0, 8192, 4096, &[]).errno, 0);
        let data = ask(&mut rig, &mut client, c::READ, 0, 0, 20480, &[]).data;
        assert!(
            data == [bytes(4096, 0), bytes(4096, 7), bytes(4096, 0), bytes(4096, 7), bytes(4096, 0)].concat()
        );
    }
    let mut client = rig.client(true);
    assert_eq!(ask(&mut rig, &mut client, c::BLOCK_STATUS, 0, 0, 65536, &[]).extents, [(65536, 0)]);
}

#[test]
fn two_clients_meet_one_drive() {
    let mut rig = Rig::new();
    let (mut one, mut two) = (rig.client(true), rig.client(false));
    write(&mut rig, &mut one, 512, &bytes(512, 1));
    assert_eq!(ask(&mut rig, &mut two, c::READ, 0, 512, 512, &[]).data, bytes(512, 1));
}

#[test]
fn what_is_no_request_ends_the_connection() {
    let mut rig = Rig::new();
    let mut client = rig.client(true);
    client.send(&[0xAB; 100]);
    rig.poll();
    assert!(client.was_left());
    assert!(rig.server.notes()[0].contains("is not a request"));
    // The server and its other clients continue.
    client = rig.client(true);
    write(&mut rig, &mut client, 0, &bytes(512, 1));
}

#[test]
fn who_leaves_is_let_go_after_its_writes_are_done() {
    for politely in [true, false] {
        let mut rig = Rig::new();
        let mut client = rig.client(true);
        client.ask(c::WRITE, 0, 0, 512, &bytes(512, 6));
        if politely {
            client.ask(c::DISC, 0, 0, 0, &[]);
        } else {
            client.leave();
        }
        rig.poll();
        assert!(!client.was_left());
        rig.pass(SERVICE);
        assert!(client.was_left() && rig.server.has_no_clients());
        let mut next = rig.client(true);
        assert_eq!(ask(&mut rig, &mut next, c::READ, 0, 0, 512, &[]).data, bytes(512, 6));
    }
}

#[test]
fn a_client_that_takes_no_answers_is_not_heard_any_more() {
    let mut rig = Rig::new();
    let mut greedy = rig.client(true);
    let content = bytes(CAPACITY, 1);
    write(&mut rig, &mut greedy, 0, &content);
    greedy.lets_lie(Some(0));
    greedy.ask_often(500, 0, CAPACITY as u32);
    // Another client is served meanwhile.
    let mut other = rig.client(true);
    for _ in 0..200 {
        assert_eq!(ask(&mut rig, &mut other, c::READ, 0, 0, 512, &[]).errno, 0);
    }
    rig.pass(Nanos::from_millis(200));
    let read_count = rig.server.stats().reads - 200;
    assert!((60..=66).contains(&read_count), "{read_count} reads of 1 MiB are held for it");
    greedy.lets_lie(None);
    let replies = rig.answers(&greedy, 500);
    assert!(replies.iter().all(|reply| reply.data == content));
}

#[test]
fn at_the_end_what_is_under_way_is_answered_and_nothing_else() {
    let mut rig = Rig::new();
    let (mut client, idle, haggling) = (rig.client(true), rig.client(true), rig.connect());
    let under_way = client.ask(c::READ, 0, 0, 512, &[]);
    rig.poll();
    rig.server.end();
    let late = client.ask(c::WRITE, 0, 0, 512, &bytes(512, 1));
    rig.poll();
    assert!(idle.was_left() && haggling.was_left() && !client.was_left());
    let replies = rig.answers(&client, 2);
    let numbers: Vec<(u64, u32)> = replies.iter().map(|reply| (reply.cookie, reply.errno)).collect();
    assert_eq!(numbers, [(late, ESHUTDOWN), (under_way, 0)]);
    rig.poll();
    assert!(client.was_left() && rig.server.has_ended());
    // A client that never reads its answers must not delay the end forever.
    let mut rig = Rig::new();
    let mut stuck = rig.client(true);
    stuck.lets_lie(Some(0));
    stuck.ask(c::READ, 0, 0, 512, &[]);
    rig.poll();
    rig.server.end();
    rig.pass(Nanos::from_millis(9_900));
    assert!(!rig.server.has_ended());
    rig.pass(Nanos::from_millis(200));
    assert!(rig.server.has_ended());
}

#[test]
fn clients_that_read_nothing_take_bounded_memory_and_keep_nobody_waiting() {
    const LONG: u32 = 32 << 20;
    let export = Export { capacity: LONG.into(), ..export() };
    let drive = Memory::new(LONG as usize, SERVICE, 1);
    let mut rig = Rig::of(drive, export, Some(Box::new(Pages::new(0))));
    let mut stuck: Vec<_> = (0..24).map(|_| rig.client(false)).collect();
    for client in &mut stuck {
        client.lets_lie(Some(0));
        client.ask_often(2, 0, LONG);
    }
    rig.pass(Nanos::from_secs(1));
    let held = rig.server.buffered_bytes() >> 20;
    assert!((192..=384).contains(&held), "{held} MiB are held");
    let mut other = rig.client(false);
    other.ask(c::READ, 0, 0, 4 << 20, &[]);
    assert_eq!(rig.answer(&other).errno, 0);
    // A client that reads again gets its answers.
    for client in &stuck[..2] {
        client.lets_lie(None);
        assert!(rig.answers(client, 2).iter().all(|reply| reply.errno == 0));
    }
}
