//! What an NVMe drive's refusal of Format NVM means, and what to do about it (NVM Express Base Specification
//! 2.0, figures 97 to 101; the sentences from what owners met, named beside them).

use crate::wording::erase as wording;

/// Bits of a status: code and its type. Higher ones (more, do not retry) say nothing about why.
const CODE: u16 = 0x7FF;

/// A reason and what to do, without a full stop.
pub(super) fn text(status: u16) -> String {
    let code = status & CODE;
    let words = match code {
        // Firmware of laptops freezes drives at start (nvme-cli issue 84: PM951, PM961, SM961).
        0x001 => wording::INVALID_OPCODE,
        0x002 => wording::INVALID_FIELD,
        0x006 => wording::INTERNAL_ERROR,
        // nvme-cli issue 423, an Adata SX8000NP.
        0x00C => wording::COMMAND_SEQUENCE,
        // A password in the firmware (nvme-cli issue 779): suspending does not help.
        0x015 => wording::LOCKED_BY_SECURITY,
        0x01C | 0x01D => wording::SANITIZING,
        0x020 => wording::NAMESPACE_WRITE_PROTECTED,
        0x084 => wording::FORMATTING,
        // nvme-cli issues 600 and 816.
        0x10A => wording::FORMAT_REFUSED,
        0x182 => wording::FLASH_READ_ONLY,
        0x286 => wording::ACCESS_DENIED,
        _ => wording::VENDOR_STATUS,
    };
    wording::format_status(code, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_what_to_do() {
        for code in 0..0x400u16 {
            let words = text(0x4000 | code);
            assert!(words.contains(&format!("{code:03X}h: ")), "{words}");
            assert!(!words.ends_with('.') && words.contains([';', ':']), "{words}");
        }
        assert!(text(0x4001).contains("Suspend"));
        assert!(text(0x2015).contains("password"));
    }
}
