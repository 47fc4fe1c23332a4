//! Names of applications as small numbers.

use rustc_hash::FxHashMap;

/// At most this many names are distinguished: programs that put a number into each name must not fill the
/// memory.
const NAMES_MAX: usize = 4096;

/// A longer name is cut to this.
const LENGTH_MAX: usize = 255;

/// All names after the first [`NAMES_MAX`].
const FURTHER: &str = "(further)";

/// Names of applications by their index; the first is empty.
pub(crate) struct Applications {
    names: Vec<String>,
    indices: FxHashMap<Box<[u8]>, u16>,
    latest: u16,
}

impl Applications {
    pub(crate) fn new() -> Self {
        Self { names: vec![String::new()], indices: FxHashMap::default(), latest: 0 }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of this name, which is new or known.
    #[inline]
    pub(crate) fn index(&mut self, name: &[u8]) -> u16 {
        let name = &name[..name.len().min(LENGTH_MAX)];
        // The same program often comes twice in a row.
        if self.names[usize::from(self.latest)].as_bytes() == name {
            return self.latest;
        }
        let index = match self.indices.get(name) {
            Some(index) => *index,
            None if name.is_empty() => 0,
            None => self.new_index(name),
        };
        self.latest = index;
        index
    }

    fn new_index(&mut self, name: &[u8]) -> u16 {
        if self.names.len() > NAMES_MAX {
            return NAMES_MAX as u16 + 1;
        }
        self.names.push(String::from_utf8_lossy(name).into_owned());
        let index = (self.names.len() - 1) as u16;
        self.indices.insert(name.into(), index);
        if self.names.len() > NAMES_MAX {
            self.names.push(FURTHER.to_owned());
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_up_to_a_bound() {
        let mut applications = Applications::new();
        assert_eq!(
            [b"" as &[u8], b"a", b"b", b"a", b""].map(|name| applications.index(name)),
            [0, 1, 2, 1, 0]
        );
        for n in 0..70_000 {
            let index = usize::from(applications.index(format!("program {n}").as_bytes()));
            let name = &applications.names()[index];
            assert!(*name == format!("program {n}") || name == FURTHER, "{name}");
        }
        assert_eq!(applications.names().len(), NAMES_MAX + 2);
        assert_eq!(applications.index(b"b"), 2);
        assert_eq!(applications.index(&[b'x'; 9000]), applications.index(&[b'x'; 8000]));
    }
}
