//! What an NVMe drive's refusal of Format NVM means, and what to do about it (NVM Express Base Specification
//! 2.0, figures 97 to 101; the sentences from what owners met, named beside them).

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
        0x002 => "it does not support a field of the command; discard the whole device instead",
        0x006 => {
            "internal error of the drive; disconnect its power for a minute, and check its health before trying again"
        }
        // nvme-cli issue 423, an Adata SX8000NP.
        0x00C => {
            "it expects another command first (command sequence); power it off and on, and try again; else discard the whole device"
        }
        // A password in the firmware (nvme-cli issue 779): suspending does not help.
        0x015 => {
            "it is locked, or its security is in use: remove the drive's password in the firmware settings first"
        }
        0x01C | 0x01D => {
            "a sanitize is running or has failed; let it finish first (nvme sanitize-log shows it)"
        }
        0x020 => "the namespace is write-protected; remove that first (nvme set-feature, 84h)",
        0x084 => "a format is already running; wait until it has finished",
        // nvme-cli issues 600 and 816.
        0x10A => {
            "it refuses the format, though it is the one in use: its firmware may not take this kind of erase; try the other kind, or discard the \
             whole device"
        }
        0x182 => "a part of its flash is marked as read-only; check its health",
        0x286 => "access denied: a password or a lock is set; remove that first",
        _ => {
            "the code is vendor-specific; look it up in the drive's manual, and discard the whole device instead"
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
