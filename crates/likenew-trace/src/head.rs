//! The header of a trace in our own format.

use crate::wording::expected;

/// What is known of a trace as a whole. Each value is one line of text; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceHead {
    /// The drive as the system calls it, such as `sda`.
    pub name: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Bytes that it can address.
    pub capacity: Option<u64>,
    /// Its smallest unit of address, in bytes.
    pub block: Option<u32>,
    /// The clock that `at_ns` was read from.
    pub clock: Option<String>,
    /// When the recording began, such as `2026-03-01T12:00:00Z`.
    pub recorded: Option<String>,
    /// The host's kernel.
    pub kernel: Option<String>,
    /// Records that the recorder missed; 0 means none.
    pub lost_events: Option<u64>,
    /// Further values of a recorder: keys of lower-case letters, digits and `_`.
    pub extra: Vec<(String, String)>,
}

/// Lines of a header, at most.
const OTHERS_MAX: usize = 256;

impl TraceHead {
    /// The lines of the head by key, in their order.
    pub fn pairs(&self) -> Vec<(&str, String)> {
        let text = |value: &Option<String>| value.clone();
        let known = [
            ("name", text(&self.name)),
            ("model", text(&self.model)),
            ("capacity_bytes", self.capacity.map(|bytes| bytes.to_string())),
            ("block_bytes", self.block.map(|bytes| bytes.to_string())),
            ("clock", text(&self.clock)),
            ("recorded", text(&self.recorded)),
            ("kernel", text(&self.kernel)),
            ("lost_events", self.lost_events.map(|events| events.to_string())),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key, value?)));
        known.chain(self.extra.iter().map(|(key, value)| (key.as_str(), value.clone()))).collect()
    }

    /// Takes a line of a head; a later line of the same key replaces the earlier one.
    ///
    /// # Errors
    /// A description of this key's valid values, for errors.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let text = || Some(value.to_owned());
        let number = || value.parse::<u64>().ok();
        match key {
            "name" => self.name = text(),
            "model" => self.model = text(),
            "clock" => self.clock = text(),
            "recorded" => self.recorded = text(),
            "kernel" => self.kernel = text(),
            "capacity_bytes" => {
                self.capacity = Some(number().filter(|bytes| *bytes > 0).ok_or(expected::CAPACITY)?);
            }
            "block_bytes" => {
                let block = value.parse().ok().filter(|bytes: &u32| bytes.is_power_of_two());
                self.block = Some(block.ok_or(expected::BLOCK)?);
            }
            "lost_events" => self.lost_events = Some(number().ok_or(expected::COUNT)?),
            _ => match self.extra.iter().position(|(known, _)| known == key) {
                Some(at) => value.clone_into(&mut self.extra[at].1),
                None if self.extra.len() < OTHERS_MAX => self.extra.push((key.into(), value.into())),
                None => return Err(expected::HEAD_LINES_MAX),
            },
        }
        Ok(())
    }
}
