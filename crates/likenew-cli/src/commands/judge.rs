//! `likenew judge RUN`: the same evidence, judged anew.

use likenew_archive::Record;
use likenew_procedures::all;

use crate::arguments::Judge;
use crate::exit::{Exit, Failure};
use crate::measure::document;
use crate::output;
use crate::watched;

pub(crate) fn run(command: &Judge) -> Result<Exit, Failure> {
    let record = Record::open(&command.run).map_err(anyhow::Error::new)?;
    record.notes.iter().for_each(|note| anstream::eprintln!("likenew: {note}"));
    if watched::is_log(&record) {
        output::put(vec![watched::judge(&record)?], &command.output)?;
        return Ok(Exit::Fine);
    }
    let evidence = record.evidence();
    let procedure = all::from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let findings = all::judge(&*procedure, &evidence);
    let exit = if findings.found_problem() { Exit::Problem } else { Exit::Fine };
    output::put(vec![document(&evidence, findings, record.header.machine.instrument)], &command.output)?;
    Ok(exit)
}
