//! Compares the speeds of runs, and says whether they differ by more than a repetition would.
//!
//! [`compare`] takes findings of runs of one procedure. It makes findings of its own: an answer for each later run
//! against the first, and a table of speeds with ratios and intervals.

mod speed;
mod wording;

use indexmap::IndexMap;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Axis, Findings, OverviewTable, Row, Series, Shape, Standing};
use likenew_core::procedure::Plan;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::estimated_line;
use likenew_restoring::check::CheckHistory;

use speed::{Speed, ratio_of, speeds};

/// A run in a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// The run's name: a letter or a short label.
    pub name: &'a str,
    /// The run's plan.
    pub plan: &'a Plan,
    /// The kind of the run's target.
    pub kind: TargetKind,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
    /// The tables of the run's findings.
    pub tables: &'a IndexMap<String, Vec<Row>>,
}

impl ComparedRun<'_> {
    /// Scatter between repetitions of this run beyond its own interval, as a standard deviation of logarithms. A
    /// simulated drive repeats exactly.
    fn scatter(&self) -> f64 {
        match self.kind {
            TargetKind::Simulated | TargetKind::Nop => 0.0,
            TargetKind::Folder | TargetKind::File | TargetKind::Device => {
                CheckHistory::assumed(self.is_virtual)
            }
        }
    }
}

/// Largest ratio at which speeds count as the same. Chosen: nobody notices 5% at work.
const SAME_WITHIN: f64 = 1.05;

/// A later run's speed over the first run's.
#[derive(Clone, Debug, PartialEq)]
struct SpeedRatio {
    name: String,
    unit: &'static str,
    /// Speed of the first run and of the later one.
    values: [f64; 2],
    /// With its 95% interval.
    ratio: Estimate,
}

impl SpeedRatio {
    /// Whether it is certainly within 5%; if not, whether it is certainly below or above 1.
    fn difference(&self) -> Verdict {
        self.ratio.differs(1.0 / SAME_WITHIN, SAME_WITHIN)
    }

    /// Size of the change: half as fast is as large as twice as fast.
    fn size(&self) -> f64 {
        self.ratio.value.ln().abs()
    }
}

/// Name of the table and of the series.
const SPEEDS: &str = "speeds";

