//! Measures how well `check` finds causes on randomly drawn drives and situations, to which nothing was
//! fitted.
//!
//! A drive, its data, one or two situations and their strengths come from the number of the case alone. How
//! much a situation costs is measured, as the fall of the worst metric. It is compared with the same drive
//! and data without the situation, or with the new drive if a cause is always at work.

use likenew_diagnosis::{CauseKind, by_name};
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::case::{Case, CaseResult, References, loss_percent};
use super::{CALLED_SICK_PERCENT_MAX, RIGHT_PERCENT_MIN};
use crate::table::{Share, mark, row, table};

/// Sick cases of each drive; they share the measurement of the drive when new.
const SICK_PER_DRIVE: usize = 3;
/// Share of cases with two situations at once.
const PAIRS: f64 = 1.0 / 3.0;
/// Share of drives from the generator; the others are of the catalog.
const GENERATED: f64 = 0.75;
/// Share of drives with nothing to compare with.
const UNKNOWN: f64 = 0.1;
/// Tries to find a situation that fits a drive: most do.
const TRIES: usize = 200;
/// Catalog drives that are small enough to check by the thousand.
const CATALOG: [&str; 9] = [
    "tiny-flash",
    "tlc-sata-500gb",
    "crucial-m4-128gb",
    "qlc-nvme-1tb",
    "wd6400aaks",
    "disk-2tb",
    "seagate-momentus-5400.6",
    "cloud-gp2-100gib",
    "intel-x25-m-80gb",
];

/// Loss from which a cause has to be found, and the bounds of the rows of the table, in percent.
const LOSS_COUNTED: f64 = 20.0;
const LOSSES: [f64; 6] = [0.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// Bounds of the rows of stated probability.
const STATED: [f64; 5] = [0.9, 0.95, 0.98, 0.995, 1.0];
/// Goals beside those of every case, in percent: the top cause of pairs, and a stated 90 to 95%.
const RIGHT_IN_PAIRS: f64 = 90.0;
const STATED_RIGHT: (f64, f64) = (85.0, 95.0);

/// A case, and how many situations were drawn for it.
pub(super) struct DrawnCase {
    pub(super) case: Case,
    situations: usize,
}

/// Draws the cases of `drives` drives from number `first` on: a healthy one and some sick ones of each.
pub(super) fn draw(first: u64, drives: u64) -> Vec<DrawnCase> {
    (first..first + drives).flat_map(of_drive).collect()
}

fn of_drive(number: u64) -> Vec<DrawnCase> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
    let name = if rng.random_bool(GENERATED) {
        format!("generated-{number}")
    } else {
        (*CATALOG.choose(&mut rng).expect("there are some")).to_owned()
    };
    let references = if rng.random_bool(UNKNOWN) { References::None } else { References::Simulated };
    let fill = format!("fill={:.2}", rng.random_range(0.3..0.85));
    let case = |settings: &[String]| {
        let mut query = vec![fill.clone()];
        for setting in settings {
            let key = |text: &str| text.split('=').next().map(str::to_owned);
            for part in setting.split('&') {
                query.retain(|other| {
                    key(other) != key(part) && !(part == "state=used" && other.starts_with("fill"))
                });
                query.push(part.to_owned());
            }
        }
        let fits = |query: &[String]| Case::new(&format!("sim:{name}?{}", query.join("&")), number);
        // Disks and volumes hold data everywhere.
        let result = fits(&query).or_else(|_| {
            query.retain(|setting| !setting.starts_with("fill"));
            fits(&query)
        });
        result.ok().map(|case| Case { references, ..case })
    };
    let mut cases: Vec<DrawnCase> = Vec::new();
    let healthy = case(&[]).filter(|case| case.expected.is_empty());
    cases.extend(healthy.map(|case| DrawnCase { case, situations: 0 }));
    for _ in 0..TRIES {
        if cases.iter().filter(|case| case.situations > 0).count() == SICK_PER_DRIVE {
            break;
        }
        let situations = if rng.random_bool(PAIRS) { 2 } else { 1 };
        let drawn: Vec<String> = (0..situations).map(|_| situation(&mut rng)).collect();
        let effective = |case: &Case| case.expected.len() >= situations;
        if let Some(case) = case(&drawn).filter(effective) {
            cases.push(DrawnCase { case, situations });
        }
    }
    cases
}

