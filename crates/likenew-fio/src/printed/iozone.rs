//! Reads iozone's output: its table of record and file sizes (`-a`, `-i`), its report for spreadsheets (`-R`), and its
//! summary of several processes (`-t`). iozone's kB is 2¹⁰ bytes.

use likenew_core::io::Op;

use super::{Figure, Figures, KIB, number, op, unit};
use crate::wording;

/// A test: its heading in the table, its title in the report, its name, its operation, and whether it is random.
struct Test(&'static str, &'static str, &'static str, Op, bool);

/// All tests, in the order of the table's columns.
const TESTS: [Test; 13] = [
    Test("write", "Writer", "write", Op::Write, false),
    Test("rewrite", "Re-writer", "rewrite", Op::Write, false),
    Test("read", "Reader", "read", Op::Read, false),
    Test("reread", "Re-Reader", "reread", Op::Read, false),
    Test("read", "Random read", "random read", Op::Read, true),
    Test("write", "Random write", "random write", Op::Write, true),
    Test("read", "Backward read", "backward read", Op::Read, false),
    Test("rewrite", "Record rewrite", "record rewrite", Op::Write, false),
    Test("read", "Stride read", "stride read", Op::Read, false),
    Test("fwrite", "Fwrite", "fwrite", Op::Write, false),
    Test("frewrite", "Re-Fwrite", "frewrite", Op::Write, false),
    Test("fread", "Fread", "fread", Op::Read, false),
    Test("freread", "Re-Fread", "freread", Op::Read, false),
];

/// The unit of all numbers in a text.
#[derive(Clone, Copy)]
enum Scale {
    KibPerSecond,
    /// `-O`
    OpsPerSecond,
    /// `-N`
    MicrosecondsPerOp,
}

impl Scale {
    fn of(text: &str) -> Self {
        let says = |units: [&str; 2]| units.iter().any(|unit| text.contains(unit));
        match text {
            _ if says(["operations per second", "in ops/sec"]) => Self::OpsPerSecond,
            _ if says(["microseconds per operation", "in microseconds/op"]) => Self::MicrosecondsPerOp,
            _ => Self::KibPerSecond,
        }
    }

    fn figure(self, test: &Test, file_kib: u64, record_kib: u64, value: &str) -> Option<Figure> {
        let value = number(value)?;
        let block = u32::try_from(record_kib).ok().filter(|kib| *kib > 0)?.checked_mul(KIB)?;
        let rate = match self {
            Self::KibPerSecond => value * f64::from(KIB),
            Self::OpsPerSecond => value * f64::from(block),
            Self::MicrosecondsPerOp => f64::from(block) * 1e6 / value,
        };
        let Test(_, _, name, op, is_random) = *test;
        let name = wording::iozone_test(file_kib.checked_mul(1024)?, block, name);
        Some(Figure { is_random, block, ..Figure::sequential(name, op, rate) })
    }
}

/// Words of a line and the columns where they end. A number belongs to the heading that ends nearby.
fn words(line: &str) -> impl Iterator<Item = (&str, usize)> {
    patterns! { WORD = r"\S+"; }
    WORD.find_iter(line).map(|word| (word.as_str(), word.end()))
}

/// Reads `kB reclen write rewrite …`; tests that did not run leave their column empty.
pub(super) fn table(text: &str) -> Figures {
    /// How many characters beside its heading a number may end. Headings are eight or more apart.
    const SHIFT_MAX: usize = 3;
    let scale = Scale::of(text);
    let (mut columns, mut figures) = (Vec::<usize>::new(), Figures::default());
    for (index, line) in text.lines().enumerate() {
        let cells: Vec<(&str, usize)> = words(line).collect();
        if let [(kb, _), ("reclen", _), headings @ ..] = &cells[..]
            && kb.eq_ignore_ascii_case("kb")
        {
            let is_known = headings.iter().zip(&TESTS).all(|((heading, _), test)| *heading == test.0);
            let is_known = is_known && headings.len() <= TESTS.len();
            columns = if is_known { headings.iter().map(|(_, end)| *end).collect() } else { Vec::new() };
            continue;
        }
        let sizes = cells
            .first()
            .zip(cells.get(1))
            .and_then(|(file, record)| Some((file.0.parse::<u64>().ok()?, record.0.parse::<u64>().ok()?)));
        let (Some((file, record)), false) = (sizes, columns.is_empty() || cells.len() < 3) else { continue };
        let values = &cells[2..];
        let column = |(place, (_, end)): (usize, &(&str, usize))| {
            if values.len() == columns.len() {
                return Some(place);
            }
            columns.iter().position(|column| column.abs_diff(*end) <= SHIFT_MAX)
        };
        match values.iter().enumerate().map(column).collect::<Option<Vec<usize>>>() {
            Some(places) => {
                let figure = |(place, (value, _)): (&usize, &(&str, usize))| {
                    scale.figure(&TESTS[*place], file, record, value)
                };
                figures.all.extend(places.iter().zip(values).filter_map(figure));
            }
            None => figures.unread_lines.push(index + 1),
        }
    }
    figures
}

/// Reads `"Writer report"`, a line of record sizes, then lines of a file size and its values; 0 means not measured.
pub(super) fn report(text: &str) -> Figures {
    patterns! { TITLE = r#"^\s*"(?<title>[\w -]+) report"\s*$"#; }
    let scale = Scale::of(text);
    let size = |word: &str| word.strip_prefix('"')?.strip_suffix('"')?.parse::<u64>().ok();
    let (mut test, mut records, mut figures) = (None, Vec::<u64>::new(), Figures::default());
    for (index, line) in text.lines().enumerate() {
        if let Some(captures) = TITLE.captures(line) {
            test = TESTS.iter().find(|test| test.1.eq_ignore_ascii_case(&captures["title"]));
            records.clear();
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().collect();
        let Some((first, values)) = cells.split_first() else { continue };
        let (Some(test), Some(file)) = (test, size(first)) else { continue };
        if records.is_empty() {
            records = cells.iter().filter_map(|cell| size(cell)).collect();
        } else if values.len() > records.len() {
            figures.unread_lines.push(index + 1);
        } else {
            let figure = |(record, value): (&u64, &&str)| scale.figure(test, file, *record, value);
            figures.all.extend(records.iter().zip(values).filter_map(figure));
        }
    }
    figures
}

/// Reads `Children see throughput for  4 initial writers  =  524108.97 kB/sec`.
pub(super) fn throughput(text: &str) -> Figures {
    patterns! {
        LINE = r"Children see throughput for\s+(?<count>\d+) (?<what>[\w -]*(?<op>read|writ)ers)\s*=\s*(?<rate>[\d.]+) (?<unit>[kKMG]B)/sec";
        RECORD = r"(?i)in (?<kib>\d+) kbyte records";
    }
    let record = RECORD.captures(text).and_then(|captures| {
        let kib = captures["kib"].parse::<u32>().ok()?;
        kib.checked_mul(KIB).filter(|bytes| *bytes > 0)
    });
    let figure = |captures: regex::Captures<'_>| {
        let op = op(&captures["op"]);
        let rate = number(&captures["rate"])? * unit(&captures["unit"], 1024.0)?;
        let name = format!("{} {}", &captures["count"], &captures["what"]);
        let sequential = Figure::sequential(name, op, rate);
        Some(Figure {
            is_random: captures["what"].starts_with("random"),
            block: record.unwrap_or(sequential.block),
            depth: captures["count"].parse().ok()?,
            ..sequential
        })
    };
    LINE.captures_iter(text).filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::super::printed;
    use super::super::tests::is;

    const HEADINGS: &str = "                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
";

    #[test]
    fn a_full_row_has_all_tests() {
        let text = format!(
            "\tOutput is in kBytes/sec\n{HEADINGS}           16384       4    55907    68813    43361    42502    34044    64746    33578     61774     30137   235263   233180  3905668  3824589\n\niozone test complete.\n"
        );
        let imported = printed(&text).unwrap();
        assert_eq!(imported.segments.len(), 13);
        let named = |index: usize| imported.segments[index].workload.name.clone();
        assert_eq!(named(0), "16 MiB file, 4 KiB records, write");
        assert_eq!(named(8), "16 MiB file, 4 KiB records, stride read");
        let random_read = &imported.segments[4];
        assert!((random_read.bytes_per_s().unwrap() / (34_044.0 * 1024.0) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn columns_of_tests_that_were_not_asked_for_are_empty() {
        is(
            &format!(
                "{HEADINGS}          102400    1024   388250   392446                     290025   392099                      \n"
            ),
            &[
                ("100 MiB file, 1 MiB records, write", 397.568, 379.15),
                ("100 MiB file, 1 MiB records, rewrite", 401.865, 383.25),
                ("100 MiB file, 1 MiB records, random read", 296.986, 283.23),
                ("100 MiB file, 1 MiB records, random write", 401.509, 382.91),
            ],
        );
        // Older versions have narrower columns and print KB.
        is(
            "                                                            random  random\n              KB  reclen   write rewrite    read    reread    read   write\n            8192       4     725     679      615      679     474     611\n",
            &[
                ("8 MiB file, 4 KiB records, write", 0.7424, 181.25),
                ("8 MiB file, 4 KiB records, rewrite", 0.6953, 169.75),
                ("8 MiB file, 4 KiB records, read", 0.6298, 153.75),
                ("8 MiB file, 4 KiB records, reread", 0.6953, 169.75),
                ("8 MiB file, 4 KiB records, random read", 0.4854, 118.5),
                ("8 MiB file, 4 KiB records, random write", 0.6257, 152.75),
            ],
        );
        let shifted =
            format!("{HEADINGS}  102400 1024 388250 392446 290025\n          102400    1024   388250\n");
        let imported = printed(&shifted).unwrap();
        assert_eq!(imported.segments.len(), 1);
        assert!(imported.identity.caveats.iter().any(|caveat| caveat.contains("line 3 ")), "{imported:?}");
    }

    #[test]
    fn operations_and_microseconds_are_turned_into_bytes() {
        let row = "              kB  reclen    write  rewrite\n           1024       4    1000     2000\n";
        is(
            &format!("\tOPS Mode. Output is in operations per second.\n{row}"),
            &[
                ("1 MiB file, 4 KiB records, write", 4.096, 1000.0),
                ("1 MiB file, 4 KiB records, rewrite", 8.192, 2000.0),
            ],
        );
        is(
            &format!("\tMicroseconds/op Mode. Output is in microseconds per operation.\n{row}"),
            &[
                ("1 MiB file, 4 KiB records, write", 4.096, 1000.0),
                ("1 MiB file, 4 KiB records, rewrite", 2.048, 500.0),
            ],
        );
    }

    #[test]
    fn the_report_for_spreadsheets_is_read() {
        is(
            "Excel output is below:\n\n\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   1000  2000 \n\"128\"   0  4000 \n\n\"Re-Reader report\"\n        \"4\"\n\"64\"   3000 \n",
            &[
                ("64 KiB file, 4 KiB records, write", 1.024, 250.0),
                ("64 KiB file, 8 KiB records, write", 2.048, 250.0),
                ("128 KiB file, 8 KiB records, write", 4.096, 500.0),
                ("64 KiB file, 4 KiB records, reread", 3.072, 750.0),
            ],
        );
    }

    #[test]
    fn the_summary_of_several_processes_is_read() {
        is(
            "\tThroughput test with 12 processes\n\tEach process writes a 1048576 kByte file in 256 kByte records\n\n\tChildren see throughput for 12 initial writers \t= 4732581.09 kB/sec\n\tParent sees throughput for 12 initial writers \t= 4646810.21 kB/sec\n\tMin throughput per process \t\t\t=  387764.34 kB/sec\n\tChildren see throughput for 12 re-readers \t= 1024.00 MB/sec\n\tChildren see throughput for 12 mixed workload \t= 1.00 kB/sec\n\tChildren see throughput for 12 random readers \t= 1000.00 KB/sec\n",
            &[
                ("12 initial writers", 4846.16, 18_486.6),
                ("12 re-readers", 1073.74, 4096.0),
                ("12 random readers", 1.024, 3.906),
            ],
        );
    }
}
