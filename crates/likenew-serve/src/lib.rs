//! `likenew serve`: earlier runs, new runs and their progress in a browser.
//!
//! The server opens no drive. It starts the `likenew` program for everything that reads or writes one, with the options
//! of a fixed list ([`Grammar`]), among which is no consent: what would overwrite a device or a file cannot be started.
//!
//! Whoever may talk to it may start measurements, so each request for data carries a secret, comes from the page that the
//! server sent, and names the server by a host that it knows. It listens on the loopback interface; any other
//! address takes a secret that the owner made.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files"))]

mod api;
mod commands;
mod error;
mod guard;
mod index;
mod jobs;
mod server;
mod wording;

pub use commands::{CommandGrammar, Grammar, OptionGrammar, OptionKind};
pub use error::ServeError;
pub use guard::Secret;
pub use server::{Server, Settings};
