//! The link to a simulated drive, now and at its best.

use likenew_core::facts::{Fact, Hop, Link};

use super::{DRIVE, fact, unknown};
use crate::model::Model;
use crate::situations::link_standard::{Bus, LinkStandard};
use crate::wording::host::LINK_WITHOUT_STANDARD;

/// The link that the drive is connected to, and the drive's own.
pub(super) fn link(own: &Model, model: &Model) -> Link {
    let parameters = model.mechanism.link();
    let queue_depth = fact(parameters.command_slots.into());
    let Some(now) = model.situations.link.or(own.link_standard) else {
        // What has no name carries what it carries.
        return Link { bus: unknown(LINK_WITHOUT_STANDARD), queue_depth, ..Link::default() };
    };
    let best = best(now, own.link_standard);
    Link {
        bus: fact(now.bus.name().to_owned()),
        driver: fact(driver(now).to_owned()),
        hops: vec![hop(DRIVE, "the drive", now, best), hop("port", "the port above", now, best)],
        ceiling_bytes_per_s: fact(now.ceiling_bytes_per_s()),
        possible_bytes_per_s: fact(now.ceiling_bytes_per_s().max(best.ceiling_bytes_per_s())),
        queue_depth,
        queues: Fact::NotQueried,
    }
}

/// What drive and port could do together. A bridge of USB hides the drive's own link, and is of 5 Gb/s at
/// least (assumed) unless the drive itself is one of USB 2.0.
fn best(now: LinkStandard, own: Option<LinkStandard>) -> LinkStandard {
    match own {
        Some(own) if own.bus == now.bus => own,
        _ if now.bus == Bus::Usb && now.line_bits_per_s < 5_000_000_000 => {
            LinkStandard::by_name("usb3.0").expect("it is one of the names")
        }
        _ => now,
    }
}

fn driver(link: LinkStandard) -> &'static str {
    match (link.bus, link.one_command) {
        (Bus::Pcie, _) => "nvme",
        (Bus::Sata, _) => "ahci",
        (Bus::Usb, true) => "usb-storage",
        (Bus::Usb, false) => "uas",
    }
}

fn hop(name: &str, kind: &str, now: LinkStandard, best: LinkStandard) -> Hop {
    Hop {
        name: name.to_owned(),
        kind: kind.to_owned(),
        line_bits_per_s: fact(now.line_bits_per_s),
        line_bits_per_s_max: fact(best.line_bits_per_s.max(now.line_bits_per_s)),
        lanes: fact(now.lanes),
        lanes_max: fact(best.lanes.max(now.lanes)),
        bytes_per_s: fact(now.ceiling_bytes_per_s()),
        bytes_per_s_max: fact(best.ceiling_bytes_per_s().max(now.ceiling_bytes_per_s())),
    }
}
