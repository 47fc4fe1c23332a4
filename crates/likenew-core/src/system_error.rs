//! What the operating system says of an error, as people read it.

use std::io;

/// The system's sentence without its number, which helps nobody: `No such file or directory`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

/// The same for an error number.
pub fn reason_of(errno: i32) -> String {
    reason(&io::Error::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_number() {
        assert_eq!(reason_of(2), "No such file or directory");
        assert_eq!(reason(&io::Error::other("it is larger than 4 MiB")), "it is larger than 4 MiB");
    }
}
