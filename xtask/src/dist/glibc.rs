//! Which C library a binary needs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use xshell::{Shell, cmd};

/// The libraries of the package `libc6`.
const OF_LIBC: [&str; 6] =
    ["ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"];

/// The library of the package `libgcc-s1`.
const OF_GCC: &str = "libgcc_s.so.1";

/// A version of glibc, such as 2.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// What a binary needs of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// The oldest glibc that has all symbols.
    pub(super) glibc: Version,
    /// GCC's library, which most systems have and a build with zig does not need.
    pub(super) gcc: bool,
}

impl Needs {
    /// Of a binary.
    ///
    /// # Errors
    /// It needs a library that not every system has.
    pub(super) fn of(sh: &Shell, binary: &Path) -> anyhow::Result<Self> {
        let headers = cmd!(sh, "objdump --private-headers {binary}").quiet().read()?;
        let libraries: Vec<&str> =
            headers.lines().filter_map(|line| Some(line.trim().strip_prefix("NEEDED")?.trim())).collect();
        let is_known = |library: &&str| OF_LIBC.contains(library) || *library == OF_GCC;
        if let Some(other) = libraries.iter().find(|library| !is_known(library)) {
            anyhow::bail!("{} needs {other}, which not every system has", binary.display());
        }
        let symbols = cmd!(sh, "objdump --dynamic-syms {binary}").quiet().read()?;
        let glibc = versions(&symbols).last().copied();
        let glibc = glibc.with_context(|| format!("{} names no glibc", binary.display()))?;
        Ok(Self { glibc, gcc: libraries.contains(&OF_GCC) })
    }

    /// As the control file of a Debian package lists it.
    pub(super) fn packages(self) -> String {
        let gcc = if self.gcc { ", libgcc-s1" } else { "" };
        format!("libc6 (>= {}){gcc}", self.glibc)
    }
}

/// Every version of glibc that a list of symbols names.
fn versions(symbols: &str) -> BTreeSet<Version> {
    let named = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let number = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut parts = number.split('.').map(str::parse);
        Some(Version(parts.next()?.ok()?, parts.next()?.ok()?))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.9) pipe2\n0000 DF *UND* 0000 (GLIBC_2.28) statx\n\
                       0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* 0000 (GLIBC_PRIVATE) x";
        assert_eq!(
            versions(symbols).into_iter().collect::<Vec<_>>(),
            [Version(2, 2), Version(2, 9), Version(2, 28)]
        );
        assert!(Version(2, 9) < Version(2, 31));
    }
}
