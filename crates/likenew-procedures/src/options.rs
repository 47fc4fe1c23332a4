//! A procedure's settings out of a plan.

/// A procedure's settings out of a plan.
pub(crate) fn options<T: serde::de::DeserializeOwned>(
    procedure: &str,
    table: &toml::Table,
) -> Result<T, String> {
    T::deserialize(table.clone()).map_err(|error| format!("the options of {procedure}: {}", error.message()))
}
