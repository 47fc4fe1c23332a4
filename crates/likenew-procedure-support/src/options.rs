//! Reads a procedure's options from a plan.

use crate::wording;
use likenew_core::input::one_line;

/// A procedure's options from a plan.
///
/// # Errors
/// A sentence that names the option that is unknown or wrong.
pub fn options<T: serde::de::DeserializeOwned>(procedure: &str, table: &toml::Table) -> Result<T, String> {
    T::deserialize(table.clone())
        .map_err(|error| wording::wrong_options(procedure, &one_line(error.message())))
}
