//! What is predicted of the studies' flash drives, as intervals over everything that is not known of them, and which of
//! it decides.

use likenew_core::drive::Drive as _;
use likenew_core::io::{DataClass, Op};
use likenew_core::units::Nanos;
use likenew_core::workload::Until;
use likenew_sim::SimDrive;

use super::draws::{Draw, Hypercube, Interval, on_every_draw};
use super::lab::{Load, WriteAmplification, mb_per_s, measure};
use super::page::{number, table};

/// Whether a parameter was chosen to agree with a figure of the same drive and kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basis {
    /// Some parameter was chosen to agree with exactly this rated figure.
    Fitted,
    /// None does.
    Predicted,
}

impl Basis {
    fn word(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
        }
    }
}

/// What is measured.
#[derive(Clone, Copy)]
enum Test {
    /// 4 KiB at random over 8 GiB, 3 in flight, for three minutes, as in study 3.
    RandomWrite,
    /// What the flash programs for each byte of that.
    WriteAmplification,
    /// 2 GiB in sequence, 1 MiB at a time.
    SequentialWrite,
}

/// One figure of one drive.
struct Metric {
    drive: &'static str,
    name: &'static str,
    /// The past: `new`, `fill` (every address written once in sequence) or `used` (that, and overwrites at random).
    query: &'static str,
    test: Test,
    /// As printed, and as a number; nothing where a study's figure is not known here.
    published: Option<(&'static str, f64)>,
    basis: Basis,
}

const NEW: &str = "state=new&trim=off";
const FILLED: &str = "state=new&fill=1&trim=off";
const USED: &str = "state=used&trim=off";

const RANDOM_NEW: &str = "random write, new, MB/s";
const RANDOM_FILLED: &str = "random write, filled, MB/s";
const RANDOM_USED: &str = "random write, overwritten, MB/s";
const AMPLIFICATION: &str = "write amplification of that";

/// The random writes of study 3, in three states.
const fn random_writes(drive: &'static str, printed: &'static str, value: f64) -> [Metric; 4] {
    let basis = Basis::Predicted;
    let test = Test::RandomWrite;
    [
        Metric { drive, name: RANDOM_NEW, query: NEW, test, published: Some((printed, value)), basis },
        Metric { drive, name: RANDOM_FILLED, query: FILLED, test, published: None, basis },
        Metric { drive, name: RANDOM_USED, query: USED, test, published: None, basis },
        Metric {
            drive,
            name: AMPLIFICATION,
            query: USED,
            test: Test::WriteAmplification,
            published: None,
            basis,
        },
    ]
}

/// Sequential writes of the new drive.
const fn sequential_write(drive: &'static str, printed: &'static str, value: f64, basis: Basis) -> Metric {
    let (name, test) = ("sequential write, new, MB/s", Test::SequentialWrite);
    Metric { drive, name, query: NEW, test, published: Some((printed, value)), basis }
}

const X25_M: &str = "intel-x25-m-80gb";
const INTEL_520: &str = "intel-520-120gb";

/// Everything that is predicted, drive by drive.
fn metrics() -> Vec<Metric> {
    let mut all = vec![sequential_write(X25_M, "76–77", 76.5, Basis::Fitted)];
    all.extend(random_writes(X25_M, "39.3", 39.3));
    all.extend(random_writes("intel-x25-e-32gb", "31.7", 31.7));
    all.extend(random_writes("ocz-vertex", "8.2", 8.2));
    all.extend(random_writes("ocz-summit", "12.8", 12.8));
    all.extend(random_writes("samsung-slc", "2.61", 2.61));
    all.extend(random_writes("jmicron-jmf602b", "0.02", 0.02));
    all.extend(random_writes("jmicron-jmf602bx2", "0.03", 0.03));
    all.push(sequential_write(INTEL_520, "193", 193.0, Basis::Predicted));
    all
}

/// The drives of the predictions, each once.
pub(super) fn drives() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = metrics().iter().map(|metric| metric.drive).collect();
    names.dedup();
    names
}

/// How much is drawn and measured.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Draws of each drive.
    pub(super) draws: usize,
    /// Random writes are measured so long.
    pub(super) time: Nanos,
    /// Random writes are spread over so many bytes.
    pub(super) span: u64,
}

