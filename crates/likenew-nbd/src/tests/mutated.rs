//! Mutates valid sessions: the server must not panic or hang, and must write nothing that no valid request covers.
//!
//! A second, deliberately simple reader of the protocol computes what each session may have written. After every
//! session the whole store is compared with it.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::{Rig, SERVICE, drive, export};
use super::shapes;
use crate::protocol::{NBD_MAGIC, OPTION_MAGIC, REQUEST_MAGIC, command as c, flag as f, option};
use crate::request::Header;
use crate::store::{Pages, Store};
use likenew_core::units::Nanos;
use std::sync::{Arc, Mutex};

/// Capacity of the export in bytes.
const SPAN: u64 = 64 << 10;
/// Mutated messages that the servers must have read.
const MESSAGES: u64 = 100_000;

/// A store that the test can read while a server owns it.
#[derive(Clone)]
struct Shared(Arc<Mutex<Pages>>);

impl Store for Shared {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().read(offset, buffer)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().write(offset, bytes)
    }

    fn clear(&mut self, range: std::ops::Range<u64>) -> std::io::Result<()> {
        self.0.lock().unwrap().clear(range)
    }

    fn stretch(&mut self, range: std::ops::Range<u64>) -> std::io::Result<crate::store::StoreExtent> {
        self.0.lock().unwrap().stretch(range)
    }

    fn buffered_bytes(&self) -> u64 {
        self.0.lock().unwrap().buffered_bytes()
    }
}

/// The messages of a valid session: flags, options, requests.
fn session(random: &mut Xoshiro256PlusPlus) -> Vec<Vec<u8>> {
    let mut messages = vec![shapes::flags(random.random_range(0..4))];
    let optional: [(u32, Vec<u8>); 6] = [
        (option::LIST, vec![]),
        (option::STRUCTURED_REPLY, vec![]),
        (option::STARTTLS, vec![]),
        (option::SET_META_CONTEXT, shapes::contexts("twin", &["base:allocation"])),
        (option::LIST_META_CONTEXT, shapes::contexts("", &["base:"])),
        (option::INFO, shapes::info("", &[1, 3])),
    ];
    for (option, data) in &optional {
        if random.random_bool(0.4) {
            messages.push(shapes::option(*option, data));
        }
    }
    messages.push(match random.random_range(0..4) {
        0 => shapes::option(option::EXPORT_NAME, b"twin"),
        _ => shapes::option(option::GO, &shapes::info("twin", &[3])),
    });
    for cookie in 0..random.random_range(5..40) {
        messages.push(request(cookie, random));
    }
    messages
}

fn request(cookie: u64, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let kinds = [
        c::WRITE,
        c::WRITE,
        c::WRITE,
        c::READ,
        c::TRIM,
        c::WRITE_ZEROES,
        c::FLUSH,
        c::CACHE,
        c::BLOCK_STATUS,
    ];
    let kind = kinds[random.random_range(0..kinds.len())];
    let flags = if random.random_bool(0.2) { f::FUA } else { 0 };
    let length = random.random_range(0..8u32) * 512;
    let offset = random.random_range(0..(SPAN - 4096) / 512) * 512;
    let (offset, length) = if kind == c::FLUSH { (0, 0) } else { (offset, length) };
    let mut message = shapes::request(&Header { flags, kind, cookie, offset, length });
    if kind == c::WRITE {
        let value: u8 = random.random();
        message.extend(std::iter::repeat_n(value, length as usize));
    }
    message
}

/// Mutates a message as programs and wires do.
fn mutate(message: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus) {
    // Header fields matter most, so they are hit more often.
    let at = if random.random_bool(0.7) {
        random.random_range(0..message.len().min(28))
    } else {
        random.random_range(0..message.len())
    };
    match random.random_range(0..10) {
        0..4 => message[at] ^= 1 << random.random_range(0..8),
        4..6 => message[at] = random.random(),
        6 => message[at] = [0, 0x7f, 0x80, 0xff][random.random_range(0..4)],
        7 => message.truncate(at),
        8 => drop(message.splice(at..at, (0..random.random_range(1..40)).map(|_| 0u8).collect::<Vec<u8>>())),
        _ => {
            // Sets a field to an extreme value, and keeps the magic number.
            let field = [4..6, 6..8, 16..24, 24..28][random.random_range(0..4)].clone();
            if message.len() >= 28 {
                message[field].iter_mut().for_each(|byte| *byte = random.random());
            }
        }
    }
}

