//! The letters by which Linux's block layer describes a request, such as `WS` or `FWFSM`.
//!
//! Source: `blk_fill_rwbs` of Linux: F for a flush before it, then the operation, then F (through to the
//! medium), A (read ahead), S (a program waits for it), M (metadata).

use likenew_core::io::Op;

/// What a request moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Blocks, or what was written before it.
    Io(Op),
    /// Nothing that a trace holds: commands of drivers, zones.
    Nothing,
}

/// What these letters mean; `None` for any other text.
pub(crate) fn payload(letters: &[u8], sectors: u64) -> Option<Payload> {
    if letters.is_empty() || !letters.iter().all(|letter| b"RWDEFNZASMUVBP".contains(letter)) {
        return None;
    }
    let flushes = letters[0] == b'F';
    let operation = letters.get(usize::from(flushes)).copied();
    Some(match operation {
        _ if flushes && sectors == 0 => Payload::Io(Op::Flush),
        _ if sectors == 0 => Payload::Nothing,
        Some(b'R') => Payload::Io(Op::Read),
        Some(b'W') => Payload::Io(Op::Write),
        Some(b'D') => Payload::Io(Op::Trim),
        // Appending to a zone.
        Some(b'Z') if letters.get(1) == Some(&b'A') => Payload::Io(Op::Write),
        _ => Payload::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_moves() {
        for (letters, sectors, op) in [
            ("R", 8, Some(Op::Read)),
            ("RAM", 8, Some(Op::Read)),
            ("WS", 8, Some(Op::Write)),
            ("FWFS", 8, Some(Op::Write)),
            ("FWS", 0, Some(Op::Flush)),
            ("FF", 0, Some(Op::Flush)),
            ("FN", 0, Some(Op::Flush)),
            ("F", 0, Some(Op::Flush)),
            ("D", 8, Some(Op::Trim)),
            ("DE", 8, Some(Op::Trim)),
            ("ZA", 8, Some(Op::Write)),
            ("ZR", 8, None),
            ("N", 0, None),
            ("R", 0, None),
        ] {
            let expected = op.map_or(Payload::Nothing, Payload::Io);
            assert_eq!(payload(letters.as_bytes(), sectors), Some(expected), "{letters} {sectors}");
        }
        assert_eq!(payload(b"xyz", 8), None);
        assert_eq!(payload(b"", 8), None);
    }
}
