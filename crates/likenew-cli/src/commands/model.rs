//! `likenew model`, and the rated speeds to compare it with.

use clap::Args;
use likenew_procedures::fit::Options as _;
use likenew_procedures::model::ModelOptions;

use super::{ChosenOptions, Command};
use crate::arguments::TargetArguments;
use crate::exit::{Exit, Result};
use crate::measure::{Request, measure, options as settings};
use crate::references::SequentialRates;
use crate::resolved_target::Access;

/// Fit an access time model: seek, throughput, parallelism
#[derive(Debug, Args)]
pub(crate) struct Model {
    #[command(flatten)]
    chosen: ChosenOptions,
    #[command(flatten)]
    options: ModelOptions,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    arguments: TargetArguments,
}

impl Command for Model {
    fn run(self) -> Result<Exit> {
        let writes = self.options.writes(&|key| self.chosen.has(key));
        let access = if writes { Access::Write } else { Access::Read };
        measure(Request::for_target(&self.arguments, access), |target| {
            let (read, write) = self.rated.or_own(&target.resolved)?;
            let mut options = self.chosen.fitted(&self.options, &target.resolved)?;
            (options.advertised_read_bytes_per_s, options.advertised_write_bytes_per_s) = (read, write);
            Ok(self.arguments.plan_of("model", settings(&options)))
        })
    }
}
