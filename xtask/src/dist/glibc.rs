//! Which C library a binary needs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context as _;
use xshell::{Shell, cmd};

/// The libraries of the package `libc6`; what needs another one does not run everywhere.
const OF_LIBC: [&str; 6] =
    ["ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"];

/// A version of glibc, such as 2.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The oldest version that has all symbols.
///
/// # Errors
/// The binary needs a library outside of glibc.
pub(super) fn needed(sh: &Shell, binary: &Path) -> anyhow::Result<Version> {
    let headers = cmd!(sh, "objdump --private-headers {binary}").quiet().read()?;
    let libraries = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
    if let Some(other) = libraries.map(str::trim).find(|library| !OF_LIBC.contains(library)) {
        anyhow::bail!("{} needs {other}, which not every system has", binary.display());
    }
    let symbols = cmd!(sh, "objdump --dynamic-syms {binary}").quiet().read()?;
    versions(&symbols).last().copied().with_context(|| format!("{} names no glibc", binary.display()))
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
