//! Tests every option, and clients that break the protocol.

use likenew_core::units::Nanos;

use super::replies::OptionReply;
use super::rig::{Client, Rig, drive, export};
use super::shapes;
use crate::handshake::Export;
use crate::protocol::{NBD_MAGIC, OPTION_MAGIC, option, rep};
use crate::store::Pages;

/// Sends one option to a server and returns its answers.
#[track_caller]
fn replies_to(rig: &mut Rig, client: &Client, option: u32, data: &[u8]) -> Vec<OptionReply> {
    client.send(&shapes::option(option, data));
    rig.poll();
    let replies = OptionReply::all(&client.received());
    assert!(replies.iter().all(|reply| reply.option == option));
    replies
}

fn haggling(rig: &mut Rig) -> Client {
    let client = rig.connect();
    client.send(&shapes::flags(3));
    rig.poll();
    let greeting = client.received();
    assert_eq!(greeting[..8], NBD_MAGIC.to_be_bytes());
    assert_eq!(greeting[8..16], OPTION_MAGIC.to_be_bytes());
    assert_eq!(greeting[16..], [0, 3]);
    client
}

fn kinds(replies: &[OptionReply]) -> Vec<u32> {
    replies.iter().map(|reply| reply.kind).collect()
}

#[test]
fn go_tells_size_flags_and_blocks_and_what_else_was_asked_for() {
    let mut rig = Rig::new();
    let client = haggling(&mut rig);
    for option in [option::INFO, option::GO] {
        let replies = replies_to(&mut rig, &client, option, &shapes::info("twin", &[1, 2, 77]));
        assert_eq!(kinds(&replies), [rep::INFO, rep::INFO, rep::INFO, rep::INFO, rep::ACK]);
        // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, MULTI_CONN, CACHE, FAST_ZERO; no DF without structured replies.
        let flags: u16 = 1 | 4 | 8 | 32 | 64 | 256 | 1024 | 2048;
        let size = (1u64 << 20).to_be_bytes();
        assert_eq!(replies[0].data, [&[0, 0][..], &size, &flags.to_be_bytes()].concat());
        assert_eq!(replies[1].data, b"\0\x01twin");
        assert_eq!(replies[2].data, b"\0\x02a drive in memory");
        assert_eq!(replies[3].data, [0, 3, 0, 0, 2, 0, 0, 0, 16, 0, 2, 0, 0, 0]);
    }
    assert_eq!(rig.server.stats().clients, 1);
}

#[test]
fn flags_say_what_the_drive_is() {
    let export = Export { read_only: true, rotates: true, trims: false, block: 4096, ..export() };
    assert_eq!(export.flags(true), 1 | 2 | 4 | 16 | 128 | 256 | 1024);
    let mut rig = Rig::of(drive(1), export, Some(Box::new(Pages::new(0))));
    let client = haggling(&mut rig);
    let replies = replies_to(&mut rig, &client, option::INFO, &shapes::info("", &[]));
    assert_eq!(replies[1].data, [0, 3, 0, 0, 16, 0, 0, 0, 16, 0, 2, 0, 0, 0]);
}

#[test]
fn the_old_way_to_choose_is_answered_with_or_without_zeroes() {
    for (flags, length) in [(3, 10), (1, 134)] {
        let mut rig = Rig::new();
        let client = rig.connect();
        client.send(&shapes::flags(flags));
        client.send(&shapes::option(option::EXPORT_NAME, b"twin"));
        rig.poll();
        let received = client.received();
        assert_eq!(received.len() - 18, length);
        assert_eq!(received[18..26], (1u64 << 20).to_be_bytes());
        assert_eq!(rig.server.stats().clients, 1);
    }
    let mut rig = Rig::new();
    let client = haggling(&mut rig);
    client.send(&shapes::option(option::EXPORT_NAME, b"another"));
    rig.poll();
    assert!(client.was_left() && client.received().is_empty());
    assert!(rig.server.notes()[0].contains("an unknown export"));
}

