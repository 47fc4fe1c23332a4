//! Finds the references of a check before it runs.

use likenew_procedures::check::{CheckOptions, Metric, Origin, RatedMetrics, ReferenceOption};

use crate::arguments::{ArchiveArguments, ReferenceArguments};
use crate::catalog_match::{self, CatalogDrive};
use crate::exit::Failure;
use crate::measure::archive_root;
use crate::resolved_target::{ResolvedTarget, TargetFacts};
use crate::{defaults, saved_baseline, simulated_baseline};

/// Adds references by source: typed rates, catalog, simulated new drive, baseline; and the simulated drive's
/// indicators. False if the user stopped it.
pub(crate) fn add_references(
    asked: &mut CheckOptions,
    reference_arguments: &ReferenceArguments,
    archive_arguments: &ArchiveArguments,
    resolved_target: &ResolvedTarget,
) -> Result<bool, Failure> {
    let typed = reference_arguments
        .advertised
        .iter()
        .flat_map(|RatedMetrics(rated)| rated)
        .map(|rated| reference_option(rated.metric, Origin::Advertised, rated.per_s));
    let mut references: Vec<ReferenceOption> = typed.collect();
    let (read, write) = defaults::advertised_rates(resolved_target)?;
    let rated_metrics = [(Metric::SequentialRead, read), (Metric::SequentialWrite, write)];
    add_rated(
        &mut references,
        rated_metrics.into_iter().filter_map(|(metric, per_s)| Some((metric, per_s?))),
    );
    let facts = resolved_target.facts();
    let is_held = match facts.as_ref().and_then(|known| catalog_match::find(&known.facts)) {
        Some(known) => add_simulated_model(&mut references, asked, known)?,
        None => add_simulated(&mut references, asked, resolved_target)?,
    };
    if !is_held {
        return Ok(false);
    }
    add_baseline(&mut references, asked, (reference_arguments, archive_arguments), facts.as_ref())?;
    asked.references = references;
    Ok(true)
}

fn reference_option(metric: Metric, origin: Origin, per_s: f64) -> ReferenceOption {
    ReferenceOption { metric, origin, per_s, repeatability: 0.0 }
}

/// Adds rated speeds of metrics without a typed one; returns whether there were any.
fn add_rated(
    references: &mut Vec<ReferenceOption>,
    rated_metrics: impl IntoIterator<Item = (Metric, u64)>,
) -> bool {
    let typed = references.clone();
    let is_new = |(metric, _): &(Metric, u64)| typed.iter().all(|known| known.metric != *metric);
    let before = references.len();
    references.extend(
        rated_metrics
            .into_iter()
            .filter(is_new)
            .map(|(metric, per_s)| reference_option(metric, Origin::Advertised, per_s as f64)),
    );
    references.len() > before
}

fn add_simulated(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    resolved_target: &ResolvedTarget,
) -> Result<bool, Failure> {
    let Some(simulation) = simulated_baseline::measure(resolved_target, asked)? else { return Ok(false) };
    references.extend(
        simulation
            .metrics
            .into_iter()
            .map(|(metric, per_s)| reference_option(metric, Origin::Simulated, per_s)),
    );
    asked.normal = simulation.indicators;
    Ok(true)
}

/// For a real drive whose model is in the catalog: its rated speeds, and a simulated drive of that model. Its
/// indicators only excuse what the real drive shows, so they are used in a folder, too; small writes are left
/// out there, because the simulation does not model the file system.
fn add_simulated_model(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    known: CatalogDrive,
) -> Result<bool, Failure> {
    let CatalogDrive { mut catalog_match, advertised, simulation, is_in_a_file_system } = known;
    if !add_rated(references, advertised) {
        catalog_match.advertised_by = None;
    }
    asked.catalog_match = Some(catalog_match);
    let Some(answers) = simulated_baseline::of_model(&simulation, asked)? else { return Ok(false) };
    let metrics = answers
        .metrics
        .into_iter()
        .filter(|(metric, _)| !(is_in_a_file_system && *metric == Metric::RandomWrite));
    references.extend(metrics.map(|(metric, per_s)| reference_option(metric, Origin::SimulatedModel, per_s)));
    asked.normal = answers.indicators;
    Ok(true)
}

fn add_baseline(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    (reference_arguments, archive_arguments): (&ReferenceArguments, &ArchiveArguments),
    facts: Option<&TargetFacts>,
) -> Result<(), Failure> {
    let root = archive_root(archive_arguments.archive.as_deref()).ok();
    let baseline = reference_arguments.baseline.as_ref();
    if let Some(first) = saved_baseline::find(baseline, root.as_deref(), facts, asked)? {
        references.extend(first.references);
        asked.baseline_date = Some(first.started_at);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_not_replaced() {
        let mut references = vec![reference_option(Metric::SequentialRead, Origin::Advertised, 1e6)];
        let rated_metrics = [(Metric::SequentialRead, 2_000_000), (Metric::SequentialWrite, 3_000_000)];
        assert!(add_rated(&mut references, rated_metrics));
        let [read, write] = references[..] else { panic!("{references:?}") };
        assert_eq!((read.per_s, write.per_s), (1e6, 3e6));
        assert!(!add_rated(&mut references, rated_metrics), "nothing is left to add");
    }
}
