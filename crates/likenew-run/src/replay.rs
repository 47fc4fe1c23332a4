//! Recordings carried out: which of their I/Os leaves when, where it goes, and what became of it beside what the recording says.

mod address_map;
mod gate;
mod ledger;
mod pacer;
mod preparation;
mod recording;
mod ticket;
mod timeline;

pub(crate) use preparation::Preparation;
pub(crate) use recording::Recording;