#[test]
fn lists_and_contexts_name_what_there_is() {
    let mut rig = Rig::new();
    let client = haggling(&mut rig);
    let replies = replies_to(&mut rig, &client, option::LIST, &[]);
    assert_eq!(
        (kinds(&replies), &replies[0].data[..]),
        (vec![rep::SERVER, rep::ACK], &b"\0\0\0\x04twin"[..])
    );
    let contexts = shapes::contexts("twin", &[]);
    assert_eq!(
        kinds(&replies_to(&mut rig, &client, option::LIST_META_CONTEXT, &contexts)),
        [rep::ERR_INVALID]
    );
    assert_eq!(kinds(&replies_to(&mut rig, &client, option::STRUCTURED_REPLY, &[])), [rep::ACK]);
    for (queries, is_there) in [
        (&[][..], true),
        (&["base:"], true),
        (&["qemu:", "base:allocation"], true),
        (&["qemu:dirty-bitmap:x"], false),
    ] {
        let replies =
            replies_to(&mut rig, &client, option::LIST_META_CONTEXT, &shapes::contexts("", queries));
        let expected = if is_there { vec![rep::META_CONTEXT, rep::ACK] } else { vec![rep::ACK] };
        assert_eq!(kinds(&replies), expected, "{queries:?}");
    }
    // Unlike a list, a set takes only whole names.
    let replies =
        replies_to(&mut rig, &client, option::SET_META_CONTEXT, &shapes::contexts("twin", &["base:"]));
    assert_eq!(kinds(&replies), [rep::ACK]);
    let named = shapes::contexts("twin", &["base:allocation"]);
    let replies = replies_to(&mut rig, &client, option::SET_META_CONTEXT, &named);
    assert_eq!(replies[0].data, b"\0\0\0\x01base:allocation");
    let unknown = shapes::contexts("another", &["base:allocation"]);
    assert_eq!(kinds(&replies_to(&mut rig, &client, option::SET_META_CONTEXT, &unknown)), [rep::ERR_UNKNOWN]);
}

#[test]
fn what_is_not_there_or_makes_no_sense_is_refused_and_the_haggling_goes_on() {
    let mut rig = Rig::new();
    let client = haggling(&mut rig);
    let mut cut = shapes::info("twin", &[1]);
    cut.pop();
    let long = vec![0; 100_000];
    for (option, data, kind) in [
        (option::STARTTLS, &[][..], rep::ERR_UNSUP),
        (4, b"twin", rep::ERR_UNSUP),
        (11, &[], rep::ERR_UNSUP),
        (u32::MAX, b"?", rep::ERR_UNSUP),
        (option::LIST, b"?", rep::ERR_INVALID),
        (option::STRUCTURED_REPLY, b"?", rep::ERR_INVALID),
        (option::GO, &cut, rep::ERR_INVALID),
        (option::INFO, b"\xff\xff\xff\xff", rep::ERR_INVALID),
        (option::GO, &shapes::info("another", &[]), rep::ERR_UNKNOWN),
        (option::GO, &long, rep::ERR_TOO_BIG),
    ] {
        let replies = replies_to(&mut rig, &client, option, data);
        assert_eq!(kinds(&replies), [kind], "option {option}");
        assert!(std::str::from_utf8(&replies[0].data).is_ok_and(|text| !text.is_empty()));
    }
    let replies = replies_to(&mut rig, &client, option::ABORT, &[]);
    assert_eq!(kinds(&replies), [rep::ACK]);
    assert!(client.was_left());
}

#[test]
fn nonsense_and_silence_end_a_handshake_and_are_noted() {
    let mut options = shapes::flags(3);
    (0..300).for_each(|_| options.extend(shapes::option(option::LIST, &[])));
    let mut huge = shapes::flags(3);
    huge.extend(OPTION_MAGIC.to_be_bytes());
    huge.extend([0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff]);
    for (bytes, reason) in [
        (shapes::flags(0x8000_0001), "flags that were not offered"),
        ([shapes::flags(3), b"GET / HTTP/1.1\r\n\r\n".to_vec()].concat(), "is not an option"),
        (options, "too many options"),
        (huge, "its option is too long"),
    ] {
        let mut rig = Rig::new();
        let client = rig.connect();
        client.send(&bytes);
        rig.poll();
        assert!(client.was_left(), "{reason}");
        let notes = rig.server.notes();
        assert!(
            notes.len() == 1 && notes[0].contains(reason) && notes[0].contains("client 1 (a test)"),
            "{notes:?}"
        );
        assert_eq!(rig.server.stats().dropped, 1);
    }
    let mut rig = Rig::new();
    let silent = rig.connect();
    rig.pass(Nanos::from_millis(9_990));
    assert!(!silent.was_left());
    rig.pass(Nanos::from_millis(20));
    assert!(silent.was_left());
    assert!(rig.server.notes()[0].contains("in time"));
}

#[test]
fn who_transmits_may_be_silent_and_too_many_are_sent_away() {
    let mut rig = Rig::new();
    let quiet = rig.client(true);
    rig.pass(Nanos::from_secs(60));
    assert!(!quiet.was_left());
    let others: Vec<Client> = (0..40).map(|_| rig.connect()).collect();
    assert_eq!(others.iter().filter(|client| client.was_left()).count(), 9);
    assert_eq!(rig.server.clients(), 32);
}
