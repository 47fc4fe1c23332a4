//! What the figures of a check are held against, found before it is run.

use likenew_procedures::check::{CheckOptions, FigureName, OriginName, ReferenceOption};

use crate::aim::Aim;
use crate::arguments::{Keep, References};
use crate::exit::Failure;
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
    let of = |figure, origin, per_s| ReferenceOption { figure, origin, per_s };
    let typed =
        said.advertised.iter().map(|promise| of(promise.figure, OriginName::Advertised, promise.per_s));
    let mut references: Vec<ReferenceOption> = typed.collect();
    let (read, write) = usual::advertised(aim)?;
    for (figure, per_s) in [(FigureName::Read, read), (FigureName::Write, write)] {
        let is_typed = references.iter().any(|known| known.figure == figure);
        references.extend(
            per_s.filter(|_| !is_typed).map(|per_s| of(figure, OriginName::Advertised, per_s as f64)),
        );
    }
    let Some(twin) = twin::of(aim, asked)? else { return Ok(false) };
    references.extend(twin.figures.into_iter().map(|(figure, per_s)| of(figure, OriginName::Twin, per_s)));
    asked.usual = twin.shapes;
    let root = archive_root(keep.archive.as_deref()).ok();
    if let Some(first) = first::of(said.against.as_ref(), root.as_deref(), aim, asked)? {
        references
            .extend(first.figures.into_iter().map(|(figure, per_s)| of(figure, OriginName::FirstRun, per_s)));
        asked.first_checked = Some(first.began);
    }
    asked.references = references;
    Ok(true)
}
