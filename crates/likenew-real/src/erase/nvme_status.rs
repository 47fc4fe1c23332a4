//! What an NVMe drive's refusal of Format NVM means, and what to do about it (NVM Express Base Specification 2.0, figures 97 to 101; the
//! sentences from what owners met, named beside them).

/// Bits of a status: code and its type. Higher ones (more, do not retry) say nothing about why.
const CODE: u16 = 0x7FF;

/// A reason and what to do, without a full stop.
pub(super) fn text(status: u16) -> String {
    let code = status & CODE;
    let words = match code {
        // Firmware of laptops freezes drives at start (nvme-cli issue 84: PM951, PM961, SM961).
        0x001 => {
            "it does not take the command (invalid opcode): many laptops freeze their drives when they start. Suspend the machine, wake it, and \
             try again; if that changes nothing, the drive has no such command"
        }
        0x002 => "it finds a field in the command that it does not support; discard the whole device instead",
        0x006 => {
            "it had trouble of its own (internal error); take its power away for a minute, and look at its health before trying again"
        }
        // nvme-cli issue 423, an Adata SX8000NP.
        0x00C => {
            "it expects another command first (command sequence); switch it off and on, and try once more; else discard the whole device"
        }
        // A password in the firmware (nvme-cli issue 779): suspending does not help.
        0x015 => {
            "it is locked, or its security is in use: take the drive's password away in the firmware's settings first"
        }
        0x01C | 0x01D => {
            "a sanitize is under way or has ended badly; let that end first (nvme sanitize-log shows it)"
        }
        0x020 => "the namespace is write-protected; take that away first (nvme set-feature, 84h)",
        0x084 => "a format is under way already; wait for that to end",
        // nvme-cli issues 600 and 816.
        0x10A => {
            "it refuses the format, though it is the one in use: its firmware may not take this kind of erase; try the other kind, or discard the \
             whole device"
        }
        0x182 => {
            "it does not let a part of its flash be written that is marked as read-only; look at its health"
        }
        0x286 => "it denies access: a password or a lock is set; take that away first",
        _ => {
            "the code says no more than that; look it up in the drive's manual, and discard the whole device instead"
        }
    };
    format!("the drive answered with status {code:03X}h: {words}")
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
