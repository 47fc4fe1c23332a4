//! Faults of a drive, around whatever mechanism it has.

pub mod drive_faults;
pub(crate) mod faulty_device;
pub(crate) mod neighbor;
mod wording;
