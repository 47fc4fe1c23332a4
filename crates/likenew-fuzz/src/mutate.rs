//! Damages inputs at random.
//!
//! No library is used: those for stable Rust mutate bytes or Rust types, and most inputs here are text with numbers.
//! The parser refuses a flipped bit at once, while a number beyond its limits reaches the arithmetic behind it.

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Input;

/// Numbers at the limits of types.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "4096",
    "1048576",
    "4294967295",
    "4294967296",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e300",
    "1e-300",
    "0.5",
    "nan",
    "1e19",
    "-0.0",
];

/// Most bytes of an input.
const BYTES_MAX: usize = 1 << 20;

/// Changes one part of an input in one to four ways.
pub(crate) fn mutate(input: &mut Input, others: &[Input], random: &mut Xoshiro256PlusPlus) {
    for _ in 0..random.random_range(1..=4) {
        let part = random.random_range(0..input.len());
        let other = &others[random.random_range(0..others.len())];
        let other = other.get(part).map_or(&[][..], Vec::as_slice);
        change(&mut input[part], other, random);
        input[part].truncate(BYTES_MAX);
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Xoshiro256PlusPlus) {
    if bytes.is_empty() {
        bytes.push(random.random());
        return;
    }
    let at = random.random_range(0..bytes.len());
    match random.random_range(0..14) {
        0 => bytes[at] ^= 1 << random.random_range(0..8),
        1 => bytes[at] = random.random(),
        2 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, b'"', b'\n', b'-'][random.random_range(0..8)],
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(range(bytes.len(), 64, random))),
        5 => {
            let copy = bytes[range(bytes.len(), 256, random)].to_vec();
            insert(bytes, at, &copy.repeat(random.random_range(1..=4)));
        }
        6 => {
            let length = random.random_range(1..=8);
            bytes[at..].iter_mut().take(length).for_each(|byte| *byte = [0, 0xFF][length % 2]);
        }
        7 if !other.is_empty() => {
            let piece = &other[range(other.len(), 256, random)];
            let length = piece.len().min(bytes.len() - at);
            bytes[at..at + length].copy_from_slice(&piece[..length]);
        }
        // Repeats or removes a line, or a field between commas.
        8 => {
            let line = stretch(bytes, at, |byte| byte != b'\n');
            let copy = [&bytes[line.clone()], b"\n"].concat();
            let times = [1, 1, 1, 50][random.random_range(0..4)];
            insert(bytes, line.start, &copy.repeat(times));
        }
        9 => drop(bytes.drain(stretch(bytes, at, |byte| !matches!(byte, b'\n' | b',')))),
        10 => {
            let word = stretch(bytes, at, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let piece =
                if other.is_empty() { Vec::new() } else { other[range(other.len(), 16, random)].to_vec() };
            drop(bytes.splice(word, piece));
        }
        _ => number(bytes, at, random),
    }
}

/// Replaces the next number with another one.
fn number(bytes: &mut Vec<u8>, at: usize, random: &mut Xoshiro256PlusPlus) {
    let Some(offset) = bytes[at..].iter().position(u8::is_ascii_digit) else { return };
    let digits = stretch(bytes, at + offset, |byte| byte.is_ascii_digit() || byte == b'.');
    let text = match random.random_range(0..4) {
        0 => random.random::<u64>().to_string(),
        1 => (1u128 << random.random_range(0..66)).to_string(),
        _ => NUMBERS[random.random_range(0..NUMBERS.len())].to_owned(),
    };
    drop(bytes.splice(digits, text.into_bytes()));
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    if bytes.len() + piece.len() <= BYTES_MAX {
        drop(bytes.splice(at..at, piece.iter().copied()));
    }
}

/// A range of at most `most` within `length` bytes.
fn range(length: usize, most: usize, random: &mut Xoshiro256PlusPlus) -> std::ops::Range<usize> {
    let start = random.random_range(0..length);
    let most = most.min(length - start);
    start..start + random.random_range(1..=most)
}

/// The longest range around `at` in which all bytes satisfy `kind`.
fn stretch(bytes: &[u8], at: usize, kind: impl Fn(u8) -> bool) -> std::ops::Range<usize> {
    let before = bytes[..at].iter().rev().take_while(|byte| kind(**byte)).count();
    let behind = bytes[at..].iter().take_while(|byte| kind(**byte)).count();
    at - before..at + behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn damage_is_the_same_for_the_same_seed_and_differs_otherwise() {
        let seeds = vec![vec![b"{\"a\": 12, \"b\": [1, 2]}\n".to_vec()], vec![b"{\"c\": 7.5}".to_vec()]];
        let damaged = |seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut input = seeds[0].clone();
            mutate(&mut input, &seeds, &mut random);
            input
        };
        assert_eq!(damaged(1), damaged(1));
        let different: std::collections::BTreeSet<Input> = (0..200).map(damaged).collect();
        assert!(different.len() > 150, "{}", different.len());
        let numbers = (0..2000)
            .filter(|seed| String::from_utf8_lossy(&damaged(*seed)[0]).contains("18446744073709551615"));
        assert!(numbers.count() > 5, "numbers at the end of what types hold are put in");
    }
}
