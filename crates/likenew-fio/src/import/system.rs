//! The system on which fio ran, and what its error numbers are on Linux.

use likenew_core::measurement_error::DATA_DIFFERS;

use super::groups::Group;

/// A system whose errors have other numbers than those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Windows,
    MacOs,
    FreeBsd,
}

/// Beginnings of what only jobs on one system have as an option.
const SIGNS: [(System, &str, &[&str]); 5] = [
    (System::Windows, "ioengine", &["windowsaio"]),
    (System::Windows, "filename", &["\\\\.\\", "\\\\?\\"]),
    (System::MacOs, "filename", &["/dev/disk", "/dev/rdisk", "/Volumes/", "/Users/"]),
    (System::MacOs, "directory", &["/Volumes/", "/Users/"]),
    (System::FreeBsd, "filename", &["/dev/ada", "/dev/da", "/dev/nda", "/dev/nvd", "/dev/vtbd"]),
];

/// Up to this number all systems agree, but for `EAGAIN` and `EDEADLK`.
const SAME_MAX: i32 = 34;

/// Numbers on Linux, Windows, macOS and FreeBSD; 0 for none (their `errno.h`).
const NUMBERS: [[i32; 4]; 12] = [
    [DATA_DIFFERS, 42, 92, 86],
    // Windows has no other error 84.
    [DATA_DIFFERS, 84, 0, 0],
    [11, 11, 35, 35],
    [35, 36, 11, 11],
    [36, 38, 63, 63],
    [38, 40, 78, 78],
    [75, 132, 84, 84],
    [95, 130, 102, 0],
    [95, 129, 45, 45],
    [110, 138, 60, 60],
    [122, 0, 69, 69],
    [125, 105, 89, 85],
];

impl System {
    /// The one that the jobs name; `None` for Linux.
    pub(super) fn of(groups: &[Group<'_>]) -> Option<Self> {
        let options = || groups.iter().flat_map(|group| &group.streams).map(|stream| &stream.options);
        let has = |option: &str, begins: &[&str]| {
            let values = options().filter_map(|options| options.text(option));
            values.into_iter().any(|value| begins.iter().any(|begin| value.starts_with(begin)))
        };
        let on_drive = |text: &str| {
            let mut letters = text.chars();
            letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.as_str().starts_with("\\:")
        };
        let mut named = options().flat_map(|options| [options.text("filename"), options.text("directory")]);
        if named.any(|name| name.is_some_and(on_drive)) {
            return Some(Self::Windows);
        }
        SIGNS.iter().find(|(_, option, begins)| has(option, begins)).map(|(system, ..)| *system)
    }

    /// The number that Linux has for an error of this system, and the negative number for one that Linux lacks.
    pub(super) fn errno(system: Option<Self>, number: i32) -> i32 {
        let Some(system) = system else { return number };
        let row = NUMBERS.iter().find(|row| row[1 + system as usize] == number);
        match row {
            _ if number <= 0 => number,
            Some(row) => row[0],
            None if number <= SAME_MAX => number,
            None => -number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_other_systems_are_translated() {
        for (system, number, errno) in [
            (None, 42, 42),
            (Some(System::Windows), 42, 84),
            (Some(System::Windows), 84, 84),
            (Some(System::MacOs), 92, 84),
            (Some(System::FreeBsd), 86, 84),
            (Some(System::MacOs), 35, 11),
            (Some(System::Windows), 28, 28),
            (Some(System::Windows), 43, -43),
            (Some(System::MacOs), 0, 0),
        ] {
            assert_eq!(System::errno(system, number), errno, "{system:?} {number}");
        }
    }
}
