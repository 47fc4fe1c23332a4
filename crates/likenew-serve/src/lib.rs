//! `likenew serve`: past runs, new runs and their progress in a browser.
//!
//! The server opens no drive. For everything that reads or writes one it starts the `likenew` program, with options
//! from a fixed list ([`Grammar`]). None of them is a consent, so runs that overwrite a device or file cannot be
//! started.
//!
//! Whoever may make requests can start measurements. So each request for data must carry a secret, come from the
//! server's own page, and name a known host. The server listens on the loopback interface; any other address requires a
//! secret that the owner made.

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
