//! What mathematics says a translation layer must do: formulas that simulations are compared with, and that comparison.
//!
//! Each is a pure function of the division of the flash. Write amplification is pages programmed over pages
//! that the host wrote, in the steady state.

pub mod log;
pub mod page;
pub mod write_amplification;
