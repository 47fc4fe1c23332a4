//! `likenew check`.

use likenew_core::plan::Plan;
use likenew_procedures::check::{CheckOptions, FigureName, OriginName, ReferenceOption};

use crate::aim::Aim;
use crate::arguments::Check;
use crate::exit::{Exit, Failure};
use crate::measure::{ask, options};
use crate::{twin, usual};

/// What may only be read is only read, so nothing is refused here.
pub(crate) fn run(command: Check) -> Result<Exit, Failure> {
    ask(&command.on, &command.how, false, |aim| plan(&command, aim))
}

fn plan(command: &Check, aim: &Aim) -> Result<Plan, Failure> {
    let mut asked =
        CheckOptions { bytes: command.bytes, thorough: command.thorough, ..CheckOptions::default() };
    if aim.is_folder() {
        // The file for it has to fit.
        let area = asked.area(aim.usable_bytes()?);
        asked.bytes = Some(area * CheckOptions::PARTS);
    }
    hold_against(&mut asked, command, aim)?;
    Ok(command.on.plan_of("check", options(&asked)))
}

/// What figures are held against: as typed, as the catalogue has it, as the twin does; and the twin's shapes.
fn hold_against(asked: &mut CheckOptions, command: &Check, aim: &Aim) -> Result<(), Failure> {
    let of = |figure, origin, per_s| ReferenceOption { figure, origin, per_s };
    let typed =
        command.advertised.iter().map(|promise| of(promise.figure, OriginName::Advertised, promise.per_s));
    let mut references: Vec<ReferenceOption> = typed.collect();
    let (read, write) = usual::advertised(aim)?;
    for (figure, per_s) in [(FigureName::Read, read), (FigureName::Write, write)] {
        let is_typed = references.iter().any(|known| known.figure == figure);
        references.extend(
            per_s.filter(|_| !is_typed).map(|per_s| of(figure, OriginName::Advertised, per_s as f64)),
        );
    }
    if let Some(twin) = twin::of(aim, asked)? {
        references
            .extend(twin.figures.into_iter().map(|(figure, per_s)| of(figure, OriginName::Twin, per_s)));
        asked.usual = twin.shapes;
    }
    asked.references = references;
    Ok(())
}
