//! The applications that come with Likenew.

use std::sync::LazyLock;

use super::application::Application;
use super::wording;

/// An application of the library.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name after `--app`, which is its file's name.
    pub name: &'static str,
    /// Its file, as text; a template for custom ones.
    pub text: &'static str,
    /// The application in the file.
    pub application: Application,
}

/// The group that is replayed by default.
pub const DEFAULT_GROUP: &str = "pcmark8";

/// The name and the text of each file in `apps/`.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/apps.rs"));

/// All applications, in the order of tables: the default ones, then group by group.
pub fn library() -> &'static [Entry] {
    static LIBRARY: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let entry = |(name, text): &(&'static str, &'static str)| {
            let application =
                Application::parse(text).unwrap_or_else(|error| panic!("our own apps/{name}.toml: {error}"));
            Entry { name, text, application }
        };
        let mut library: Vec<Entry> = FILES.iter().map(entry).collect();
        library.sort_by_cached_key(|Entry { application, .. }| {
            let Application { group, row, .. } = application;
            (group != DEFAULT_GROUP, group.clone(), *row)
        });
        library
    });
    &LIBRARY
}

/// The applications that are replayed by default.
pub fn default_set() -> impl Iterator<Item = &'static Entry> {
    library().iter().filter(|entry| entry.application.group == DEFAULT_GROUP)
}

/// The application, or all of a group, of this name.
///
/// # Errors
/// A sentence with the known names.
pub fn by_name(name: &str) -> Result<Vec<&'static Entry>, String> {
    let entries: Vec<&Entry> =
        library().iter().filter(|entry| entry.name == name || entry.application.group == name).collect();
    if !entries.is_empty() {
        return Ok(entries);
    }
    let names: Vec<&str> = library().iter().map(|entry| entry.name).collect();
    let mut groups: Vec<&str> = library().iter().map(|entry| entry.application.group.as_str()).collect();
    groups.dedup();
    Err(wording::unknown_application(name, &names, &groups))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_ones_are_the_ten_of_pcmark_8_with_their_published_counts() {
        let counts: Vec<[u64; 4]> = default_set()
            .map(|entry| {
                let sides =
                    [&entry.application.reads, &entry.application.writes].map(|side| side.as_ref().unwrap());
                let [reads, writes] = sides;
                [reads.sequential.value, reads.random.value, writes.sequential.value, writes.random.value]
            })
            .collect();
        assert_eq!(counts.len(), 10);
        assert_eq!(counts[0], [1508, 17525, 18342, 1743]);
        assert_eq!(counts[9], [5782, 43487, 218, 431]);
        let bytes: u64 = default_set().map(|entry| entry.application.bytes()).sum();
        // The sums of the two columns of bytes in the published table.
        assert_eq!(bytes, (3406 + 8869) * 1_000_000);
    }

    #[test]
    fn a_group_is_all_of_its_members_and_a_wrong_name_is_answered_with_the_right_ones() {
        assert_eq!(by_name("battlefield").unwrap().len(), 3);
        assert_eq!(by_name("word").unwrap()[0].application.name, "Microsoft Word");
        assert!(by_name("wrod").unwrap_err().ends_with("did you mean \"word\"?"));
        let error = by_name("zzz").unwrap_err();
        assert!(
            error.contains("photoshop-heavy") && error.contains("pcmark8") && error.contains("mine.toml")
        );
    }
}
