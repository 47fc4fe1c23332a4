//! What theory says a translation layer does, to hold the simulation against.

pub mod log;
