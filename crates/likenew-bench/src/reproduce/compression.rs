//! Study 2: a drive that compresses, over fifteen drive fills.

use likenew_core::findings::{Findings, Row, Standing};
use likenew_core::io::DataClass;
use likenew_core::units::amount;
use likenew_procedures::endure::EndureOptions;
use likenew_procedures::endure::loop_test::LoopOptions;

use super::lab::{Lab, ask};
use super::page::{PublishedFigure, number, table};
use super::{Section, Study};

/// "SSD Advertised Performance vs. Actual Performance" (Puget Systems).
pub(super) const STUDY: Study = Study {
    number: 2,
    title: "Advertised performance against actual (Puget Systems)",
    source: "Puget Systems, \"SSD advertised performance against actual\". CrystalDiskMark in a loop, 9.2 GB written each time, to 1.8 TB; a secure erase between sets.",
    published: &PUBLISHED_FIGURES,
    run,
};

const DRIVE: &str = "Intel 520 120 GB";

const PUBLISHED_FIGURES: [PublishedFigure; 6] = [
    PublishedFigure {
        drive: DRIVE,
        metric: "sequential read, compressible, MB/s",
        printed: "515",
        value: 515.0,
    },
    PublishedFigure {
        drive: DRIVE,
        metric: "sequential write, compressible, MB/s",
        printed: "500",
        value: 500.0,
    },
    PublishedFigure {
        drive: DRIVE,
        metric: "sequential write, incompressible, MB/s",
        printed: "193",
        value: 193.0,
    },
    PublishedFigure {
        drive: DRIVE,
        metric: "the same in the long run, TRIM on, MB/s",
        printed: "about 160",
        value: 160.0,
    },
    PublishedFigure {
        drive: DRIVE,
        metric: "first write cliff, incompressible, TRIM off, GB written",
        printed: "about 40",
        value: 40.0,
    },
    PublishedFigure {
        drive: DRIVE,
        metric: "write cliff of sequential writes after that, GB written",
        printed: "about 380",
        value: 380.0,
    },
];

const NOTE: &str = "The write cliffs are missed. A secure erase leaves all 137 GB of this drive's flash erased, a loop moves on by one file of 1.05 GB for \
    nine that it writes, and greedy collection finds blocks that hold nothing valid. So nothing is copied until the files have gone round much of the \
    drive, which makes the first cliff, and writes are slowest once they have gone round all of it: the spare and the free space are used up in \
    this order, as the study has it, but later. What would decide it is when collection begins and which blocks it takes, or how much of \
    the flash a secure erase really erases. Nobody publishes either for this controller, so that no parameter was set for it. With TRIM \
    on, no deleted file is ever copied and nothing falls; the study measured 2 to 4% between TRIM on and off.\n\n";

/// The sets of the study.
const SETS: [(&str, DataClass, bool); 3] = [
    ("compressible, TRIM on", DataClass::Zero, true),
    ("incompressible, TRIM on", DataClass::Random, true),
    ("incompressible, TRIM off", DataClass::Random, false),
];

fn run(lab: Lab) -> anyhow::Result<Section> {
    let mut sets = Vec::new();
    for (name, data, trim) in SETS {
        let query = if trim { "state=new&trim=on" } else { "state=new&trim=off" };
        let Some(mut drive) = lab.open("intel-520", query)? else {
            let predictions = format!("Left out, because the catalog has no {DRIVE}.\n");
            return Ok(Section { simulated: vec![None; PUBLISHED_FIGURES.len()], note: "", predictions });
        };
        let (file_size, span) = (lab.pick(1000 << 20, 8 << 20), lab.pick(None, Some(256 << 20)));
        let options =
            EndureOptions::Loop(LoopOptions { file_size, span, data, trim, ..LoopOptions::default() });
        sets.push(Set { name, findings: ask(&mut drive, "endure", toml::Table::try_from(options)?)? });
    }
    let fresh =
        |set: usize, op: &str| sets[set].speed("loops", &[("loop", "1"), ("test", SEQUENTIAL), ("op", op)]);
    let simulated = vec![
        fresh(0, "read"),
        fresh(0, "write"),
        fresh(1, "write"),
        sets[1].steady_mb_per_s(),
        sets[2].knee_gb(|_| true),
        sets[2].knee_gb(|row| cell(row, "test") == SEQUENTIAL),
    ];
    let mut predictions: String = sets.iter().map(Set::page).collect();
    predictions += "This is `likenew endure` with its usual settings. A loop makes a file of 1000 MiB (\"file\"), runs the tests on it and deletes it; \
        the file of the next loop takes the addresses after it, round the whole drive, as an allocator does that prefers what was free for longest. \
        Each loop moves on by one file and writes nine, so the addresses come round after 8.8 fills. With TRIM the deletion reaches the drive. \
        What compresses takes less flash than it has bytes and leaves the rest as spare; what does not takes all of it.\n";
    Ok(Section { simulated, note: NOTE, predictions })
}

