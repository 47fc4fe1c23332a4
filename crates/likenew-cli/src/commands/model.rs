//! `likenew model`, and the rated speeds to compare it with.

use clap::Args;
use likenew_procedures::model::ModelOptions;

use super::{Command, Measured};
use crate::exit::{Exit, Result};
use crate::measure::measure_with;
use crate::references::SequentialRates;
use crate::resolved_target::Access;

/// Fit an access time model: seek, throughput, parallelism
#[derive(Debug, Args)]
pub(crate) struct Model {
    #[command(flatten)]
    pub(crate) measured: Measured<ModelOptions, SequentialRates>,
}

impl Command for Model {
    fn run(self) -> Result<Exit> {
        let access = Access::writing(self.measured.writes());
        measure_with(&self.measured.arguments, "model", access, |target| {
            let (read, write) = self.measured.more.or_own(target)?;
            let mut options = self.measured.options(target)?;
            (options.advertised_read_bytes_per_s, options.advertised_write_bytes_per_s) = (read, write);
            Ok(options)
        })
    }
}
