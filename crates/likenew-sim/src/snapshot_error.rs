//! Why a saved drive cannot be read back.

use likenew_core::units::amount;

/// What its file is instead, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SnapshotError {
    #[error("it is not a saved drive: make one with likenew sim save")]
    NotSaved,
    #[error("it ends in its header: save it again")]
    ShortHeader,
    #[error("it was saved by version {version}, which {reader} cannot read: save it again")]
    OtherVersion { version: String, reader: &'static str },
    #[error("its state is damaged ({0}): save it again")]
    BadState(String),
    #[error("its state unpacks to more than {}, and no drive of its model holds more: save it again", amount(*.bytes_max))]
    LargeState { bytes_max: u64 },
    #[error("it holds no such drive ({0}): save it again")]
    OtherDrive(#[from] postcard::Error),
}
