//! One case: a simulated drive with known causes, and the answer of `check`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use anyhow::Context as _;
use likenew_core::findings::{Findings, Standing};
use likenew_diagnosis::{CauseKind, EvidenceItem, by_name};
use likenew_procedures::check::{
    Check, CheckMetrics, CheckOptions, IndicatorOption, Metric, Origin, ReferenceOption,
};
use likenew_sim::truth::causes;
use likenew_sim::{Spec, catalog};

use crate::case_run::{QueryResult, ask, no_files};

/// A drive, and the causes at work.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) target: String,
    pub(super) seed: u64,
    /// Every cause that makes it slower than it could be, by design or not.
    pub(super) truth: Vec<&'static str>,
    /// One of these must be named first: faults before causes by design. Empty for a healthy drive.
    pub(super) expected: Vec<&'static str>,
    /// What it is compared with.
    pub(super) references: References,
}

/// What a drive is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// The same simulated drive when new.
    Simulated,
    /// Nothing.
    None,
}

/// Evidence of a cause, and the probability that it is present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScoredEvidence {
    pub(super) cause: &'static str,
    pub(super) evidence_id: &'static str,
    pub(super) chance: f64,
    /// Its weight for the cause, in bits.
    pub(super) bits: f64,
}

/// The answer of `check`.
#[derive(Clone, Debug)]
pub(super) struct CaseResult {
    /// Names of causes, in the order of the answer.
    pub(super) causes: Vec<String>,
    /// The same names, with the probability that is stated for each.
    pub(super) stated: Vec<(String, f64)>,
    /// Every metric that was measured.
    pub(super) metrics: Vec<(Metric, f64)>,
    /// The same metrics of the drive when new.
    pub(super) when_new: Vec<(Metric, f64)>,
    /// Whether something is slow without an explanation.
    pub(super) is_undecided: bool,
    /// The sentences of the answer.
    pub(super) sentences: Vec<String>,
    /// Every piece of evidence of every cause, with the probability that it is present.
    pub(super) evidence_items: Vec<ScoredEvidence>,
}

/// Drives, and settings that each put one cause at work on a drive that can have it. All are more than half
/// full, as drives in use are.
const FLASH: [&str; 4] = ["tiny-flash", "tlc-sata-500gb", "crucial-m4-128gb", "qlc-nvme-1tb"];
const DISKS: [&str; 3] = ["wd6400aaks", "disk-2tb", "seagate-momentus-5400.6"];
const ON_FLASH: &[&str] = &[
    "link=sata1.5g&fill=0.6",
    "link=usb2&fill=0.6",
    "crypt=80MB/s&fill=0.6",
    "shift=512&fill=0.6",
    "wake=5ms&fill=0.6",
    "busy=5000&fill=0.6",
    "wear=0.95&fill=0.6",
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
    "slow_region=0.08",
    "cache=off",
    "busy=40",
    "link=usb2",
    "crc=60",
    "firmware=500ms",
    "readcache=4GiB",
    "array=4MB/s",
];
/// Healthy drives, slow by design or not: the whole catalog in these states, except where a cause is at work,
/// and [`HEALTHY`].
const HEALTHY_STATES: [&str; 3] = ["", "?fill=0.5", "?state=used&fill=0.3"];
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

/// Every cause alone on its drives, healthy drives, and with `pairs` two causes at once, each with this many
/// seeds.
pub(super) fn cases(seeds: u64, pairs: bool) -> anyhow::Result<Vec<Case>> {
    let mut targets: Vec<String> = Vec::new();
    for (drives, settings) in [(&FLASH[..], ON_FLASH), (&DISKS[..], ON_DISKS)] {
        for drive in drives {
            targets.push(format!("{drive}?fill=0.6"));
            targets.extend(settings.iter().map(|setting| format!("{drive}?{setting}")));
            for (index, one) in settings.iter().enumerate().filter(|_| pairs) {
                targets.extend(
                    settings[index + 1..].iter().map(|other| format!("{drive}?{}", both_names(one, other))),
                );
            }
        }
    }
    targets.extend(OTHERS.iter().chain(HEALTHY).map(|target| (*target).to_owned()));
    let cataloged = catalog()
        .iter()
        .flat_map(|entry| HEALTHY_STATES.iter().map(move |state| format!("{}{state}", entry.name)));
    targets.extend(cataloged.filter(|target| is_healthy(target)));
    targets.sort_unstable();
    targets.dedup();
    let mut cases = Vec::new();
    for target in targets {
        // Some settings exclude each other, or do not fit every drive.
        let Ok(mut case) = Case::new(&format!("sim:{target}"), 0) else { continue };
        if case.expected.is_empty() && OTHERS.contains(&target.as_str()) {
            case.expected.clone_from(&case.truth);
        }
        cases.extend((1..=seeds).map(|seed| Case { seed, ..case.clone() }));
    }
    Ok(cases)
}

/// Whether no cause is at work on this target.
fn is_healthy(target: &str) -> bool {
    Case::new(&format!("sim:{target}"), 0).is_ok_and(|case| case.expected.is_empty())
}