/// The second reader: applies the bytes of one connection to an array, by the letter of doc/proto.md.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self, count: usize) -> Option<u64> {
        Some(self.take(count)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Reads the handshake. Returns whether structured replies were negotiated, if requests follow.
    fn haggle(&mut self) -> Option<bool> {
        if self.number(4)? > 3 {
            return None;
        }
        let mut structured = false;
        loop {
            if self.number(8)? != OPTION_MAGIC {
                return None;
            }
            let (option, length) = (self.number(4)? as u32, self.number(4)? as usize);
            if length > 1 << 20 || (length > 16 << 10 && option == option::EXPORT_NAME) {
                return None;
            }
            let data = self.take(length)?;
            match option {
                option::ABORT => return None,
                option::EXPORT_NAME => return [&b""[..], b"twin"].contains(&data).then_some(structured),
                option::GO if is_go(data) => return Some(structured),
                option::STRUCTURED_REPLY if data.is_empty() => structured = true,
                _ => {}
            }
        }
    }

    /// Applies one request to the array.
    fn request(&mut self, structured: bool, array: &mut [u8]) -> Option<()> {
        if self.number(4)? != u64::from(REQUEST_MAGIC) {
            return None;
        }
        let (flags, kind) = (self.number(2)? as u16, self.number(2)? as u16);
        let (_, offset, length) = (self.number(8)?, self.number(8)?, self.number(4)?);
        let payload = if kind == c::WRITE { self.take(length as usize)? } else { &[] };
        let allowed = match kind {
            c::DISC => return None,
            c::WRITE_ZEROES => f::FUA | f::NO_HOLE | f::FAST_ZERO,
            c::READ if structured => f::FUA | f::DF,
            _ => f::FUA,
        };
        let whole = offset.is_multiple_of(512) && length.is_multiple_of(512);
        let fits = offset.checked_add(length).is_some_and(|end| end <= SPAN);
        if flags & !allowed == 0 && whole && fits {
            let range = offset as usize..(offset + length) as usize;
            match kind {
                c::WRITE => array[range].copy_from_slice(payload),
                c::TRIM => array[range].fill(0),
                c::WRITE_ZEROES if flags & (f::NO_HOLE | f::FAST_ZERO) != f::NO_HOLE | f::FAST_ZERO => {
                    array[range].fill(0)
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// Whether the data of GO is complete and names the export.
fn is_go(data: &[u8]) -> bool {
    let mut reader = Reader { bytes: data, at: 0 };
    let mut read = || {
        let length = reader.number(4)? as usize;
        let name = reader.take(length)?;
        let kinds = reader.number(2)? as usize;
        reader.take(2 * kinds)?;
        Some((name, reader.at == data.len()))
    };
    read().is_some_and(|(name, is_whole)| is_whole && (name.is_empty() || name == b"twin"))
}

/// Sends the bytes of one connection in pieces and waits for the end. Returns how many bytes the server read.
fn feed(rig: &mut Rig, bytes: &[u8], random: &mut Xoshiro256PlusPlus) -> usize {
    let client = rig.connect();
    let mut fed = 0;
    while fed < bytes.len() && !client.was_left() {
        let piece = random.random_range(1..6000).min(bytes.len() - fed);
        client.send(&bytes[fed..fed + piece]);
        fed += piece;
        rig.pass(Nanos(random.random_range(0..2 * SERVICE.0)));
    }
    client.leave();
    // Enough for 1024 I/Os one after the other, and for all timeouts.
    rig.pass(Nanos(4000 * SERVICE.0));
    assert!(client.was_left(), "everybody who leaves is let go");
    let message = client.received();
    assert_eq!(message[..8], NBD_MAGIC.to_be_bytes());
    fed - client.unsent_bytes()
}

#[test]
fn a_hundred_thousand_mutated_messages_write_nothing_wrong() {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(8);
    let (mut mutated, mut changed, mut survived, mut refused, mut dropped) = (0, 0, 0, 0, 0);
    while mutated < MESSAGES {
        let store = Shared(Arc::new(Mutex::new(Pages::new(u64::MAX))));
        let export = crate::Export { capacity: SPAN, ..export() };
        let mut rig = Rig::of(drive(1), export, Some(Box::new(store.clone())));
        let mut array = vec![0; SPAN as usize];
        for _ in 0..200 {
            let mut bytes = Vec::new();
            let mut ends: Vec<usize> = Vec::new();
            for (index, mut message) in session(random).into_iter().enumerate() {
                // Most handshake messages stay valid, so that requests are reached.
                if random.random_bool(if index < 4 { 0.1 } else { 0.5 }) {
                    mutate(&mut message, random);
                    ends.push(bytes.len() + message.len());
                }
                bytes.extend(message);
            }
            let read = feed(&mut rig, &bytes, random);
            mutated += ends.iter().filter(|end| **end <= read).count() as u64;
            let before = array.clone();
            let mut reader = Reader { bytes: &bytes, at: 0 };
            if let Some(structured) = reader.haggle() {
                while reader.request(structured, &mut array).is_some() {}
                survived += u64::from(reader.at == bytes.len());
            }
            changed += u64::from(array != before);
            let mut content = vec![0; SPAN as usize];
            store.0.lock().unwrap().read(0, &mut content).unwrap();
            assert!(
                content == array,
                "after {mutated} messages the store holds what no valid request has written"
            );
            let notes = rig.server.notes();
            assert!(notes.len() <= 10);
        }
        refused += rig.server.stats().refused;
        dropped += rig.server.stats().dropped;
    }
    assert!(mutated >= MESSAGES);
    // The mutations must reach all parts that they are meant for.
    assert!(
        changed > 500 && survived > 10 && refused > 5_000 && dropped > 500,
        "{changed} {survived} {refused} {dropped}"
    );
    println!(
        "attack: damaged messages to the network block device | {mutated} | nothing written that no valid request wrote; {refused} refused, {dropped} connections dropped"
    );
}
