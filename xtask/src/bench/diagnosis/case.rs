//! One simulated drive with what is wrong with it, and what `check` said.

use std::io;
use std::path::Path;

use anyhow::Context as _;
use likenew_core::verdict::{Findings, Row};
use likenew_procedures::check::{CheckOptions, FigureName, OriginName, ReferenceOption};
use likenew_sim::Spec;
use likenew_sim::truth::causes;

use crate::bench::insight::ask;

/// A drive, and what is really at work.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) target: String,
    pub(super) seed: u64,
    pub(super) truth: Vec<&'static str>,
}

/// What was said.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// Names of causes, the first first.
    pub(super) found: Vec<String>,
    /// Whether something is slow and not explained.
    pub(super) is_undecided: bool,
    /// The sentences.
    pub(super) said: Vec<String>,
}

/// What can be set on a drive so that one cause is at work, for drives that can have it. The catalogue's drives of one kind have the same
/// settings.
const FLASH: [&str; 4] = ["tiny-flash", "tlc-sata-500gb", "crucial-m4-128gb", "qlc-nvme-1tb"];
const DISKS: [&str; 3] = ["wd6400aaks", "disk-2tb", "seagate-momentus-5400.6"];
const ON_FLASH: &[&str] = &[
    "link=sata1.5g",
    "link=usb2",
    "crypt=80MB/s",
    "shift=512",
    "wake=5ms",
    "busy=300",
    "worn=0.95",
    "throttle=0.2",
    "state=used&fill=1",
    "state=used",
];
const ON_DISKS: &[&str] = &["fragments=64KiB", "weak=0.08", "cache=off", "busy=40", "link=usb2"];
const OTHERS: &[&str] = &[
    "qlc-nvme-1tb?hmb=off",
    "tlc-sata-500gb?fill=0.8&age=400d",
    "cloud-gp2-100gib",
    "cloud-gp2-100gib?lazy=on",
    "seagate-archive-8tb",
    "fake-stick-512gb",
    "intel-520-120gb",
    "ocz-vertex-3-120gb",
    "tlc-nvme-1tb",
    "disk-2tb?shift=512",
];

/// Every cause alone on its drives, healthy drives, and with `pairs` two causes at once, each with so many seeds.
pub(super) fn cases(seeds: u64, pairs: bool) -> anyhow::Result<Vec<Case>> {
    let mut targets: Vec<String> = Vec::new();
    for (drives, settings) in [(&FLASH[..], ON_FLASH), (&DISKS[..], ON_DISKS)] {
        for drive in drives {
            targets.push((*drive).to_owned());
            targets.push(format!("{drive}?fill=0.6"));
            targets.extend(settings.iter().map(|setting| format!("{drive}?{setting}")));
            for (index, one) in settings.iter().enumerate().filter(|_| pairs) {
                for other in &settings[index + 1..] {
                    targets.push(format!("{drive}?{one}&{other}"));
                }
            }
        }
    }
    targets.extend(OTHERS.iter().map(|target| (*target).to_owned()));
    let mut cases = Vec::new();
    for target in targets {
        // Some settings do not go together, or not with every drive.
        let Ok(case) = Case::new(&format!("sim:{target}"), 0) else { continue };
        cases.extend((1..=seeds).map(|seed| Case { seed, ..case.clone() }));
    }
    Ok(cases)
}

impl Case {
    /// # Errors
    /// There is no such drive, or it can not be set so.
    pub(super) fn new(target: &str, seed: u64) -> anyhow::Result<Self> {
        let spec = Spec::parse(target)?;
        let model = spec.model(no_files)?;
        spec.explain(no_files)?;
        Ok(Self { target: target.to_owned(), seed, truth: causes(&spec, &model) })
    }

    /// Checks it against its twin, as `likenew` does.
    ///
    /// # Errors
    /// The drive can not be made, or the run ended early.
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let spec = Spec::parse(&self.target)?;
        let twin = spec.as_new().context("a drive of a bench was not saved")?;
        let figures = checked(&twin, 0, Vec::new())?;
        let figures = figures.tables.get("figures").map(Vec::as_slice).unwrap_or_default();
        let references = figures.iter().map(reference).collect::<anyhow::Result<Vec<_>>>()?;
        let findings = checked(&spec, self.seed, references).with_context(|| self.target.clone())?;
        let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        let slow = |row: &&Row| row.get("explains").is_some_and(|explains| explains != "");
        let found = rows("causes").iter().filter(slow).filter_map(|row| row.get("cause")?.as_str().map(str::to_owned));
        Ok(Answer {
            found: found.collect(),
            is_undecided: findings.verdicts.iter().any(|verdict| verdict.claim.starts_with("Why ")),
            said: findings
                .verdicts
                .iter()
                .map(|verdict| format!("{} | {} | {}", verdict.claim, verdict.because.join("; "), verdict.caveats.join("; ")))
                .collect(),
        })
    }
}

fn checked(spec: &Spec, seed: u64, references: Vec<ReferenceOption>) -> anyhow::Result<Findings> {
    let options = toml::Table::try_from(CheckOptions { references, ..CheckOptions::default() })?;
    let mut drive = spec.open(no_files)?;
    ask(&mut drive, "check", seed, options)?.findings
}

fn reference(row: &Row) -> anyhow::Result<ReferenceOption> {
    let name = row.get("figure").context("a figure has a name")?.clone();
    let figure: FigureName = serde_json::from_value(name)?;
    let per_s = row.get("measured_per_s").and_then(serde_json::Value::as_f64).context("a figure has a value")?;
    Ok(ReferenceOption { figure, origin: OriginName::Twin, per_s })
}

fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}