/// The settings of both, each key once.
fn both_names(one: &str, other: &str) -> String {
    let mut settings: Vec<&str> = one.split('&').collect();
    for setting in other.split('&') {
        let key = setting.split('=').next();
        if settings.iter().all(|known| known.split('=').next() != key) {
            settings.push(setting);
        }
    }
    settings.join("&")
}

impl Case {
    /// # Errors
    /// There is no such drive, or the setting does not fit it.
    pub(super) fn new(target: &str, seed: u64) -> anyhow::Result<Self> {
        let spec = Spec::parse(target)?;
        let model = spec.model(no_files)?;
        spec.explain(no_files)?;
        let truth = causes(&spec, &model);
        let is_fault = |name: &&str| by_name(name).is_some_and(|cause| cause.kind != CauseKind::ByDesign);
        let expected = truth.iter().copied().filter(is_fault).collect();
        Ok(Self { target: target.to_owned(), seed, truth, expected, references: References::Simulated })
    }

    /// Checks the drive against its simulated baseline, like `likenew`.
    ///
    /// # Errors
    /// The drive cannot be opened, or the run ended early.
    pub(super) fn run(&self, baselines: &SimulatedBaselines) -> anyhow::Result<CaseResult> {
        let spec = Spec::parse(&self.target)?;
        let baseline = baselines.baseline_for(&spec)?;
        let when_new =
            baseline.references.iter().map(|reference| (reference.metric, reference.per_s)).collect();
        let options = match self.references {
            References::Simulated => CheckOptions {
                references: baseline.references,
                normal: baseline.normal,
                ..CheckOptions::default()
            },
            References::None => CheckOptions::default(),
        };
        let (findings, evidence_items) =
            run_check(&spec, self.seed, &options).with_context(|| self.target.clone())?;
        let rows = findings.tables.get("causes").map(Vec::as_slice).unwrap_or_default();
        let stated: Vec<(String, f64)> = rows
            .iter()
            .filter_map(|row| {
                Some((
                    row.get("cause")?.as_str()?.to_owned(),
                    row.get("probability_percent")?.as_f64()? / 100.0,
                ))
            })
            .collect();
        Ok(CaseResult {
            causes: stated.iter().map(|(name, _)| name.clone()).collect(),
            stated,
            metrics: CheckMetrics::from_findings(&findings).metrics,
            when_new,
            evidence_items,
            is_undecided: findings.answers.iter().any(|answer| answer.standing == Standing::Unknown),
            sentences: findings
                .answers
                .iter()
                .map(|answer| {
                    format!(
                        "{}: {} | {} | {}",
                        answer.question,
                        answer.answer,
                        answer.evidence.join("; "),
                        answer.caveats.join("; ")
                    )
                })
                .collect(),
        })
    }
}

/// Metrics of new drives, each measured once.
#[derive(Default)]
pub(super) struct SimulatedBaselines {
    cache: Mutex<BTreeMap<String, SimulatedBaseline>>,
}

#[derive(Clone)]
struct SimulatedBaseline {
    references: Vec<ReferenceOption>,
    normal: Vec<IndicatorOption>,
}

impl SimulatedBaselines {
    fn baseline_for(&self, spec: &Spec) -> anyhow::Result<SimulatedBaseline> {
        let new = spec.as_new().context("a drive of a bench was not saved")?;
        let cache = || self.cache.lock().expect("no thread panics with it");
        if let Some(baseline) = cache().get(&new.text) {
            return Ok(baseline.clone());
        }
        let (findings, _) = run_check(&new, 0, &CheckOptions::default())?;
        let CheckMetrics { metrics, indicators } = CheckMetrics::from_findings(&findings);
        let references = metrics.into_iter().map(|(metric, per_s)| ReferenceOption {
            metric,
            origin: Origin::Simulated,
            per_s,
            repeatability: 0.0,
        });
        let baseline = SimulatedBaseline { references: references.collect(), normal: indicators };
        cache().insert(new.text, baseline.clone());
        Ok(baseline)
    }
}

/// Loss of the metric that fell most, in percent of its earlier value.
pub(super) fn loss_percent(now: &[(Metric, f64)], earlier: &[(Metric, f64)]) -> f64 {
    let shares = now
        .iter()
        .filter_map(|(metric, per_s)| Some(per_s / earlier.iter().find(|(known, _)| known == metric)?.1));
    100.0 * (1.0 - shares.fold(1.0, f64::min))
}

fn run_check(
    spec: &Spec,
    seed: u64,
    options: &CheckOptions,
) -> anyhow::Result<(Findings, Vec<ScoredEvidence>)> {
    let mut drive = spec.open(no_files)?;
    let table = toml::Table::try_from(options)?;
    let QueryResult { findings, evidence } = ask(&mut drive, "check", seed, table)?;
    let evidence_items =
        Check::new(options.clone()).map_err(anyhow::Error::msg)?.evidence_items(&evidence).into_iter();
    let scored = |(cause, item): (_, EvidenceItem)| ScoredEvidence {
        cause,
        evidence_id: item.name,
        chance: item.chance,
        bits: item.bits,
    };
    Ok((findings?, evidence_items.map(scored).collect()))
}
