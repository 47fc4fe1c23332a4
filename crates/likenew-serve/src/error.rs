//! What keeps the server from starting, and how a request fails.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// What keeps the server from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program has the port, or the address is not of this machine.
    #[error("could not listen on {address}: {error}; choose another address with --listen")]
    Listen {
        /// As asked for.
        address: SocketAddr,
        /// The system's reason.
        #[source]
        error: io::Error,
    },
    /// The address can be reached from other machines.
    #[error(
        "{address} can be reached from other machines, so it takes a secret of yours: give --token-file FILE, a file that only you \
         may read, with 32 characters or more"
    )]
    RemoteWithoutSecret {
        /// As asked for.
        address: SocketAddr,
    },
    /// The kernel gives no random numbers.
    #[error("could not make a secret, because /dev/urandom cannot be read: {0}")]
    NoRandom(#[source] io::Error),
    /// The file of the secret cannot be read.
    #[error("could not read the secret in {path}: {error}")]
    SecretUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        error: io::Error,
    },
    /// Others may read the secret.
    #[error(
        "{path} can be read by others, so it keeps no secret: give a file of your own that only you may read (chmod 600)"
    )]
    SecretOpenToOthers {
        /// The file.
        path: PathBuf,
    },
    /// The secret can be guessed.
    #[error("the first line of {path} is no secret: it takes 32 to 1024 printable ASCII characters")]
    SecretWeak {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses to serve.
    #[error("could not serve: {0}")]
    System(#[source] io::Error),
}

/// A request that was not carried out: a sentence with a status.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The command with which a terminal asks for the consent that is missing here.
    pub(crate) command: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), command: None }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(Body { error: &self.message, command: self.command.as_deref() })).into_response()
    }
}
