//! What somebody may have meant who typed a name that does not exist.

/// Jaro-Winkler similarity from which on a name is suggested. Chosen: typing errors are above, other words below; clap
/// uses the same for options.
pub const SIMILARITY_MIN: f64 = 0.7;

/// The known name most like what was typed, if one is similar enough.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(typed, name), name))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested_and_no_other() {
        let names = ["bench", "check", "cache"];
        assert_eq!(nearest("benhc", names), Some("bench"));
        assert_eq!(nearest("chekc", names), Some("check"));
        assert_eq!(nearest("xyz", names), None);
    }
}
