//! What a head does with sectors.

/// What a head does with sectors. Before a write it has to settle more than before a read, so data sheets
/// give separate seek times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}
