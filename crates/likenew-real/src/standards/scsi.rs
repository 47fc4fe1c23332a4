//! SCSI: the pages of Vital Product Data that the kernel keeps of a disk (SPC-5, SBC-4, SAT-3).

use super::text;

/// Logical Block Provisioning (page B2h): whether the disk takes UNMAP, and what unmapped blocks read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Provisioning {
    /// LBPU: UNMAP is supported.
    pub(crate) unmaps: bool,
    /// LBPRZ: 0 guarantees nothing; an odd number guarantees zeros.
    pub(crate) reads_as: u8,
}

/// An answer, if it is the page with this number.
fn page(answer: &[u8], number: u8) -> Option<&[u8]> {
    (answer.get(1) == Some(&number)).then_some(answer)
}

/// Logical Block Provisioning, page B2h.
pub(crate) fn provisioning(answer: &[u8]) -> Option<Provisioning> {
    let flags = *page(answer, 0xB2)?.get(5)?;
    Some(Provisioning { unmaps: flags & 0x80 != 0, reads_as: flags >> 2 & 0b111 })
}

/// The rpm from Block Device Characteristics, page B1h; 0 for a disk that does not rotate.
pub(crate) fn rotation_rpm(answer: &[u8]) -> Option<u32> {
    let rate = page(answer, 0xB1)?.get(4..6)?;
    rotation(u16::from_be_bytes([rate[0], rate[1]]))
}

/// A rotation rate as SCSI and ATA write it: 1 is no rotation, 0401h to FFFEh are rpm.
pub(crate) fn rotation(rate: u16) -> Option<u32> {
    match rate {
        1 => Some(0),
        0x0401..=0xFFFE => Some(u32::from(rate)),
        _ => None,
    }
}

/// The serial number from Unit Serial Number, page 80h: four bytes of header, the last of them its length,
/// then text.
pub(crate) fn unit_serial(answer: &[u8]) -> Option<String> {
    let (length, serial) = (*page(answer, 0x80)?.get(3)?, answer.get(4..)?);
    text(&serial[..serial.len().min(usize::from(length))])
}

/// ATA's IDENTIFY DEVICE, which ATA Information, page 89h, has from byte 60 on.
pub(crate) fn ata_identify(answer: &[u8]) -> Option<&[u8]> {
    page(answer, 0x89)?.get(60..572).filter(|identify| identify.iter().any(|byte| *byte != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_only_where_it_is_that_page() {
        // Page B2h of a SATA SSD behind libata: LBPU and LBPWS10, LBPRZ.
        let answer = [0, 0xB2, 0, 4, 0, 0b1010_0100, 0, 0];
        assert_eq!(provisioning(&answer), Some(Provisioning { unmaps: true, reads_as: 1 }));
        assert_eq!((provisioning(&answer[..5]), provisioning(&[0; 64])), (None, None));
        let disk = [0, 0xB1, 0, 0x3C, 0x1C, 0x20, 0, 2];
        assert_eq!((rotation_rpm(&disk), rotation_rpm(&answer)), (Some(7200), None));
        assert_eq!(rotation_rpm(&[0, 0xB1, 0, 0x3C, 0, 1]), Some(0));
        assert_eq!(rotation_rpm(&[0, 0xB1, 0, 0x3C, 0, 0]), None);
    }

    #[test]
    fn a_serial_number_is_as_long_as_its_page_says() {
        assert_eq!(unit_serial(b"\x00\x80\x00\x08  S3RIALxxxx").as_deref(), Some("S3RIAL"));
        assert_eq!(unit_serial(b"\x00\x80\x00\xFFS3"), Some("S3".to_owned()));
        for short in [&b""[..], b"\x00\x80\x00", b"\x00\x83\x00\x02S3", b"\x00\x80\x00\x00S3"] {
            assert_eq!(unit_serial(short), None);
        }
    }

    #[test]
    fn an_empty_identify_is_none() {
        let mut answer = vec![0; 572];
        answer[1] = 0x89;
        assert_eq!(ata_identify(&answer), None);
        answer[60] = 0x40;
        assert_eq!(ata_identify(&answer).map(<[u8]>::len), Some(512));
        assert_eq!(ata_identify(&answer[..571]), None);
    }
}
