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

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../catalog/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "cloud-gp2-100gib",
    "crucial-m4-128gb",
    "disk-2tb",
    "fake-stick-512gb",
    "intel-520-120gb",
    "intel-x25-e-32gb",
    "intel-x25-m-80gb",
    "jmicron-jmf602b",
    "jmicron-jmf602bx2",
    "microsd-32gb",
    "ocz-core-64gb",
    "ocz-summit",
    "ocz-vertex",
    "ocz-vertex-3-120gb",
    "qlc-nvme-1tb",
    "samsung-slc",
    "seagate-archive-8tb",
    "seagate-momentus-5400.6",
    "tiny-flash",
    "tlc-enterprise-1920gb",
    "tlc-nvme-1tb",
    "tlc-sata-500gb",
    "usb-stick-16gb",
    "wd-caviar-se16",
    "wd-scorpio-black-500gb",
    "wd-velociraptor",
    "wd6400aaks",
];

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
    let mut found = catalog().iter().filter(is_it);
    found.next().filter(|_| found.next().is_none())
}
