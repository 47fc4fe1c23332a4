//! Evidence for tests.

use likenew_core::drive::{Identity, Kind};
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::target::{Clock, Geometry};

/// Empty evidence of a simulated drive of 1 GiB.
pub(crate) fn evidence() -> Evidence {
    let geometry = Geometry {
        capacity: 1 << 30,
        block: 512,
        boundary: None,
        writable: true,
        trims: true,
        carries_data: false,
        clock: Clock::Virtual,
    };
    let identity = Identity {
        name: "made up".into(),
        kind: Kind::Simulated,
        model: None,
        engine: "none".into(),
        capacity_bytes: 1 << 30,
        block_bytes: 512,
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
    };
    let options = toml::Table::new();
    let plan = Plan::new("check", None, 0, options);
    Evidence::new(plan, identity, geometry)
}