/// Compares later runs with the first one, in the speeds that both have. `None` if they share no speed, as with
/// procedures that measure none.
pub fn compare(runs: &[ComparedRun<'_>]) -> Option<Findings> {
    let [first, others @ ..] = runs else { return None };
    let base = speeds(first.tables);
    let mut findings = Findings::default();
    let mut table = OverviewTable::new(wording::headings(runs));
    let (mut compared, mut largest) = (Vec::new(), Vec::new());
    for other in others {
        let speeds = speeds(other.tables);
        let is_renamed = is_renamed(first, other);
        let ratio = |speed: &Speed| {
            let is_same = |candidate: &Speed| {
                candidate.unit == speed.unit
                    && (candidate.name == speed.name || is_renamed && candidate.test == speed.test)
            };
            let same = speeds.iter().find(|candidate| is_same(candidate))?;
            ratio_of([first, other], speed, same)
        };
        let ratios: Vec<Option<SpeedRatio>> = base.iter().map(ratio).collect();
        let known: Vec<SpeedRatio> = ratios.iter().flatten().cloned().collect();
        findings.answers.extend(answer(first, other, &known));
        largest.extend((!known.is_empty()).then(|| (other.name, wording::largest_difference(&known))));
        compared.push((other, ratios));
    }
    if findings.answers.is_empty() {
        return None;
    }
    for (index, speed) in base.iter().enumerate() {
        let ratios: Vec<Option<&SpeedRatio>> =
            compared.iter().map(|(_, ratios)| ratios[index].as_ref()).collect();
        if ratios.iter().any(Option::is_some) {
            table.push(wording::cells(&speed.name, speed.unit, speed.value, &ratios));
        }
    }
    let rows: Vec<Row> = compared
        .iter()
        .flat_map(|(other, ratios)| ratios.iter().flatten().map(|ratio| table_row(first, other, ratio)))
        .collect();
    findings.summary = match &findings.answers[..] {
        [only] => wording::sentence(only),
        _ => wording::several(first.name, &largest),
    };
    findings.overview.table = Some(table);
    findings.overview.series = Some(SPEEDS.to_owned());
    findings.series.insert(SPEEDS.to_owned(), series(first, &compared));
    findings.tables.insert(SPEEDS.to_owned(), rows);
    Some(findings)
}

fn answer(first: &ComparedRun<'_>, other: &ComparedRun<'_>, ratios: &[SpeedRatio]) -> Option<Answer> {
    let largest = ratios.iter().max_by(|one, two| one.size().total_cmp(&two.size()))?;
    let is_clear = ratios.iter().any(|ratio| ratio.difference().is_clear());
    let standing = if is_clear { Standing::Info } else { Standing::Unknown };
    let question = wording::question(first.name, other.name);
    let answer = Answer::new("difference", question, wording::differences(ratios), standing);
    let mut answer = largest.ratio.put(answer, "×");
    answer.evidence = vec![wording::intervals(first.scatter().max(other.scatter()))];
    answer.caveats = other_settings(first, other).into_iter().collect();
    Some(answer)
}

/// A plan's only workload, without name and seed.
fn only_workload(run: &ComparedRun<'_>) -> Option<toml::Table> {
    let [only] = run.plan.options.get("workload")?.as_array()?.as_slice() else { return None };
    let mut workload = only.as_table()?.clone();
    workload.retain(|key, _| key != "name" && key != "seed");
    Some(workload)
}

/// Whether both ran a single workload with equal streams and lanes. fio's jobs may have any name.
fn is_renamed(first: &ComparedRun<'_>, other: &ComparedRun<'_>) -> bool {
    let shape_of =
        |run| only_workload(run).map(|workload| ["stream", "lanes"].map(|key| workload.get(key).cloned()));
    shape_of(first).is_some_and(|workload| Some(workload) == shape_of(other))
}

/// The settings that differ, if any.
fn other_settings(first: &ComparedRun<'_>, other: &ComparedRun<'_>) -> Option<String> {
    let (one, two) = (&first.plan.options, &other.plan.options);
    let keys = one.keys().chain(two.keys().filter(|key| !one.contains_key(*key)));
    let is_alike = |key: &str| {
        one.get(key) == two.get(key)
            || key == "workload"
                && only_workload(first).is_some_and(|workload| Some(workload) == only_workload(other))
    };
    let differing: Vec<&str> = keys.map(String::as_str).filter(|key| !is_alike(key)).collect();
    (!differing.is_empty()).then(|| wording::other_settings(&differing))
}

fn table_row(first: &ComparedRun<'_>, other: &ComparedRun<'_>, ratio: &SpeedRatio) -> Row {
    let difference = match ratio.difference() {
        Verdict::Below => "slower",
        Verdict::Above => "faster",
        Verdict::Alike => "same",
        Verdict::Unclear | Verdict::OnePass => "unclear",
    };
    Row::new()
        .with("speed", &ratio.name)
        .with("unit", ratio.unit)
        .with("first", first.name)
        .with("other", other.name)
        .with("first_per_s", ratio.values[0])
        .with("other_per_s", ratio.values[1])
        .with_estimate("ratio", Some(ratio.ratio))
        .with("difference", difference)
        .with("in_words", wording::difference(ratio))
}

fn series(first: &ComparedRun<'_>, compared: &[(&ComparedRun<'_>, Vec<Option<SpeedRatio>>)]) -> Series {
    let places = compared.iter().map(|(_, ratios)| ratios.len()).max().unwrap_or(0);
    let is_known = |place: &usize| compared.iter().any(|(_, ratios)| ratios[*place].is_some());
    let places: Vec<usize> = (0..places).filter(is_known).collect();
    let name = |place: &usize| {
        compared
            .iter()
            .find_map(|(_, ratios)| ratios[*place].as_ref())
            .map_or("", |ratio| ratio.name.as_str())
    };
    let line = |(other, ratios): &(&ComparedRun<'_>, Vec<Option<SpeedRatio>>)| {
        let at = |(x, place): (usize, &usize)| Some((x as f64, ratios[*place].as_ref()?.ratio));
        estimated_line(other.name, places.iter().enumerate().filter_map(at))
    };
    let ratio = Axis::new(wording::chart_axis(first.name), "×").logarithmic();
    let others: Vec<&str> = compared.iter().map(|(other, _)| other.name).collect();
    Series::new(wording::chart(first.name, &others), Shape::Bars, Axis::new(wording::CHART_X, ""), ratio)
        .categories(places.iter().map(name))
        .lines(compared.iter().map(line))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(options: &str) -> Plan {
        Plan::new("bench", None, 0, toml::from_str(options).unwrap())
    }

    fn bench(speeds: &[(&str, &str, f64)]) -> IndexMap<String, Vec<Row>> {
        let row = |(test, op, speed): &(&str, &str, f64)| {
            let row = json!({"test": test, "op": op, "bytes_per_s": speed, "bytes_per_s_low": speed * 0.99,
                "bytes_per_s_high": speed * 1.01});
            row.as_object().unwrap().clone()
        };
        IndexMap::from([("results".to_owned(), speeds.iter().map(row).collect())])
    }

    #[test]
    fn the_sentence_names_the_largest_differences_and_counts_the_rest() {
        let (plan, other_plan) = (plan("passes = 3"), plan("passes = 5"));
        let new = bench(&[
            ("SEQ", "read", 500e6),
            ("SEQ", "write", 400e6),
            ("RND", "write", 100e6),
            ("RND", "read", 50e6),
        ]);
        let used = bench(&[
            ("SEQ", "read", 501e6),
            ("SEQ", "write", 200e6),
            ("RND", "write", 10e6),
            ("OTHER", "read", 50e6),
        ]);
        let run = |name, plan, tables| ComparedRun {
            name,
            plan,
            kind: TargetKind::Simulated,
            is_virtual: false,
            tables,
        };
        let runs = [run("A", &plan, &new), run("B", &other_plan, &used)];
        let findings = compare(&runs).unwrap();
        assert_eq!(
            findings.summary,
            "B against A: RND write 10.0× slower, SEQ write 2.00× slower; the other speed is the same."
        );
        assert_eq!(findings.answers[0].caveats, ["They were measured with other settings: passes"]);
        let table = findings.overview.table.unwrap();
        assert_eq!(table.headings, ["", "A", "B", "difference"]);
        assert_eq!(table.rows.len(), 3, "what only one of them has is not compared");
        assert_eq!(table.rows[2].cells, ["RND write", "100 MB/s", "10.0 MB/s", "10.0× slower (9.86–10.1)"]);
        assert_eq!(findings.series[SPEEDS].lines[0].band.len(), 3);
        assert_eq!(findings.tables[SPEEDS][0]["difference"], "same");
    }

    #[test]
    fn several_runs_have_one_sentence() {
        let plan = plan("");
        let tables = [100e6, 50e6, 100e6, 1e3]
            .map(|speed| bench(&[("SEQ", "read", speed), ("RND", "read", 2.0 * speed)]));
        let names = ["new", "used", "restored", "slow"];
        let run = |(name, tables)| ComparedRun {
            name,
            plan: &plan,
            kind: TargetKind::Simulated,
            is_virtual: false,
            tables,
        };
        let runs: Vec<ComparedRun<'_>> = names.into_iter().zip(&tables).map(run).collect();
        let findings = compare(&runs).unwrap();
        assert_eq!(
            findings.summary,
            "Against new: used, SEQ read 2.00× slower and 1 more; restored, the same; slow, SEQ read 100,000× slower and 1 more."
        );
        assert_eq!(findings.answers.len(), 3);
        let table = findings.overview.table.unwrap();
        assert_eq!(table.headings, ["", "new", "used", "restored", "slow"]);
        assert_eq!(table.rows[0].cells[1..4], ["100 MB/s", "50.0 MB/s, 2.00× slower", "100 MB/s, same"]);
        assert_eq!(findings.series[SPEEDS].y.scale, likenew_core::findings::Scale::Log);
    }

    #[test]
    fn without_a_speed_in_common_there_is_nothing_to_say() {
        let plan = plan("");
        let (filled, empty) = (bench(&[("SEQ", "read", 1.0)]), IndexMap::new());
        let run = |tables| ComparedRun {
            name: "A",
            plan: &plan,
            kind: TargetKind::Device,
            is_virtual: false,
            tables,
        };
        assert_eq!(compare(&[run(&filled), run(&empty)]), None);
        assert_eq!(compare(&[run(&filled)]), None);
        assert_eq!(compare(&[]), None);
    }
}
