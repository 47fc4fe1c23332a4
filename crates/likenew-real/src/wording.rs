//! Every sentence of this crate. The other modules decide; none of them formats prose.
//!
//! A refusal is a whole sentence without a full stop: what happened, to what, and what to do. Where another crate's
//! sentence contains a reason from here, the reason is a clause without a full stop; the headings say which are clauses.

pub(crate) mod action;
pub(crate) mod consent;
pub(crate) mod erase;
pub(crate) mod facts;
pub(crate) mod record;
pub(crate) mod target;
pub(crate) mod trim;
