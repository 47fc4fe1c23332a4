//! How much of a file system may be used, and how much must stay free.

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::target_error::TargetError;
use rustix::fs::{StatVfs, StatVfsMountFlags, fstatvfs, statvfs};
use rustix::io::Errno;

use crate::target_error::{ErrorContext as _, not_possible};
use crate::wording::{action, target as wording};

/// The default reserve is one part in this many of the file system's size.
const RESERVE_PART: u64 = 20;
/// The default reserve is at least this many bytes.
const RESERVE_BYTES_MIN: u64 = 64 << 20;
/// The default reserve is at most this many bytes.
const RESERVE_BYTES_MAX: u64 = 8 << 30;
/// The default reserve is at most one part in this many of the free space, so that a nearly full file system can be measured.
const RESERVE_FREE_PART: u64 = 2;

/// The space of a file system in bytes, as the system reports it (statvfs(3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceUsage {
    /// Size of the file system.
    pub(crate) total_bytes: u64,
    /// Free, root's reserve included.
    pub(crate) free_bytes: u64,
    /// Free for an ordinary user.
    pub(crate) available_bytes: u64,
}

impl From<StatVfs> for SpaceUsage {
    fn from(usage: StatVfs) -> Self {
        let [total_bytes, free_bytes, available_bytes] = [usage.f_blocks, usage.f_bfree, usage.f_bavail]
            .map(|blocks| blocks.saturating_mul(usage.f_frsize));
        Self { total_bytes, free_bytes, available_bytes }
    }
}

/// The space of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system.
    pub total_bytes: u64,
    /// Bytes that an ordinary user may still write.
    pub free_bytes: u64,
    /// Bytes that are never filled. The default is 5 % of the file system, at least 64 MiB, and at most 8 GiB
    /// or half of the free space.
    pub reserve_bytes: u64,
    /// Bytes that may be filled: free space without the reserve.
    pub usable_bytes: u64,
    /// Whether the file system is mounted read-only.
    pub is_read_only: bool,
}

impl Space {
    /// The space of the file system that holds `fd`.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn query(fd: impl AsFd, path: &Path, reserve: Option<u64>) -> Result<Self, TargetError> {
        let usage = fstatvfs(fd).context(action::ask_free_space(path.display()))?;
        let is_read_only = usage.f_flag.contains(StatVfsMountFlags::RDONLY);
        let SpaceUsage { total_bytes, available_bytes, .. } = usage.into();
        Ok(Self { is_read_only, ..Self::new(total_bytes, available_bytes, reserve) })
    }

    fn new(total_bytes: u64, free_bytes: u64, reserve: Option<u64>) -> Self {
        let most = RESERVE_BYTES_MAX.min(free_bytes / RESERVE_FREE_PART).max(RESERVE_BYTES_MIN);
        let default_bytes = (total_bytes / RESERVE_PART).clamp(RESERVE_BYTES_MIN, most);
        let reserve_bytes = reserve.unwrap_or(default_bytes);
        Self {
            total_bytes,
            free_bytes,
            reserve_bytes,
            usable_bytes: free_bytes.saturating_sub(reserve_bytes),
            is_read_only: false,
        }
    }

    /// Bytes that may be written to the folder `path`; never 0.
    ///
    /// # Errors
    /// A refusal with what to do: its file system is mounted read-only, or no more than the reserve is free.
    pub fn writable_bytes(&self, path: &Path) -> Result<u64, TargetError> {
        if self.is_read_only {
            return Err(not_possible(action::WRITE_TO, path, Errno::ROFS));
        }
        if self.usable_bytes == 0 {
            return Err(TargetError::Refused(wording::no_space(path, self.free_bytes, self.reserve_bytes)));
        }
        Ok(self.usable_bytes)
    }

    /// Whether `bytes` more may be written to the folder `path`.
    ///
    /// # Errors
    /// A refusal with the numbers and what to do.
    pub fn check(&self, bytes: u64, path: &Path) -> Result<(), TargetError> {
        if bytes <= self.usable_bytes && !self.is_read_only {
            return Ok(());
        }
        self.writable_bytes(path)?;
        Err(TargetError::Refused(wording::does_not_fit(
            path,
            bytes,
            self.free_bytes,
            self.reserve_bytes,
            self.usable_bytes,
        )))
    }
}

/// The size of the file system that holds `path`; `None` if the system does not say.
pub fn total_bytes(path: &Path) -> Option<u64> {
    Some(SpaceUsage::from(statvfs(path).ok()?).total_bytes)
}

/// Bytes in use on the file system that holds `path`; `None` if the system does not say.
pub fn used_bytes(path: &Path) -> Option<u64> {
    let usage = SpaceUsage::from(statvfs(path).ok()?);
    Some(usage.total_bytes.saturating_sub(usage.free_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_has_its_share_and_its_bounds() {
        const GIB: u64 = 1 << 30;
        let reserve = |total, given| Space::new(total, total, given).reserve_bytes;
        assert_eq!(reserve(100 * GIB, None), 5 * GIB);
        assert_eq!(reserve(GIB / 8, None), 64 << 20);
        assert_eq!(reserve(4096 * GIB, None), 8 * GIB);
        assert_eq!(reserve(4096 * GIB, Some(1)), 1);
        assert_eq!(Space::new(GIB, 1000, None).usable_bytes, 0);
        assert_eq!(Space::new(512 * GIB, 5 * GIB, None).usable_bytes, 5 * GIB / 2, "nearly full");
    }

    #[test]
    fn a_refusal_has_the_numbers() {
        let space = Space::new(1 << 30, 100 << 20, None);
        assert!(space.check(36 << 20, Path::new("/x")).is_ok());
        let text = space.check((36 << 20) + 1, Path::new("/x")).unwrap_err().to_string();
        assert!(
            ["100 MiB", "64 MiB", "36 MiB", "/x", "smaller --reserve"].iter().all(|word| text.contains(word)),
            "{text}"
        );
    }

    #[test]
    fn no_room_beside_the_reserve_is_refused_with_both() {
        for (free, words) in
            [(40 << 20, "40 MiB are free, and 64 MiB"), (64 << 20, "64 MiB are free, and 64 MiB")]
        {
            let space = Space::new(free, free, None);
            for refusal in
                [space.writable_bytes(Path::new("/x")).err(), space.check(1, Path::new("/x")).err()]
            {
                let text = refusal.expect("it has no room").to_string();
                assert!(text.contains(words) && text.contains("smaller --reserve"), "{text}");
            }
        }
    }
}