/// A situation whose strength is uniform on a logarithmic scale, from barely visible to gross.
fn situation(rng: &mut Xoshiro256PlusPlus) -> String {
    let mut log =
        |from: f64, to: f64| (rng.random_range(from.ln().min(to.ln())..from.ln().max(to.ln()))).exp();
    let strengths = [
        format!("crypt={:.0}MB/s", log(20.0, 2000.0)),
        format!("wake={:.0}us", log(100.0, 20_000.0)),
        format!("busy={:.0}", log(20.0, 20_000.0)),
        format!("wear={:.3}", log(0.5, 1.0)),
        format!("throttle={:.3}", log(0.05, 0.8)),
        format!("crc={:.0}", log(20.0, 5000.0)),
        format!("firmware={:.0}ms", log(20.0, 1000.0)),
        format!("array={:.0}MB/s", log(4.0, 1000.0)),
        format!("age={:.0}d&fill=0.8", log(30.0, 1000.0)),
        format!("fragments={:.0}KiB", log(4.0, 4096.0)),
        format!("slow_region={:.4}", log(0.005, 0.3)),
        format!("fill={:.3}", 1.0 - log(0.001, 0.1)),
        format!("state=used&fill=0.97&deleted={:.2}", log(0.1, 0.8)),
    ];
    let fixed = [
        "link=sata1.5g",
        "link=sata3g",
        "link=usb2",
        "link=usb3.0",
        "link=pcie1x1",
        "shift=512",
        "hmb=off",
        "readcache=4GiB",
        "cache=off",
        "lazy=on",
        "state=used",
        "state=used&trim=off",
        "state=used&fill=1",
    ];
    let index = rng.random_range(0..strengths.len() + fixed.len());
    strengths.get(index).cloned().unwrap_or_else(|| fixed[index - strengths.len()].to_owned())
}

/// A case, its answer, and what its situation costs.
struct LossyCase<'a> {
    case: &'a Case,
    situations: usize,
    answer: &'a CaseResult,
    loss_percent: f64,
}

/// Every case that is not right, with its loss. Then right answers by loss, alone and in pairs, healthy
/// drives called sick, and how often stated probabilities are right.
pub(super) fn report(drawn: &[DrawnCase], answers: &[CaseResult]) -> String {
    let cases: Vec<LossyCase<'_>> = drawn
        .iter()
        .zip(answers)
        .map(|(DrawnCase { case, situations }, answer)| {
            let is_healthy = |other: &DrawnCase| other.situations == 0 && other.case.seed == case.seed;
            let healthy = drawn.iter().position(is_healthy);
            let earlier = healthy.map_or(&answer.when_new, |index| &answers[index].metrics);
            let loss_percent = loss_percent(&answer.metrics, earlier);
            LossyCase { case, situations: *situations, answer, loss_percent }
        })
        .collect();
    let counts = |low: f64, high: f64, references: References| {
        [1, 2].map(|situations| {
            let is_meant = |case: &&LossyCase<'_>| {
                case.situations == situations
                    && case.case.references == references
                    && (low..high).contains(&case.loss_percent.clamp(0.0, 99.9))
            };
            Counts::compute(cases.iter().filter(is_meant))
        })
    };
    let by_loss = LOSSES.windows(2).map(|ends| {
        let [alone, pairs] = counts(ends[0], ends[1], References::Simulated);
        row(&[&format!("{} to {}%", ends[0], ends[1]), &alone.text(), &pairs.text()])
    });
    let head = ["loss of the worst metric", "alone: right / wrong / open", "pairs: right / wrong / open"];
    let by_loss = table(&head, by_loss);
    let [alone, pairs] =
        counts(LOSS_COUNTED, 100.0, References::Simulated).map(|counts| counts.right().percent());
    let [unknown_alone, unknown_pairs] = counts(LOSS_COUNTED, 100.0, References::None);
    let healthy = cases.iter().filter(|case| case.situations == 0);
    let sick = Share::count(healthy, |case| is_false_alarm(case.case, case.answer));
    format!(
        "{}{by_loss}\n\
         {LOSS_COUNTED:.0}% or more: alone {alone:.1}% right [{RIGHT_PERCENT_MIN}]{}, pairs {pairs:.1}% [{RIGHT_IN_PAIRS}]{}\n\
         the same with nothing to compare with: {} | {}\nhealthy: called sick {sick} [{CALLED_SICK_PERCENT_MAX}]{}\n{}",
        cases.iter().filter_map(miss).collect::<String>(),
        mark(alone >= RIGHT_PERCENT_MIN),
        mark(pairs >= RIGHT_IN_PAIRS),
        unknown_alone.text(),
        unknown_pairs.text(),
        mark(sick.percent() <= CALLED_SICK_PERCENT_MAX),
        reliability(&cases)
    )
}

