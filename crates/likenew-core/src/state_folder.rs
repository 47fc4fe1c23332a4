//! The folder for what the program must remember beyond any run.

use std::ffi::OsString;
use std::path::PathBuf;

/// `$XDG_STATE_HOME/likenew`, else `$HOME/.local/state/likenew` (XDG Base Directory Specification 0.8); `None` when neither
/// variable is an absolute path. `env` looks up a variable.
pub fn state_folder(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|state| state.join("likenew"))
}
