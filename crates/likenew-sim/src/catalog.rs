//! The simulated drives that come with likenew, embedded from `catalog/`.

use std::sync::LazyLock;

use crate::model::Model;

/// A drive of the catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name that follows `sim:`.
    pub name: &'static str,
    /// The text of its file, also a template for new drives.
    pub text: &'static str,
    /// The model that the file describes.
    pub model: Model,
}

/// Name and text of each file in `catalog/`.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// All drives of the catalog, by name.
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

/// Names of the drives whose model satisfies `which`.
pub(crate) fn names_of(which: impl Fn(&Model) -> bool) -> Vec<&'static str> {
    catalog().iter().filter(|entry| which(&entry.model)).map(|entry| entry.name).collect()
}

/// The entry for a real drive, by the model and size that the drive reports; `None` unless exactly one entry
/// matches.
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