const SEQUENTIAL: &str = "SEQ1M Q1T1";

/// One set of the study: the findings of `likenew endure`.
struct Set {
    name: &'static str,
    findings: Findings,
}

impl Set {
    /// The speed in the first row of a table whose cells are these, in MB/s.
    fn speed(&self, table: &str, cells: &[(&str, &str)]) -> Option<f64> {
        let fits = |row: &&Row| cells.iter().all(|(key, value)| cell(row, key) == *value);
        self.findings.tables[table].iter().find(fits).map(|row| mb_per_s(row, "bytes_per_s"))
    }

    /// The steady level of sequential writes, if there is one, in MB/s.
    fn steady_mb_per_s(&self) -> Option<f64> {
        let rows = &self.findings.tables["levels"];
        let row = rows.iter().find(|row| cell(row, "test") == SEQUENTIAL && cell(row, "op") == "write")?;
        row["steady_bytes_per_s"].as_f64().map(|speed| speed / 1e6)
    }

    /// What was written until the first knee of the writes that fit, in GB.
    fn knee_gb(&self, fits: impl Fn(&Row) -> bool) -> Option<f64> {
        let knees = self.findings.tables["knees"].iter();
        let at = knees
            .filter(|row| cell(row, "op") == "write" && fits(row))
            .filter_map(|row| row["at_bytes"].as_f64());
        at.min_by(f64::total_cmp).map(|bytes| bytes / 1e9)
    }

    fn page(&self) -> String {
        let message = self.findings.answers.iter().map(|answer| {
            let standing = match answer.standing {
                Standing::Good => " (OK)",
                Standing::Problem => " (problem)",
                Standing::Unknown => " (unknown)",
                Standing::Info => "",
            };
            format!("- {}: {}{standing}\n", answer.question, answer.answer)
        });
        let message: String = message.collect();
        let parts = [self.fills(), self.levels(), self.knees()].join("\n");
        format!("{}:\n\n{message}\n{parts}\n", self.name)
    }

    /// Each fill in a row, each test in a column.
    fn fills(&self) -> String {
        let rows = &self.findings.tables["fills"];
        let key = |row: &Row| format!("{} {}", cell(row, "test"), cell(row, "op"));
        let first = rows.iter().take_while(|row| row["fill"] == rows[0]["fill"]);
        let mut head = vec!["fill, MB/s".to_owned()];
        head.extend(first.map(key));
        head.push("write amplification".into());
        let lines = rows.chunk_by(|a, b| a["fill"] == b["fill"]).map(|fill| {
            let mut line = vec![cell(&fill[0], "fill")];
            line.extend(fill.iter().map(|row| number(mb_per_s(row, "bytes_per_s"))));
            line.push(fill[0]["write_amplification"].as_f64().map_or_else(dash, number));
            line
        });
        table(&head.iter().map(String::as_str).collect::<Vec<&str>>(), &lines.collect::<Vec<Vec<String>>>())
    }

    fn levels(&self) -> String {
        let head = ["test", "best, MB/s", "steady, MB/s", "of the best", "steady from", "at the end, MB/s"];
        let line = |row: &Row| {
            vec![
                format!("{} {}", cell(row, "test"), cell(row, "op")),
                number(mb_per_s(row, "peak_bytes_per_s")),
                row["steady_bytes_per_s"].as_f64().map_or_else(dash, |speed| number(speed / 1e6)),
                row["share_of_peak_percent"].as_f64().map_or_else(dash, |share| format!("{share:.0}%")),
                row["steady_from_bytes"].as_u64().map_or_else(dash, amount),
                number(mb_per_s(row, "last_bytes_per_s")),
            ]
        };
        table(&head, &self.findings.tables["levels"].iter().map(line).collect::<Vec<Vec<String>>>())
    }

    fn knees(&self) -> String {
        let knees = &self.findings.tables["knees"];
        if knees.is_empty() {
            return "No test has a write cliff.\n".into();
        }
        let head = ["knee", "written until then", "before, MB/s", "after, MB/s"];
        let line = |row: &Row| {
            vec![
                format!("{} {}", cell(row, "test"), cell(row, "op")),
                row["at_bytes"].as_u64().map_or_else(dash, amount),
                number(mb_per_s(row, "before_bytes_per_s")),
                number(mb_per_s(row, "after_bytes_per_s")),
            ]
        };
        table(&head, &knees.iter().map(line).collect::<Vec<Vec<String>>>())
    }
}

fn dash() -> String {
    "–".into()
}

/// A cell as text.
fn cell(row: &Row, key: &str) -> String {
    row[key].as_str().map_or_else(|| row[key].to_string(), str::to_owned)
}

fn mb_per_s(row: &Row, key: &str) -> f64 {
    row[key].as_f64().expect("a speed is a number") / 1e6
}
