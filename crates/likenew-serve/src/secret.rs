//! The secret that each request for data carries.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use likenew_core::input;
use subtle::ConstantTimeEq as _;

use crate::error::ServeError;

/// A secret of printable characters.
#[derive(Clone)]
pub struct Secret(String);

/// Random bytes of a new one.
const BYTES: usize = 32;
/// Least characters of one that the owner made. Chosen: 128 bits in hexadecimal digits.
const CHARS_MIN: usize = 32;
/// Most characters: a header has to carry it.
const CHARS_MAX: usize = 1024;

impl Secret {
    /// A new one from the kernel's random numbers.
    ///
    /// # Errors
    /// [`ServeError::NoRandom`] if there are none.
    pub fn new() -> Result<Self, ServeError> {
        let mut bytes = [0; BYTES];
        std::fs::File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(ServeError::NoRandom)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The first line of a file that only its owner may read.
    ///
    /// # Errors
    /// It cannot be read, others may read it, or it is too short or holds other than printable ASCII characters.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        use std::os::unix::fs::PermissionsExt as _;

        let failed = |error| ServeError::SecretUnreadable { path: path.to_owned(), error };
        let file = input::open(path, input::SECRET).map_err(|error| failed(error.into()))?;
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(ServeError::SecretOpenToOthers { path: path.to_owned() });
        }
        let mut text = String::new();
        file.take(CHARS_MAX as u64 + 2).read_to_string(&mut text).map_err(failed)?;
        let line = text.lines().next().unwrap_or_default().trim();
        let is_usable =
            (CHARS_MIN..=CHARS_MAX).contains(&line.len()) && line.bytes().all(|b| b.is_ascii_graphic());
        if is_usable {
            Ok(Self(line.to_owned()))
        } else {
            Err(ServeError::SecretWeak { path: path.to_owned() })
        }
    }

    /// For the address that the owner opens.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is it, in a time that does not depend on where it differs.
    pub(crate) fn matches(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }
}

impl fmt::Debug for Secret {
    /// Without the secret, which must not reach a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_pipe_with_no_writer_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = Secret::from_file(&pipe).unwrap_err().to_string();
        assert!(error.contains("it is a pipe"), "{error}");
    }

    #[test]
    fn a_new_one_is_long_and_another_each_time() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(one.as_str().len(), 64);
        assert!(one.matches(one.as_str().as_bytes()) && !one.matches(other.as_str().as_bytes()));
        assert!(!one.matches(b"") && !one.matches(&one.as_str().as_bytes()[..63]));
        assert_eq!(format!("{one:?}"), "Secret");
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_short_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Secret::from_file(&path)
        };
        let long = "0123456789abcdef0123456789abcdef";
        assert_eq!(write(&format!("{long}\n"), 0o600).unwrap().as_str(), long);
        assert!(matches!(write(long, 0o644), Err(ServeError::SecretOpenToOthers { .. })));
        assert!(matches!(write("short", 0o600), Err(ServeError::SecretWeak { .. })));
        assert!(matches!(write(&"ä".repeat(40), 0o600), Err(ServeError::SecretWeak { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Secret::from_file(&path), Err(ServeError::SecretUnreadable { .. })));
    }
}
