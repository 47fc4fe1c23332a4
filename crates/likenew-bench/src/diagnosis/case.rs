//! One simulated drive with what is wrong with it, and what `check` said.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context as _;
use likenew_core::verdict::{Findings, Standing};
use likenew_diagnosis::{Clue, Kind, by_name};
use likenew_procedures::check::{Answers, Check, CheckOptions, OriginName, ReferenceOption, ShapeOption};
use likenew_sim::Spec;
use likenew_sim::catalog;
use likenew_sim::truth::causes;

use crate::insight::{Asked, ask};

/// A drive, and what is really at work.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) target: String,
    pub(super) seed: u64,
    /// Everything that makes it slower than it could be, as it is made or by what befell it.
    pub(super) truth: Vec<&'static str>,
    /// Of these, one is to be named first: faults before how it is made. None of a healthy drive.
    pub(super) expected: Vec<&'static str>,
}

/// A clue of a cause, and with which probability it is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) cause: &'static str,
    pub(super) clue: &'static str,
    pub(super) chance: f64,
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
    /// Every clue of every cause, with the probability that it is there.
    pub(super) clues: Vec<Seen>,
}

/// Drives, and what can be set on them so that one cause is at work, if they can have it. Each is more than half full, as drives in use are.
const FLASH: [&str; 4] = ["tiny-flash", "tlc-sata-500gb", "crucial-m4-128gb", "qlc-nvme-1tb"];
const DISKS: [&str; 3] = ["wd6400aaks", "disk-2tb", "seagate-momentus-5400.6"];
const ON_FLASH: &[&str] = &[
    "link=sata1.5g&fill=0.6",
    "link=usb2&fill=0.6",
    "crypt=80MB/s&fill=0.6",
    "shift=512&fill=0.6",
    "wake=5ms&fill=0.6",
    "busy=5000&fill=0.6",
    "worn=0.95&fill=0.6",
    "throttle=0.2&fill=0.6",
    "crc=300&fill=0.6",
    "firmware=500ms&fill=0.6",
    "readcache=4GiB&fill=0.6",
    "array=100MB/s&fill=0.6",
    "state=used&fill=1",
    "state=used",
];
const ON_DISKS: &[&str] = &[
    "fragments=64KiB",
    "weak=0.08",
    "cache=off",
    "busy=40",
    "link=usb2",
    "crc=60",
    "firmware=500ms",
    "readcache=4GiB",
    "array=4MB/s",
];
/// Drives that are as new, by design or not: all of the catalogue in these states, as far as nothing is at work on them then, and some more.
const HEALTHY_STATES: [&str; 3] = ["", "?fill=0.5", "?state=used&fill=0.5"];
const HEALTHY: &[&str] = &["qlc-nvme-1tb?fill=0.8", "tlc-sata-500gb?fill=0.8&age=10d"];
const OTHERS: &[&str] = &[
    "qlc-nvme-1tb?hmb=off&fill=0.6",
    "tlc-sata-500gb?fill=0.8&age=400d",
    "cloud-gp2-100gib?state=used",
    "cloud-gp2-100gib?lazy=on",
    "seagate-archive-8tb",
    "fake-stick-512gb",
    "intel-520-120gb",
    "ocz-vertex-3-120gb",
    "disk-2tb?shift=512",
];

/// Every cause alone on its drives, healthy drives, and with `pairs` two causes at once, each with so many seeds.
pub(super) fn cases(seeds: u64, pairs: bool) -> anyhow::Result<Vec<Case>> {
    let mut targets: Vec<String> = Vec::new();
    for (drives, settings) in [(&FLASH[..], ON_FLASH), (&DISKS[..], ON_DISKS)] {
        for drive in drives {
            targets.push(format!("{drive}?fill=0.6"));
            targets.extend(settings.iter().map(|setting| format!("{drive}?{setting}")));
            for (index, one) in settings.iter().enumerate().filter(|_| pairs) {
                targets.extend(
                    settings[index + 1..].iter().map(|other| format!("{drive}?{}", both(one, other))),
                );
            }
        }
    }
    targets.extend(OTHERS.iter().chain(HEALTHY).map(|target| (*target).to_owned()));
    let catalogued = catalog()
        .iter()
        .flat_map(|entry| HEALTHY_STATES.iter().map(move |state| format!("{}{state}", entry.name)));
    targets.extend(catalogued.filter(|target| is_healthy(target)));
    targets.sort_unstable();
    targets.dedup();
    let mut cases = Vec::new();
    for target in targets {
        // Some settings do not go together, or not with every drive.
        let Ok(mut case) = Case::new(&format!("sim:{target}"), 0) else { continue };
        if case.expected.is_empty() && OTHERS.contains(&target.as_str()) {
            case.expected.clone_from(&case.truth);
        }
        cases.extend((1..=seeds).map(|seed| Case { seed, ..case.clone() }));
    }
    Ok(cases)
}

