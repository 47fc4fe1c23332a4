//! The drives that come with likenew.

use std::sync::LazyLock;

use crate::model::Model;

/// A drive of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// As typed after `sim:`.
    pub name: &'static str,
    /// Its file, as text; a template for a new drive.
    pub text: &'static str,
    /// The model in the file.
    pub model: Model,
}

/// The name and the text of each file in `catalog/`.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// All of them, by name.
pub fn catalog() -> &'static [Entry] {
    static CATALOG: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let entry = |(name, text): &(&'static str, &'static str)| {
            let file = format!("{name}.toml");
            let model = Model::parse(&file, text).unwrap_or_else(|error| panic!("our own catalog: {error}"));
            Entry { name, text, model }
        };
        FILES.iter().map(entry).collect()
    });
    &CATALOG
}

/// The names of those whose model is like this.
pub(crate) fn names_of(which: impl Fn(&Model) -> bool) -> Vec<&'static str> {
    catalog().iter().filter(|entry| which(&entry.model)).map(|entry| entry.name).collect()
}

/// The entry of a real drive by what it reports of itself; `None` if no entry has that model and size, or
/// more than one has.
pub fn by_reported_model(model: &str, capacity_bytes: u64) -> Option<&'static Entry> {
    let is_it = |entry: &&Entry| {
        let own = entry.model.capacity_bytes;
        entry
            .model
            .reported_models
            .as_ref()
            .is_some_and(|reported_models| reported_models.is(own, model, capacity_bytes))
    };
    let mut matching = catalog().iter().filter(is_it);
    matching.next().filter(|_| matching.next().is_none())
}
