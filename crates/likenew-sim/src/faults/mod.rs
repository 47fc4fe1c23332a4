//! What can be wrong with a drive, around whatever mechanism it has.

pub mod fault_parameters;
pub(crate) mod faulty;
pub(crate) mod neighbour;