impl Effort {
    /// As the studies measured.
    pub(super) const WHOLE: Self = Self { draws: 64, time: Nanos::from_secs(180), span: 8 << 30 };
    /// To see that everything works.
    pub(super) const QUICK: Self = Self { draws: 12, time: Nanos::from_secs(1), span: 256 << 20 };
}

/// New drives keep their speed as long as erased blocks last, and overwritten ones have none left: so long is enough for both.
const LEVEL_TIME: Nanos = Nanos::from_secs(20);
/// No more random writes than this, which are 4.9 GB: drives that do so many in less than three minutes are fast.
const IOS_MAX: u64 = 1_200_000;
const SEQUENTIAL_BYTES: u64 = 2 << 30;

/// The page.
///
/// `on_drive` gets the page as it is after each drive.
///
/// # Errors
/// A drive could not be built or measured, or `on_drive` failed.
pub(super) fn page(
    effort: Effort,
    names: &[&'static str],
    mut on_drive: impl FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<String> {
    let mut text = head(effort);
    for name in names.iter().copied() {
        eprintln!("  {name}: {} draws", effort.draws);
        let own: Vec<Metric> = metrics().into_iter().filter(|metric| metric.drive == name).collect();
        let cube = Hypercube::new(name, effort.draws);
        let results = on_every_draw(&cube.draws, |draw| measure_all(draw, &own, effort))?;
        let catalogued = measure_all(&Draw::as_catalogued(name), &own, effort)?;
        let rows: Vec<Vec<String>> = own
            .iter()
            .enumerate()
            .map(|(index, metric)| {
                let drawn: Vec<f64> = results.iter().map(|all| all[index]).collect();
                row(metric, catalogued[index], &drawn, &cube)
            })
            .collect();
        text += &format!("\n## {name}\n\n{}{}", table(&HEAD, &rows), misses(&own, &results, &cube));
        on_drive(&text)?;
    }
    Ok(text)
}

const HEAD: [&str; 6] = [
    "metric",
    "published",
    "predicted: median (5–95%)",
    "with the catalog's values",
    "basis",
    "decided by (rank correlation)",
];

fn head(effort: Effort) -> String {
    format!(
        "# What the studies' flash drives are predicted to do\n\n\
         Made by `cargo xtask reproduce --predictions` of likenew {}; do not edit it by hand.\n\n\
         Nobody publishes how these drives work inside. Each file of\n\
         [the catalog](../../catalog/README.md) states what an assumed parameter may be. {} drives are drawn\n\
         from these ranges (a Latin hypercube with a fixed seed), and each is measured as the studies\n\
         measured. A prediction is the median of them, with the range that holds 90%. It is decided by the\n\
         parameters whose order is nearest to the order of the results (Spearman's ρ, only where its 95%\n\
         interval excludes 0).\n\n\
         - *Random write*: 4 KiB over 8 GiB, 3 in flight, 3 minutes or 1.2 million writes. Where the speed\n  \
         does not change meanwhile (new and overwritten drives with a page map), 20 seconds.\n\
         - *Filled*: every address was written once in sequence, which is \"used\" in study 3.\n\
         - *Overwritten*: filled, then written at random as `?state=used` says.\n\
         - *Fitted*: a parameter was chosen to agree with exactly this rated figure.\n  \
         Everything else is predicted.\n\n\
         Published figures of used drives are not given here, and no parameter was chosen to agree with any.\n",
        env!("CARGO_PKG_VERSION"),
        effort.draws
    )
}

fn row(metric: &Metric, catalogued: f64, drawn: &[f64], cube: &Hypercube) -> Vec<String> {
    let Interval { median, low, high } = Interval::from_results(drawn);
    let deciding: Vec<String> =
        cube.deciding(drawn).iter().map(|(key, rho)| format!("`{key}` {rho:+.2}")).collect();
    vec![
        metric.name.into(),
        metric.published.map_or("–", |(printed, _)| printed).into(),
        format!("{} ({}–{})", number(median), number(low), number(high)),
        number(catalogued),
        metric.basis.word().into(),
        if deciding.is_empty() { "nothing that was drawn".into() } else { deciding.join(", ") },
    ]
}

/// Names each published figure that lies outside of what is predicted.
fn misses(metrics: &[Metric], results: &[Vec<f64>], cube: &Hypercube) -> String {
    let mut text = String::new();
    for (index, metric) in metrics.iter().enumerate() {
        let Some((printed, value)) = metric.published else { continue };
        let drawn: Vec<f64> = results.iter().map(|all| all[index]).collect();
        let Interval { low, high, .. } = Interval::from_results(&drawn);
        if (low..=high).contains(&value) {
            continue;
        }
        let side = if value < low { "below" } else { "above" };
        let decides = match cube.deciding(&drawn).first() {
            Some((key, _)) => format!("`{key}` decides it"),
            None => "no parameter that was drawn decides it".into(),
        };
        text += &format!(
            "\nMissed: {}.\n{printed} is {side} what 90% of the draws reach; {decides}.\n",
            metric.name
        );
    }
    text
}

/// Every metric of one draw. Drives in the same state are made once for each test.
fn measure_all(draw: &Draw, metrics: &[Metric], effort: Effort) -> anyhow::Result<Vec<f64>> {
    let mut values: Vec<f64> = Vec::with_capacity(metrics.len());
    let mut amplification = f64::NAN;
    for metric in metrics {
        values.push(match metric.test {
            // That of the random writes before it.
            Test::WriteAmplification => amplification,
            Test::RandomWrite => {
                let mut drive = draw.open(metric.query)?;
                let counters = WriteAmplification::from_now(&drive);
                let speed = random_write(&mut drive, metric.query != FILLED, effort)?;
                amplification = counters.until_now(&drive);
                speed
            }
            Test::SequentialWrite => {
                let mut drive = draw.open(metric.query)?;
                let bytes = SEQUENTIAL_BYTES.min(drive.geometry().capacity / 4);
                mb_per_s(&measure(&mut drive, &Load::sequential(Op::Write, 0..bytes))?)
            }
        });
    }
    Ok(values)
}

/// MB/s of random writes.
fn random_write(drive: &mut SimDrive, keeps_level: bool, effort: Effort) -> anyhow::Result<f64> {
    // Maps of whole blocks fill their log blocks only after a while, and take few writes until then.
    let is_fast = |drive: &SimDrive| !drive.identity().facts.iter().any(|(name, _)| name == "map");
    let time = if keeps_level && is_fast(drive) { effort.time.min(LEVEL_TIME) } else { effort.time };
    let load = Load {
        op: Op::Write,
        random: true,
        block: 4096,
        depth: 3,
        range: 0..effort.span.min(drive.geometry().capacity),
        data: DataClass::Random,
        until: Until { ops: Some(IOS_MAX), ..Until::elapsed(time) },
    };
    Ok(mb_per_s(&measure(drive, &load)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_figure_outside_of_the_draws_is_named() {
        let cube = Hypercube::new(X25_M, 20);
        let metrics = [sequential_write(X25_M, "76–77", 76.5, Basis::Fitted)];
        let around =
            |center: f64| (0..20).map(|step| vec![center + f64::from(step) * 0.01]).collect::<Vec<_>>();
        assert_eq!(misses(&metrics, &around(76.4), &cube), "");
        assert!(misses(&metrics, &around(80.0), &cube).contains("76–77 is below"));
        assert!(misses(&metrics, &around(70.0), &cube).contains("76–77 is above"));
    }

    #[test]
    fn a_drive_that_may_pair_writes_is_predicted_to_be_faster() {
        let own: Vec<Metric> = random_writes(X25_M, "39.3", 39.3).into_iter().take(1).collect();
        let cube = Hypercube::new(X25_M, 16);
        let results = on_every_draw(&cube.draws, |draw| measure_all(draw, &own, Effort::QUICK)).unwrap();
        let drawn: Vec<f64> = results.iter().map(|all| all[0]).collect();
        let deciding = cube.deciding(&drawn);
        assert!(
            deciding.iter().any(|(key, rho)| *key == "firmware.writes_per_unit" && *rho > 0.0)
                || deciding.iter().any(|(key, rho)| *key == "firmware.write_command_ns" && *rho < 0.0),
            "{deciding:?} of {drawn:?}"
        );
    }
}
