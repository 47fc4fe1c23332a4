//! All procedures by name, and the answers that every judged run gets.

pub mod all;

pub use likenew_explaining::{model, xray};
pub use likenew_measuring::{
    age, apps, bench, cache, commits, data, endure, fill, replay, run, suits, surface, sweep,
};
pub use likenew_procedure_support::{fit, pattern, precision_goal, profile};
pub use likenew_restoring::{check, facts, recondition, site, trim, verify};
