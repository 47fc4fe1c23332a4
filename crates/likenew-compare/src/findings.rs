//! Makes findings from the speeds of several runs.

use likenew_core::findings::{
    Answer, Axis, Estimate, Findings, Line, OverviewTable, Row, Series, Shape, Standing,
};
use likenew_core::row;

use crate::speed::{ratio_of, speeds};
use crate::speed_ratio::{ComparedRun, Difference, SpeedRatio};
use crate::wording;

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
        let ratio = |speed: &crate::speed::Speed| {
            let is_same = |candidate: &crate::speed::Speed| {
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
    let is_clear = ratios.iter().any(|ratio| ratio.difference() != Difference::Unclear);
    let standing = if is_clear { Standing::Info } else { Standing::Unknown };
    let question = wording::question(first.name, other.name);
    let mut answer = Answer::new("difference", question, wording::differences(ratios), standing);
    answer.estimate =
        Some(Estimate { value: largest.ratio, low: largest.low, high: largest.high, unit: "×".into() });
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
    row! {
        speed: &ratio.name,
        unit: ratio.unit,
        first: first.name,
        other: other.name,
        first_per_s: ratio.values[0],
        other_per_s: ratio.values[1],
        ratio: ratio.ratio,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        difference: ratio.difference(),
        in_words: wording::difference(ratio),
    }
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
        let at = |(x, place): (usize, &usize)| Some((x as f64, ratios[*place].as_ref()?));
        let known: Vec<(f64, &SpeedRatio)> = places.iter().enumerate().filter_map(at).collect();
        Line::new(other.name, known.iter().map(|(x, ratio)| [*x, ratio.ratio]).collect())
            .band(known.iter().map(|(x, ratio)| [*x, ratio.low, ratio.high]).collect())
    };
    let ratio = Axis::new(wording::chart_axis(first.name), "×").logarithmic();
    let others: Vec<&str> = compared.iter().map(|(other, _)| other.name).collect();
    Series::new(wording::chart(first.name, &others), Shape::Bars, Axis::new(wording::CHART_X, ""), ratio)
        .categories(places.iter().map(name))
        .lines(compared.iter().map(line))
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use likenew_core::drive::TargetKind;
    use likenew_core::procedure::Plan;
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
