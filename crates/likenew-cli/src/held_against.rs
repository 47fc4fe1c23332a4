//! What the figures of a check are held against, found before it is run.

use likenew_core::facts::Facts;
use likenew_procedures::check::{CheckOptions, FigureName, OriginName, ReferenceOption};

use crate::aim::Aim;
use crate::arguments::{Keep, References};
use crate::exit::Failure;
use crate::known::{self, Known};
use crate::measure::archive_root;
use crate::{first, twin, usual};

/// What figures are held against: as typed, as the catalogue has it, as the twin does, as it did when it was checked first; and the twin's shapes.
/// False when somebody asked to stop.
pub(crate) fn hold_against(
    asked: &mut CheckOptions,
    said: &References,
    keep: &Keep,
    aim: &Aim,
) -> Result<bool, Failure> {
    let typed =
        said.advertised.iter().map(|promise| of(promise.figure, OriginName::Advertised, promise.per_s));
    let mut references: Vec<ReferenceOption> = typed.collect();
    let (read, write) = usual::advertised(aim)?;
    let promised = [(FigureName::Read, read), (FigureName::Write, write)];
    add_promised(&mut references, promised.into_iter().filter_map(|(figure, per_s)| Some((figure, per_s?))));
    let facts = known::facts_of(aim);
    let is_held = match facts.as_ref().and_then(known::of) {
        Some(known) => hold_against_known(&mut references, asked, known)?,
        None => hold_against_twin(&mut references, asked, aim)?,
    };
    if !is_held {
        return Ok(false);
    }
    hold_against_first(&mut references, asked, (said, keep), aim, facts.as_ref())?;
    asked.references = references;
    Ok(true)
}

fn of(figure: FigureName, origin: OriginName, per_s: f64) -> ReferenceOption {
    ReferenceOption { figure, origin, per_s, repeatability: 0.0 }
}

/// Where nothing else was typed; whether any of it is taken.
fn add_promised(
    references: &mut Vec<ReferenceOption>,
    promised: impl IntoIterator<Item = (FigureName, u64)>,
) -> bool {
    let typed = references.clone();
    let is_new = |(figure, _): &(FigureName, u64)| typed.iter().all(|known| known.figure != *figure);
    let before = references.len();
    references.extend(
        promised
            .into_iter()
            .filter(is_new)
            .map(|(figure, per_s)| of(figure, OriginName::Advertised, per_s as f64)),
    );
    references.len() > before
}

fn hold_against_twin(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    aim: &Aim,
) -> Result<bool, Failure> {
    let Some(twin) = twin::of(aim, asked)? else { return Ok(false) };
    references.extend(twin.figures.into_iter().map(|(figure, per_s)| of(figure, OriginName::Twin, per_s)));
    asked.usual = twin.shapes;
    Ok(true)
}

/// A real drive whose model is in the catalogue: its maker's figures, and a simulated drive of that model. Its shapes only excuse what it shows, so
/// that they are taken in a folder, too; what a file system adds to small writes nobody simulates, so that these are left out there.
fn hold_against_known(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    known: Known,
) -> Result<bool, Failure> {
    let Known { mut known_as, advertised, twin, is_in_a_file_system } = known;
    if !add_promised(references, advertised) {
        known_as.advertised_by = None;
    }
    asked.known_as = Some(known_as);
    let Some(answers) = twin::of_model(&twin, asked)? else { return Ok(false) };
    let figures = answers
        .figures
        .into_iter()
        .filter(|(figure, _)| !(is_in_a_file_system && *figure == FigureName::RandomWrite));
    references.extend(figures.map(|(figure, per_s)| of(figure, OriginName::ModelTwin, per_s)));
    asked.usual = answers.shapes;
    Ok(true)
}

fn hold_against_first(
    references: &mut Vec<ReferenceOption>,
    asked: &mut CheckOptions,
    (said, keep): (&References, &Keep),
    aim: &Aim,
    facts: Option<&Facts>,
) -> Result<(), Failure> {
    let root = archive_root(keep.archive.as_deref()).ok();
    if let Some(first) = first::of(said.against.as_ref(), root.as_deref(), aim, facts, asked)? {
        references.extend(first.references);
        asked.first_checked = Some(first.began);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_not_replaced() {
        let mut references = vec![of(FigureName::Read, OriginName::Advertised, 1e6)];
        let promised = [(FigureName::Read, 2_000_000), (FigureName::Write, 3_000_000)];
        assert!(add_promised(&mut references, promised));
        let [read, write] = references[..] else { panic!("{references:?}") };
        assert_eq!((read.per_s, write.per_s), (1e6, 3e6));
        assert!(!add_promised(&mut references, promised), "nothing is left to add");
    }
}
