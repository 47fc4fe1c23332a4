//! What serves as swap, as the kernel lists it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::{fs, io};

use crate::device_number::DeviceNumber;
use crate::loop_device::Store;
use crate::mounts::unescape_bytes;

/// Whether a device is known to serve as swap, for a report.
pub(crate) fn is_swap(device: DeviceNumber) -> bool {
    swaps().is_ok_and(|swaps| swaps.contains(&Store::Device(device)))
}

/// Devices and files that serve as swap.
///
/// # Errors
/// The list cannot be read. A kernel without swap has none, which is not an error.
pub(crate) fn swaps() -> io::Result<Vec<Store>> {
    match fs::read("/proc/swaps") {
        // Without /proc, what is mounted cannot be read either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(swap_names(&text?).filter_map(|name| Store::at(Path::new(&name))).collect()),
    }
}

/// The first column of /proc/swaps, below its head (proc(5)).
pub(crate) fn swap_names(text: &[u8]) -> impl Iterator<Item = OsString> {
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let names = lines.filter_map(|line| line.split(|byte| byte.is_ascii_whitespace()).next());
    names.filter(|name| !name.is_empty()).map(|name| OsString::from_vec(unescape_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_serves_as_swap_is_found_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsString::from_vec(b"sw ap-\xe9".to_vec()));
        fs::write(&path, "x").unwrap();
        let mut text = b"Filename\tType\tSize\tUsed\tPriority\n/nowhere-\xe9 file\t1\t0\t-2\n".to_vec();
        text.extend(
            [folder.path().to_str().unwrap().as_bytes(), b"/sw\\040ap-\xe9 file\t1\t0\t-3\n"].concat(),
        );
        let swaps: Vec<Store> = swap_names(&text).filter_map(|name| Store::at(Path::new(&name))).collect();
        assert_eq!(swaps, [Store::at(&path).unwrap()]);
    }
}
