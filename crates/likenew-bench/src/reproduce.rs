//! Measures simulated drives as five studies measured real ones, and writes
//! `docs/explanation/reproduction.md`.
//!
//! Published values of new drives are compared with the simulated ones; the results for used drives are
//! printed as predictions. Everything runs in virtual time, so the page is the same on every machine.

mod compression;
mod draws;
mod file_list;
mod lab;
mod new_and_used;
mod page;
mod predictions;
mod reconditioning;
mod request_sizes;
mod to_ssd_or_not;

use std::path::PathBuf;

use anyhow::Context as _;

use crate::root;
use lab::{Lab, STAND_IN};
use page::{PublishedFigure, published_table};
use predictions::Effort;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only this study, printed instead of written to docs/explanation/reproduction.md
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5))]
    study: Option<u32>,
    /// Small spans and drives, printed: shows that everything works, not the results
    #[arg(long)]
    quick: bool,
    /// Only the predictions, as intervals over what is not known of the drives
    #[arg(long, conflicts_with = "study")]
    predictions: bool,
    /// Predictions of drives whose name contains this, printed instead of written
    #[arg(long, value_name = "NAME", requires = "predictions")]
    drive: Option<String>,
    /// Draws of each drive for the predictions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(10..=4096))]
    draws: Option<u16>,
}

/// One study.
struct Study {
    number: u32,
    title: &'static str,
    /// Source of its values, and how they were measured.
    source: &'static str,
    published: &'static [PublishedFigure],
    run: fn(Lab) -> anyhow::Result<Section>,
}

/// The results of a study.
struct Section {
    /// For each published value, the simulated one; `None` if the catalog has no such drive.
    simulated: Vec<Option<f64>>,
    /// Remarks on both, in Markdown.
    note: &'static str,
    /// The rest, in Markdown.
    predictions: String,
}

const STUDIES: [Study; 5] = [
    reconditioning::STUDY,
    compression::STUDY,
    new_and_used::STUDY,
    to_ssd_or_not::STUDY,
    request_sizes::STUDY,
];

/// Runs the studies and writes or prints the results.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let lab = Lab { quick: options.quick };
    if options.study.is_none() {
        predict(options)?;
    }
    if options.predictions {
        return Ok(());
    }
    let mut text = String::new();
    for study in STUDIES.iter().filter(|study| options.study.is_none_or(|number| number == study.number)) {
        eprintln!("study {}: {}", study.number, study.title);
        text += &study.page(lab).with_context(|| format!("study {} failed", study.number))?;
    }
    if options.quick || options.study.is_some() {
        if options.quick {
            println!(
                "A quick run, with {STAND_IN} in place of drives that take long to age: these are no results."
            );
        }
        println!("{text}");
        return Ok(());
    }
    let path = file();
    std::fs::write(&path, format!("{}{text}", head())).with_context(|| path.display().to_string())?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Writes or prints the predictions.
fn predict(options: &Options) -> anyhow::Result<()> {
    let effort = if options.quick { Effort::QUICK } else { Effort::WHOLE };
    let draws = options.draws.map_or(effort.draws, usize::from);
    eprintln!("predictions");
    let names: Vec<&'static str> = predictions::drives()
        .into_iter()
        .filter(|name| options.drive.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())))
        .collect();
    anyhow::ensure!(!names.is_empty(), "no drive of the predictions has such a name");
    let path = root().join("docs/explanation/predictions.md");
    let is_shown = options.quick || options.drive.is_some();
    let text = predictions::page(Effort { draws, ..effort }, &names, |text| {
        if is_shown {
            Ok(())
        } else {
            std::fs::write(&path, text).with_context(|| path.display().to_string())
        }
    })?;
    if is_shown {
        let warning = if options.quick { "A quick run: these are no results.\n" } else { "" };
        println!("{warning}{text}");
        return Ok(());
    }
    println!("wrote {}", path.display());
    Ok(())
}

/// Path of the page.
fn file() -> PathBuf {
    root().join("docs/explanation/reproduction.md")
}

fn head() -> String {
    format!(
        "# Five studies, reproduced on simulated drives\n\n\
         Made by `cargo xtask reproduce` of likenew {}; do not edit it by hand. Each study is repeated on the drives of \
         [the catalog](../../catalog/README.md) by the loop that `likenew` itself uses. All time is the drives' own, so \
         the page comes out the same everywhere.\n\n\
         **Published** figures are of new drives. Of hard disks and the OCZ Core, parameters were chosen to agree with them, \
         and the drive's file says so. The other flash drives follow from how they are built, and their assumed \
         parameters state a range: [predictions.md](predictions.md) has each figure as an interval over all of them, and \
         what decides it. Everything of used drives is a **prediction**: no parameter was chosen to agree with any of it.\n",
        env!("CARGO_PKG_VERSION")
    )
}

impl Study {
    fn page(&self, lab: Lab) -> anyhow::Result<String> {
        let Section { simulated, note, predictions } = (self.run)(lab)?;
        Ok(format!(
            "\n## Study {}: {}\n\n{}\n\n{}\n{note}### Predictions\n\n{}\n",
            self.number,
            self.title,
            self.source,
            published_table(self.published, &simulated),
            predictions.trim_end()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_of_every_study_works_and_shows_what_was_published() {
        for study in STUDIES {
            let page = study.page(Lab { quick: true }).unwrap();
            for row in study.published {
                assert!(page.contains(&row.cells()), "{page}\nlacks {}", row.cells());
            }
            assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        }
    }

    #[test]
    fn a_quick_run_repeats_itself_to_the_byte() {
        let page = || STUDIES[0].page(Lab { quick: true }).unwrap();
        assert_eq!(page(), page());
    }

    #[test]
    fn the_page_prints_the_figures_of_the_code() {
        let text = std::fs::read_to_string(file()).unwrap();
        assert!(text.starts_with(&head()), "the page was made by another version: run cargo xtask reproduce");
        let studies = text.split("\n## Study ").skip(1);
        assert_eq!(studies.clone().count(), STUDIES.len());
        for (study, page) in STUDIES.iter().zip(studies) {
            assert!(page.starts_with(&format!("{}: {}", study.number, study.title)));
            let table = page.split("### Predictions").next().unwrap();
            let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
            assert_eq!(rows.len(), study.published.len(), "study {}", study.number);
            for (row, published) in rows.iter().zip(study.published) {
                assert!(row.starts_with(&published.cells()), "{row} is not {}", published.cells());
            }
        }
    }
}
