//! Errors that keep the server from starting, and errors of requests.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program uses the port, or the address does not belong to this machine.
    #[error("could not listen on {address}: {error}; choose another address with --listen")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// Other machines can reach the address, and the owner gave no secret.
    #[error(
        "{0} can be reached from other machines, so it takes a secret of yours: give --token-file FILE, a file that only you \
         may read, with 32 characters or more"
    )]
    RemoteWithoutSecret(SocketAddr),
    /// The kernel gives no random numbers.
    #[error("could not make a secret, because /dev/urandom cannot be read: {0}")]
    NoRandom(#[source] io::Error),
    /// The file with the secret cannot be read.
    #[error("could not read the secret in {path}: {error}")]
    SecretUnreadable {
        /// The file with the secret.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// Other users can read the file with the secret.
    #[error(
        "{0} can be read by others, so it keeps no secret: give a file of your own that only you may read (chmod 600)"
    )]
    SecretOpenToOthers(PathBuf),
    /// The secret is too short or unusable.
    #[error("the first line of {0} is no secret: it takes 32 to 1024 printable ASCII characters")]
    SecretWeak(PathBuf),
    /// The system refused threads or sockets.
    #[error("could not serve: {0}")]
    System(#[source] io::Error),
}

/// Why a request failed: an HTTP status and a sentence.
#[derive(Debug, Serialize)]
pub(crate) struct ApiError {
    #[serde(skip)]
    pub(crate) status: StatusCode,
    #[serde(rename = "error")]
    pub(crate) message: String,
    /// The command that asks for the missing consent in a terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), command: None }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}