/// A line about a case that is not right: its loss, the causes at work, and those named.
fn miss(lossy: &LossyCase<'_>) -> Option<String> {
    let LossyCase { case, answer, loss_percent, .. } = lossy;
    let is_right = match answer.causes.first() {
        _ if case.expected.is_empty() => !is_false_alarm(case, answer),
        Some(top) => case.expected.contains(&top.as_str()),
        None => false,
    };
    let stated = answer.stated.iter().map(|(name, chance)| format!("{name} {:.1}%", 100.0 * chance));
    let named: Vec<String> = stated.collect();
    (!is_right).then(|| {
        format!(
            "{loss_percent:3.0}% lost  {}{}  at work: {}  named: {}{}\n",
            case.target,
            if case.references == References::None { " (no reference)" } else { "" },
            case.truth.join(", "),
            if named.is_empty() { "nothing".to_owned() } else { named.join(", ") },
            if answer.is_undecided { " (something is open)" } else { "" }
        )
    })
}

/// How often a stated probability is right, and the Brier score of all that are stated.
fn reliability(cases: &[LossyCase<'_>]) -> String {
    let stated = cases.iter().flat_map(|lossy| {
        let is_right = |name: &String| lossy.case.truth.contains(&name.as_str());
        lossy.answer.stated.iter().map(move |(name, chance)| (*chance, is_right(name)))
    });
    let stated: Vec<(f64, bool)> = stated.collect();
    let rows = STATED.windows(2).map(|ends| {
        let (low, high) = (ends[0], ends[1]);
        let is_in = |(chance, _): &&(f64, bool)| *chance >= low && (*chance < high || high == 1.0);
        let right = Share::count(stated.iter().filter(is_in), |(_, is_right)| *is_right);
        let (least, most) = STATED_RIGHT;
        let goal = if low == STATED[0] {
            format!("[{least} to {most}]{}", mark((least..=most).contains(&right.percent())))
        } else {
            String::new()
        };
        row(&[&format!("{:.1} to {:.1}%", 100.0 * low, 100.0 * high), &right, &goal])
    });
    let rows = table(&["stated probability of a named cause", "right", "goal"], rows);
    let squares = stated.iter().map(|(chance, is_right)| (chance - f64::from(u8::from(*is_right))).powi(2));
    let brier = squares.sum::<f64>() / stated.len().max(1) as f64;
    format!("{rows}Brier score {brier:.4} over {}\n", stated.len())
}

/// Whether the cause named first is a fault that is not at work.
fn is_false_alarm(case: &Case, answer: &CaseResult) -> bool {
    let top = answer.causes.first();
    top.is_some_and(|top| {
        let is_fault = by_name(top).is_some_and(|cause| cause.kind != CauseKind::ByDesign);
        is_fault && !case.truth.contains(&top.as_str())
    })
}

/// Counts of cases by what was named first.
#[derive(Default)]
struct Counts {
    right: usize,
    wrong: usize,
    open: usize,
}

impl Counts {
    fn compute<'a>(cases: impl Iterator<Item = &'a LossyCase<'a>>) -> Self {
        let mut counts = Self::default();
        for LossyCase { case, answer, .. } in cases {
            match answer.causes.first() {
                Some(top) if case.expected.contains(&top.as_str()) => counts.right += 1,
                Some(_) => counts.wrong += 1,
                None => counts.open += 1,
            }
        }
        counts
    }

    fn right(&self) -> Share {
        Share { part: self.right, whole: self.right + self.wrong + self.open }
    }

    fn text(&self) -> String {
        format!("{} / {} / {} = {:.1}%", self.right, self.wrong, self.open, self.right().percent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_the_same_each_time_and_have_effects() {
        let drawn = draw(1, 40);
        let again = draw(1, 40);
        let targets =
            |drawn: &[DrawnCase]| drawn.iter().map(|drawn| drawn.case.target.clone()).collect::<Vec<_>>();
        assert_eq!(targets(&drawn), targets(&again));
        let sick = drawn.iter().filter(|drawn| drawn.situations > 0);
        assert!(sick.clone().count() >= 100, "{}", sick.count());
        assert!(drawn.iter().all(|drawn| (drawn.situations == 0) == drawn.case.expected.is_empty()));
        let pairs = drawn.iter().filter(|drawn| drawn.situations == 2).count();
        assert!((15..60).contains(&pairs), "{pairs}");
    }
}
