//! A drive as a network block device: the NBD protocol, and a server that answers when the drive does.
//!
//! [`server::Server`] passes each request to a lane of a drive in virtual time at the moment it arrived, and
//! answers it when the drive has. A [`server::Clock`] that is passed in gives the time, bytes come and
//! go through streams that never block, and written data is kept in a [`store::Store`], so all of it runs in
//! tests without sockets and without waiting.
//!
//! It guarantees that nothing a client sends makes it panic, grow without bound, or change a byte that a
//! valid request did not cover. It never answers early, never sleeps, reads no clock, and knows neither the
//! simulator nor the terminal. The protocol: the NBD project's doc/proto.md.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

pub mod listener;
pub mod server;
pub mod store;

mod engine;
mod handshake;
mod outbox;
mod protocol;
mod reply;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod wording;

pub use handshake::Export;
