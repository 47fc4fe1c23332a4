//! Listens for clients on a Unix socket or on TCP, without ever blocking.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A listening socket. Dropping it removes a Unix socket's file.
#[derive(Debug)]
pub enum Listener {
    /// A Unix socket at this path, for its owner only.
    Unix(UnixListener, PathBuf),
    /// A TCP address of this machine.
    Tcp(TcpListener, SocketAddr),
}

/// Why listening failed.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another server is listening at this path.
    #[error("{} is served already: end that server, or give another path", .0.display())]
    Live(PathBuf),
    /// Something else than a socket is at this path.
    #[error("{} is not a socket, so it is left alone: give another path", .0.display())]
    NoSocket(PathBuf),
    /// The system's error.
    #[error("could not listen on {place}: {source}")]
    System {
        /// The path or address.
        place: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Listener {
    /// Listens on a Unix socket at `path`. A socket left by a killed server is replaced.
    ///
    /// # Errors
    /// Another server is listening there, something else than a socket is there, or the system refuses.
    pub fn unix(path: &Path) -> Result<Self, ListenError> {
        let system = |source| ListenError::System { place: path.display().to_string(), source };
        let bound = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let kind = fs::symlink_metadata(path).map_err(system)?.file_type();
                if !kind.is_socket() {
                    return Err(ListenError::NoSocket(path.to_owned()));
                }
                match UnixStream::connect(path) {
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                    Err(error) => return Err(system(error)),
                    Ok(_) => return Err(ListenError::Live(path.to_owned())),
                }
                fs::remove_file(path).map_err(system)?;
                UnixListener::bind(path)
            }
            bound => bound,
        };
        let listener = bound.map_err(system)?;
        let ready = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
        ready.and_then(|()| listener.set_nonblocking(true)).map_err(system)?;
        Ok(Self::Unix(listener, path.to_owned()))
    }

    /// Listens on a TCP address; port 0 takes a free one.
    ///
    /// # Errors
    /// The system refuses.
    pub fn tcp(address: SocketAddr) -> Result<Self, ListenError> {
        let system = |source| ListenError::System { place: address.to_string(), source };
        let listener = TcpListener::bind(address).map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let address = listener.local_addr().map_err(system)?;
        Ok(Self::Tcp(listener, address))
    }

    /// Accepts a waiting client and describes it; `None` if there is none.
    ///
    /// # Errors
    /// The system has no resources left for the client.
    pub fn accept(&self) -> io::Result<Option<(Stream, String)>> {
        let accepted = match self {
            Self::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                let description =
                    |credentials: rustix::net::UCred| format!("process {}", credentials.pid.as_raw_nonzero());
                let peer = rustix::net::sockopt::socket_peercred(&stream)
                    .map_or_else(|_| "a process".into(), description);
                Ok((OwnedFd::from(stream), peer))
            }),
            Self::Tcp(listener, _) => listener.accept().and_then(|(stream, from)| {
                stream.set_nonblocking(true)?;
                // Otherwise small answers would wait until more bytes are to be sent.
                stream.set_nodelay(true)?;
                Ok((stream.into(), from.to_string()))
            }),
        };
        match accepted {
            Ok((stream, peer)) => Ok(Some((stream.into(), peer))),
            // A client that disconnected before it was accepted is ignored.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The NBD URI under which clients find `export`.
    pub fn uri(&self, export: &str) -> String {
        let name = escape(export.as_bytes());
        match self {
            Self::Unix(_, path) => {
                use std::os::unix::ffi::OsStrExt as _;
                format!("nbd+unix:///{name}?socket={}", escape(path.as_os_str().as_bytes()))
            }
            Self::Tcp(_, address) => format!("nbd://{address}/{name}"),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) => listener.as_fd(),
            Self::Tcp(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // On failure only an unused socket remains.
            let _ = fs::remove_file(path);
        }
    }
}

/// A client's connection. Reads and writes of a socket are those of any file.
pub type Stream = File;

/// Percent-encodes bytes for a URI.
fn escape(bytes: &[u8]) -> String {
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(*byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    bytes.iter().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_nobody_answers_on_is_replaced_and_all_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.sock");
        let live = Listener::unix(&path).unwrap();
        assert!(matches!(Listener::unix(&path), Err(ListenError::Live(_))));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(live.uri("x").starts_with("nbd+unix:///x?socket=/") && live.uri("").ends_with("a%20b.sock"));
        drop(live);
        assert!(!path.exists());
        // A killed server leaves its socket like this.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Listener::unix(&path).unwrap());
        fs::write(&path, "mine").unwrap();
        assert!(matches!(Listener::unix(&path), Err(ListenError::NoSocket(_))));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }
}
