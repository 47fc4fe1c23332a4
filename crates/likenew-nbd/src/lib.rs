//! A drive as a network block device: the NBD protocol, and a server whose answers take as long as the drive does.
//!
//! [`server::Server`] passes each request to a lane of a drive in virtual time when it arrives, and answers when the
//! drive has. Its owner passes in the time as a [`server::Clock`], and streams that never block. Written data is kept
//! in a [`store::Store`]. So all of it runs in tests without sockets and without waiting.
//!
//! Nothing a client sends makes the server panic, grow without bound, or change a byte that no valid request covered.
//! The server never answers early, never sleeps, reads no clock of its own, and knows neither the simulator nor the
//! terminal. The protocol: the NBD project's doc/proto.md.

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
