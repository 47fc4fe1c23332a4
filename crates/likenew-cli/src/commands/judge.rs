//! `likenew judge RUN`: judges the same evidence again.

use likenew_archive::Record;
use likenew_procedures::all;

use crate::arguments::Judge;
use crate::exit::{Exit, Failure};
use crate::run_report::RunReport;
use crate::{output, watch_session, wording};

pub(crate) fn run(command: &Judge) -> Result<Exit, Failure> {
    let mut record = Record::open(&command.run)?;
    record.notes.iter().for_each(|note| crate::standard_error::note(wording::error(note)));
    if watch_session::is_log(&record) {
        output::put(vec![watch_session::judge(&record)?], &command.output)?;
        return Ok(Exit::Fine);
    }
    let evidence = record.take_evidence();
    let procedure = all::from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let findings = all::judge(&*procedure, &evidence);
    let exit = if findings.found_problem() { Exit::Problem } else { Exit::Fine };
    let (instrument, folder) = (record.header.machine.instrument, Some(record.path));
    let report = RunReport::new(evidence, findings, instrument, folder);
    RunReport::show(vec![report], None, &command.output, &output::same_command(), false)?;
    Ok(exit)
}
