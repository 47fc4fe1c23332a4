//! A network volume of a cloud, layer by layer.

mod credit_bucket;
mod io_counter;
pub(crate) mod network_volume;
pub mod volume_parameters;
