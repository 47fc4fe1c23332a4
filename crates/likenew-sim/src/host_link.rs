//! The cable between host and drive: SATA or PCIe.

use likenew_core::units::Nanos;

use crate::timeline::{Timeline, transfer_time};

/// The parameters of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkParameters {
    /// Payload bytes per second in one direction.
    pub bytes_per_s: u64,
    /// Whether both directions move data at the same time, as PCIe does and SATA does not.
    pub duplex: bool,
    /// Commands that the drive accepts at once; more wait in the host.
    pub command_slots: u32,
}

/// The link in time. Data moves in the order in which it becomes ready.
pub(crate) struct HostLink {
    parameters: LinkParameters,
    /// Its present rate.
    bytes_per_s: u64,
    to_drive: Timeline,
    to_host: Timeline,
}

impl HostLink {
    pub(crate) fn new(parameters: LinkParameters) -> Self {
        Self {
            parameters,
            bytes_per_s: parameters.bytes_per_s,
            to_drive: Timeline::default(),
            to_host: Timeline::default(),
        }
    }

    pub(crate) fn command_slots(&self) -> u32 {
        self.parameters.command_slots
    }

    /// Moves so many bytes per second at most from now on, or as many as it can.
    pub(crate) fn limit(&mut self, bytes_per_s: Option<u64>) {
        let all = self.parameters.bytes_per_s;
        self.bytes_per_s = bytes_per_s.map_or(all, |limit| limit.min(all));
    }

    /// When `bytes` that the host sends from `now` on are in the drive.
    pub(crate) fn send_to_drive(&mut self, now: Nanos, bytes: u64) -> Nanos {
        self.to_drive.reserve(now, transfer_time(bytes, self.bytes_per_s))
    }

    /// When `bytes` that the drive sends from `now` on are in the host.
    pub(crate) fn send_to_host(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let line = if self.parameters.duplex { &mut self.to_host } else { &mut self.to_drive };
        line.reserve(now, transfer_time(bytes, self.bytes_per_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_duplex_link_shares_its_time_and_a_duplex_one_does_not() {
        let link = |duplex| {
            let parameters = LinkParameters { bytes_per_s: 1_000_000_000, duplex, command_slots: 32 };
            let mut link = HostLink::new(parameters);
            (link.send_to_drive(Nanos(0), 1000), link.send_to_host(Nanos(0), 1000))
        };
        assert_eq!(link(false), (Nanos(1000), Nanos(2000)));
        assert_eq!(link(true), (Nanos(1000), Nanos(1000)));
    }
}
