//! The line in which the kernel counts a block device's I/O.

use likenew_core::stat::{OpStat, Stat};

/// Reads a line of `/sys/block/DEVICE/stat`: 11 fields, 15 since Linux 4.18 (discards), 17 since 5.5
/// (flushes). More than that is left for newer kernels to mean something by.
pub(crate) fn parse(line: &str) -> Option<Stat> {
    let mut fields = [0u64; 17];
    let mut count = 0;
    for (field, text) in fields.iter_mut().zip(line.split_ascii_whitespace()) {
        *field = text.parse().ok()?;
        count += 1;
    }
    if count < 11 {
        return None;
    }
    let op = |at: usize| OpStat {
        ios: fields[at],
        merged: fields[at + 1],
        sectors: fields[at + 2],
        ms: fields[at + 3],
    };
    Some(Stat {
        read: op(0),
        write: op(4),
        discard: (count >= 15).then(|| op(11)),
        flush: (count >= 17).then(|| OpStat { ios: fields[15], ms: fields[16], ..OpStat::default() }),
        in_flight: fields[8],
        busy_ms: fields[9],
        weighted_ms: fields[10],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernels_line_is_read() {
        let line = "  147762    11214  8617234   606679    38062   150523 65902648   440821        3    49160  1053740";
        let old = parse(line).unwrap();
        assert_eq!(old.read, OpStat { ios: 147_762, merged: 11_214, sectors: 8_617_234, ms: 606_679 });
        assert_eq!((old.write.ios, old.write.ms, old.in_flight), (38_062, 440_821, 3));
        assert_eq!((old.busy_ms, old.weighted_ms, old.discard, old.flush), (49_160, 1_053_740, None, None));
        let newer = parse(&format!("{line} 6361 83 644088 5970")).unwrap();
        assert_eq!(newer.discard.unwrap().bytes(), 644_088 * 512);
        assert_eq!(newer.flush, None);
        let newest = parse(&format!("{line} 6361 83 644088 5970 3552 268 77\n")).unwrap();
        assert_eq!(newest.flush, Some(OpStat { ios: 3552, ms: 268, ..OpStat::default() }));
        assert_eq!(Stat { discard: None, flush: None, ..newest }, old);
    }

    #[test]
    fn what_is_no_such_line_is_none() {
        for line in ["", "1 2 3", "a b c d e f g h i j k", "1 2 3 4 5 6 7 8 -9 10 11"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
