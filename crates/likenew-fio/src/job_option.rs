//! Every option of fio 3.33, by what it means for a workload.
//!
//! A workload expresses some of them. Others only say how fio names and makes files, draws addresses, reports or logs.
//! The rest changes what the drive is asked for, so that a reader has to know of it; so may options that are in no list,
//! such as those of engines.

/// Lists by name: options that are `expressed` by a workload; those that are `neutral`, as they leave the drive's work as it
/// is; those that are `changing` it, unless they have the value that is given with them; their `aliases`; and `engines` that
/// do the I/O of a job and nothing else.
const LISTS: &str = include_str!("job_options.txt");

fn list(name: &str) -> impl Iterator<Item = &'static str> {
    let list = LISTS.split('[').find_map(|list| list.strip_prefix(name)?.strip_prefix(']'));
    list.expect("the file has this list").split_whitespace()
}

/// The name under which fio lists an option.
pub(crate) fn canonical(option: &str) -> &str {
    let mut aliases = list("aliases").filter_map(|pair| pair.split_once('='));
    aliases.find(|(alias, _)| *alias == option).map_or(option, |(_, name)| name)
}

/// Whether an option changes what the drive is asked for in a way that no workload expresses.
pub(crate) fn is_changing(option: &str, value: &str) -> bool {
    let mut known = list("expressed").chain(list("neutral"));
    let mut harmless = list("changing").filter_map(|pair| pair.split_once('='));
    let does_nothing =
        |(name, off): (&str, &str)| name == option && (value == off || (off, value) == ("none", "0"));
    known.all(|known| known != option) && !harmless.any(does_nothing)
}

/// Whether an engine reads and writes, and does nothing else.
pub(crate) fn is_plain_engine(engine: &str) -> bool {
    list("engines").any(|known| known == engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options that the installed fio lists, by their canonical names, and not the ends of long lines.
    fn listed() -> Vec<String> {
        let out = std::process::Command::new("fio").arg("--cmdhelp").output().expect("fio is installed");
        let text = String::from_utf8(out.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_once(':')?.0.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_option_of_fio_is_in_one_list() {
        let lists = ["expressed", "neutral", "changing"].map(|name| {
            list(name).map(|entry| entry.split('=').next().unwrap_or_default()).collect::<Vec<_>>()
        });
        let listed = listed();
        assert!(listed.len() > 200, "{listed:?}");
        for option in &listed {
            let count = lists.iter().flatten().filter(|name| *name == option).count();
            assert_eq!(count, 1, "{option}");
        }
        for pair in list("aliases") {
            let (alias, option) = pair.split_once('=').unwrap();
            assert!(listed.iter().any(|name| name == option) && canonical(alias) == option, "{pair}");
        }
    }

    #[test]
    fn only_what_changes_the_work_is_named() {
        for (option, value, is_named) in [
            ("bs", "4k", false),
            ("write_lat_log", "out", false),
            ("thinktime", "0", false),
            ("thinktime", "5us", true),
            ("sync", "0", false),
            ("cpus_allowed", "0", true),
            ("random_generator", "lfsr", true),
            ("fixedbufs", "1", true),
            ("an_option_to_come", "1", true),
        ] {
            assert_eq!(is_changing(option, value), is_named, "{option}={value}");
        }
    }
}
