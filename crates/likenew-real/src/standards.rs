//! Decoders of drives' answers: one module per standard, and the only place that knows where a field is in an
//! answer.
//!
//! An answer is bytes of a drive, which may be short, empty or wrong. A decoder gives a value or nothing; it
//! never panics.

pub(crate) mod ata;
pub(crate) mod bytes;
pub(crate) mod nvme;
pub(crate) mod sanitize;
pub(crate) mod scsi;
