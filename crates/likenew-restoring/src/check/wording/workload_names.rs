//! Names of the workloads of a check, by which they are found in its evidence.

pub(in crate::check) const QUIET: &str = "idle before start";
pub(in crate::check) const PLACE: &str = "region";
pub(in crate::check) const PLACE_REPEAT: &str = "region again";
pub(in crate::check) const OLD: &str = "old file";
pub(in crate::check) const SMALL_READS: &str = "random reads";
pub(in crate::check) const NEAR_READS: &str = "random reads, narrow span";
pub(in crate::check) const DEEP_READS: &str = "random reads QD32";
pub(in crate::check) const PAUSED_READS: &str = "random reads with pauses";
pub(in crate::check) const LOAD: &str = "sustained reads";
pub(in crate::check) const COOL: &str = "idle after reads";
pub(in crate::check) const LOAD_AFTER_IDLE: &str = "sequential reads after idle";
pub(in crate::check) const WRITES: &str = "sequential writes";
pub(in crate::check) const IDLE_BEFORE_READS: &str = "idle before reading new data";
pub(in crate::check) const FRESH: &str = "reads of new data";
pub(in crate::check) const FRESH_SMALL: &str = "random reads of new data";
pub(in crate::check) const UNWRITTEN_READS: &str = "reads of old data";
pub(in crate::check) const SMALL_WRITES: &str = "random writes";
pub(in crate::check) const SHIFTED_WRITES: &str = "random writes shifted by";
pub(in crate::check) const ALIGNED_REPEAT: &str = "0 again";
pub(in crate::check) const IDLE_AFTER_WRITES: &str = "idle after writes";
pub(in crate::check) const RESTED_WRITES: &str = "writes after idle";
pub(in crate::check) const AFTER_TRIM: &str = "idle after TRIM";
pub(in crate::check) const TRIMMED_WRITES: &str = "writes after TRIM";
pub(in crate::check) const ZEROS: &str = "zeros";
pub(in crate::check) const AFTER_ZEROS: &str = "writes after zeros";
pub(in crate::check) const SLOW_WRITES: &str = "writes at half the rate";
