//! The layout of the kernel's records, as it describes it: `events/header_page` and the `format` file of each
//! event.
//!
//! Offsets and sizes differ between kernels and builds, so nothing is assumed of them: a field is found by its name.

use crate::wording::record as wording;

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Bytes before it.
    pub(crate) offset: usize,
    /// Bytes that it takes up.
    pub(crate) size: usize,
}

impl Field {
    /// The field's bytes; none where the record is too short for it.
    #[inline]
    pub(crate) fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..)?.get(..self.size)
    }

    /// The field as a number without sign; none where it is no number or the record is too short.
    #[inline]
    pub(crate) fn number(&self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        Some(match bytes.len() {
            1 => bytes[0].into(),
            2 => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
            4 => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

/// The fields that a format file lists, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, Field)>);

impl Fields {
    /// Reads lines such as `field:unsigned short common_type; offset:0; size:2; signed:0;` and passes over all others.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(field).collect())
    }

    /// The field of this name.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub(crate) fn get(&self, name: &str) -> Result<Field, String> {
        self.find(name).ok_or_else(|| wording::no_field(name))
    }

    /// The field of this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<Field> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// The number that every record of an event begins with, from the line `ID: 2104`.
///
/// # Errors
/// There is no such line.
pub(crate) fn event_id(text: &str) -> Result<u64, String> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
    id.ok_or_else(|| wording::NO_ID.to_owned())
}

fn field(line: &str) -> Option<(String, Field)> {
    let declaration = line.trim_start().strip_prefix("field:")?.split(';').next()?;
    // `char rwbs[10]`, `__data_loc char[] cmd`
    let name = declaration.split_whitespace().next_back()?.split('[').next()?;
    let part = |key: &str| {
        let parts = || line.split(';').map(str::trim);
        parts().find_map(|part| part.strip_prefix(key)?.parse::<usize>().ok())
    };
    Some((name.to_owned(), Field { offset: part("offset:")?, size: part("size:")? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = "name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;

print fmt: \"%d,%d %s\", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
";

    #[test]
    fn fields_are_found_by_name() {
        let fields = Fields::parse(ISSUE);
        assert_eq!(event_id(ISSUE), Ok(2104));
        assert_eq!(fields.get("sector"), Ok(Field { offset: 16, size: 8 }));
        assert_eq!(fields.get("rwbs"), Ok(Field { offset: 34, size: 10 }));
        assert_eq!(fields.get("cmd"), Ok(Field { offset: 60, size: 4 }));
        assert_eq!(fields.get("ioprio").unwrap_err(), "there is no field \"ioprio\"");
        assert!(event_id("name: x\nID: many\n").is_err());
    }

    #[test]
    fn what_is_no_field_is_passed_over() {
        for line in ["", "field:", "field:int x;", "field:int x;\toffset:-1;\tsize:4;", "print fmt: field:x"]
        {
            assert_eq!(Fields::parse(line), Fields(Vec::new()), "{line}");
        }
    }

    #[test]
    fn a_short_record_has_no_such_field() {
        let record = 0x0102_0304_u32.to_ne_bytes();
        let field = |offset, size| Field { offset, size };
        assert_eq!(field(0, 4).number(&record), Some(0x0102_0304));
        assert_eq!(field(1, 4).number(&record), None);
        assert_eq!(field(usize::MAX, 4).number(&record), None);
        assert_eq!(field(0, 3).number(&record), None);
    }
}
