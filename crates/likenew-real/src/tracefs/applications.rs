//! Names of the programs that I/Os come from, each once.

use std::collections::HashMap;

/// Bytes of a name of a thread, its end included (`TASK_COMM_LEN`).
const NAME: usize = 16;
/// More names than any machine has programs; what comes after is not known by name, so that memory stays bounded.
const NAMES_MOST: usize = 4096;

/// The names met so far. The first is empty and stands for those that are not known.
#[derive(Debug)]
pub(crate) struct Applications {
    names: Vec<String>,
    indices: HashMap<[u8; NAME], u16>,
    /// The last one that was asked for: most I/Os come from the program that the one before came from.
    last: ([u8; NAME], u16),
}

impl Applications {
    pub(crate) fn new() -> Self {
        Self { names: vec![String::new()], indices: HashMap::new(), last: ([0; NAME], 0) }
    }

    /// All names, by index.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of the name in a record's `comm`.
    #[inline]
    pub(crate) fn index(&mut self, comm: &[u8]) -> u16 {
        let mut key = [0; NAME];
        // What follows the end of a name is left over from others.
        for (to, from) in key.iter_mut().zip(comm.iter().take_while(|byte| **byte != 0)) {
            *to = *from;
        }
        if self.last.0 != key {
            self.last = (key, self.lookup(key));
        }
        self.last.1
    }

    fn lookup(&mut self, key: [u8; NAME]) -> u16 {
        if let Some(index) = self.indices.get(&key) {
            return *index;
        }
        let name = name(&key);
        let index = match self.names.iter().position(|known| *known == name) {
            Some(index) => index,
            None if self.names.len() < NAMES_MOST => {
                self.names.push(name);
                self.names.len() - 1
            }
            None => return 0,
        } as u16;
        if self.indices.len() < 4 * NAMES_MOST {
            self.indices.insert(key, index);
        }
        index
    }
}

/// A name as it is shown. The kernel's workers have numbers of processors and processes in their names, and
/// would each count as a different application.
fn name(key: &[u8; NAME]) -> String {
    let bytes = key.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let worker = ["kworker/", "iou-wrk-"].into_iter().find(|front| text.starts_with(front));
    let text = worker.map_or(text.as_ref(), |front| &front[..front.len() - 1]);
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_index() {
        let mut applications = Applications::new();
        let mut index = |name: &[u8]| applications.index(name);
        let fio = index(b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(index(b"fio\0left over"), fio);
        assert_eq!((index(b"kworker/0:1H\0"), index(b"kworker/u4:3\0")), (2, 2));
        assert_eq!((index(b"iou-wrk-4711\0"), index(b"iou-wrk-815\0")), (3, 3));
        assert_eq!((index(b""), index(b"a\x1bb\0"), index(b"0123456789abcdef")), (0, 4, 5));
        assert_eq!(applications.names(), ["", "fio", "kworker", "iou-wrk", "a\u{fffd}b", "0123456789abcdef"]);
    }

    #[test]
    fn endless_names_do_not_take_endless_memory() {
        let mut applications = Applications::new();
        for number in 0..100_000 {
            applications.index(format!("job-{number}").as_bytes());
        }
        assert_eq!(applications.names().len(), NAMES_MOST);
        assert_eq!(applications.index(b"job-99999"), 0);
        assert_eq!(applications.index(b"job-7"), 8);
    }
}
