//! Procedures that find out why a drive is slow or wrong, and restore it. Each has two files: its code and
//! its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It touches no drive, no clock and no
//! file, so a run can be judged again from its folder alone.

/// Declares headlines without a branch: summaries and their answers, by the id and the question that they share. Each is
/// a function from typed parts to both, and can add evidence, caveats and actions to the answer:
/// `("speed", "Speed") => { fn same(rate: Rate) = good("It runs at {rate}.", "{rate}").caveat("It ran once."); }`.
macro_rules! headlines {
    ($(($id:expr, $question:expr) => {$(
        $(#[$doc:meta])* $visibility:vis fn $name:ident($($part:ident: $type:ty),*) =
            $standing:ident($summary:literal, $answer:literal) $(.$more:ident($what:expr))*;
    )*})*) => {
        $($($(#[$doc])* $visibility fn $name($($part: $type),*) -> (String, Answer) {
            (format!($summary), Answer::$standing($id, $question, format!($answer)) $(.$more($what))*)
        })*)*
    };
}

pub mod check;
pub mod facts;
pub mod recondition;
pub mod site;
pub mod trim;
pub mod verify;

#[cfg(test)]
mod fixtures {
    use likenew_core::drive::{Identity, TargetKind};
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
            kind: TargetKind::Simulated,
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
}