/// Whether nothing has befallen such a drive.
fn is_healthy(target: &str) -> bool {
    Case::new(&format!("sim:{target}"), 0).is_ok_and(|case| case.expected.is_empty())
}

/// The settings of both, each once.
fn both(one: &str, other: &str) -> String {
    let mut all: Vec<&str> = one.split('&').collect();
    for setting in other.split('&') {
        let key = setting.split('=').next();
        if all.iter().all(|known| known.split('=').next() != key) {
            all.push(setting);
        }
    }
    all.join("&")
}

impl Case {
    /// # Errors
    /// There is no such drive, or it can not be set so.
    pub(super) fn new(target: &str, seed: u64) -> anyhow::Result<Self> {
        let spec = Spec::parse(target)?;
        let model = spec.model(no_files)?;
        spec.explain(no_files)?;
        let truth = causes(&spec, &model);
        let is_fault = |name: &&str| by_name(name).is_some_and(|cause| cause.card().kind != Kind::ByDesign);
        let expected = truth.iter().copied().filter(is_fault).collect();
        Ok(Self { target: target.to_owned(), seed, truth, expected })
    }

    /// Checks it against its twin, as `likenew` does.
    ///
    /// # Errors
    /// The drive can not be made, or the run ended early.
    pub(super) fn run(&self, twins: &Twins) -> anyhow::Result<Answer> {
        let spec = Spec::parse(&self.target)?;
        let twin = twins.of(&spec)?;
        let asked =
            CheckOptions { references: twin.references, usual: twin.usual, ..CheckOptions::default() };
        let (findings, clues) = checked(&spec, self.seed, &asked).with_context(|| self.target.clone())?;
        let rows = findings.tables.get("causes").map(Vec::as_slice).unwrap_or_default();
        let found = rows.iter().filter_map(|row| row.get("cause")?.as_str().map(str::to_owned));
        Ok(Answer {
            found: found.collect(),
            clues,
            is_undecided: findings.verdicts.iter().any(|verdict| verdict.standing == Standing::Undecided),
            said: findings
                .verdicts
                .iter()
                .map(|verdict| {
                    format!(
                        "{} | {} | {}",
                        verdict.claim,
                        verdict.because.join("; "),
                        verdict.caveats.join("; ")
                    )
                })
                .collect(),
        })
    }
}

/// What new drives answered, each asked once.
#[derive(Default)]
pub(super) struct Twins {
    known: Mutex<BTreeMap<String, Twin>>,
}

#[derive(Clone)]
struct Twin {
    references: Vec<ReferenceOption>,
    usual: Vec<ShapeOption>,
}

impl Twins {
    fn of(&self, spec: &Spec) -> anyhow::Result<Twin> {
        let new = spec.as_new().context("a drive of a bench was not saved")?;
        let known = || self.known.lock().expect("no thread panics with it");
        if let Some(twin) = known().get(&new.text) {
            return Ok(twin.clone());
        }
        let (findings, _) = checked(&new, 0, &CheckOptions::default())?;
        let Answers { figures, shapes } = Answers::of(&findings);
        let references = figures.into_iter().map(|(figure, per_s)| ReferenceOption {
            figure,
            origin: OriginName::Twin,
            per_s,
            repeatability: 0.0,
        });
        let twin = Twin { references: references.collect(), usual: shapes };
        known().insert(new.text, twin.clone());
        Ok(twin)
    }
}

fn checked(spec: &Spec, seed: u64, asked: &CheckOptions) -> anyhow::Result<(Findings, Vec<Seen>)> {
    let options = toml::Table::try_from(asked)?;
    let mut drive = spec.open(no_files)?;
    let Asked { findings, evidence } = ask(&mut drive, "check", seed, options)?;
    let clues = Check::new(asked.clone()).map_err(anyhow::Error::msg)?.clues(&evidence).into_iter();
    let seen = |(cause, clue): (_, Clue)| Seen { cause, clue: clue.name, chance: clue.chance };
    Ok((findings?, clues.map(seen).collect()))
}

fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}
