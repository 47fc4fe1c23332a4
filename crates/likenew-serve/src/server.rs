//! Listens, and bounds what a request can take of the server.

use std::ffi::OsString;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::get;
use likenew_history::KeptRuns;
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::api::{self, ALWAYS, Api, Page};
use crate::commands::{Grammar, Program};
use crate::error::ServeError;
use crate::guard::{Guard, Secret, accept, known_host, with_secret};
use crate::index::Index;
use crate::jobs::Jobs;

/// An answer begins within this.
const REQUEST_PATIENCE: Duration = Duration::from_secs(90);
/// Bytes of a request's body.
const BODY_MAX: usize = 64 << 10;
/// Runs, and what else was started, have so long to stop when the server ends.
const END_PATIENCE: Duration = Duration::from_secs(15);

/// How to serve.
#[derive(Debug)]
pub struct Settings {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The secret of the owner; a new one if there is none, which only a loopback address does with.
    pub secret: Option<Secret>,
    /// Further names of this machine by which browsers may call it.
    pub names: Vec<String>,
    /// The words that start the `likenew` program.
    pub program: Vec<OsString>,
    /// The kept runs.
    pub runs: KeptRuns,
    /// The page.
    pub page: String,
    /// What may be started.
    pub grammar: Grammar,
}

/// A server that listens.
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    secret: Secret,
    settings: Settings,
}

impl Server {
    /// Listens; nobody is answered before [`Server::run`].
    ///
    /// # Errors
    /// The address is taken or no address of this machine, or other machines reach it and the owner gave no secret.
    pub fn bind(settings: Settings) -> Result<Self, ServeError> {
        let listen = settings.listen;
        let secret = match &settings.secret {
            Some(secret) => secret.clone(),
            None if listen.ip().is_loopback() => Secret::new()?,
            None => return Err(ServeError::RemoteWithoutSecret { address: listen }),
        };
        let failed = |error| ServeError::Listen { address: listen, error };
        let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, secret, settings })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to open. The secret comes after the `#`, so that no browser sends it to any server, and no log has it.
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.secret.as_str())
    }

    /// Answers until `stop` is done; then runs that it started are interrupted.
    ///
    /// # Errors
    /// [`ServeError::System`] if the system gives no threads or does not watch the socket.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(ServeError::System)?;
        runtime.block_on(async {
            let listener = TcpListener::from_std(self.listener).map_err(ServeError::System)?;
            let Settings { names, program, runs, page, grammar, .. } = self.settings;
            let program = Arc::new(Program::new(program, runs.archive.clone()));
            let jobs = Arc::new(Jobs::new(Arc::clone(&program), grammar));
            let guard = Arc::new(Guard::new(self.secret, self.address, &names));
            let index = Index::new(runs).map_err(ServeError::System)?;
            let api = Api { program: Arc::clone(&program), jobs: Arc::clone(&jobs), index: index.clone() };
            tokio::select! {
                () = accept(listener, router(api, guard, Page::new(page))) => {}
                () = jobs.watch(&index) => {}
                () = stop => {}
            }
            tokio::join!(jobs.end_all(END_PATIENCE), program.end_all(END_PATIENCE));
            Ok(())
        })
    }
}

fn router(api: Api, guard: Arc<Guard>, page: Page) -> Router {
    let page = Arc::new(page);
    let serve_page = move || {
        let page = Arc::clone(&page);
        async move { (page.headers.clone(), page.html.clone()) }
    };
    api::router(api)
        .layer(from_fn_with_state(Arc::clone(&guard), with_secret))
        .route("/", get(serve_page))
        .layer(from_fn_with_state(guard, known_host))
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(CatchPanicLayer::new())
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, REQUEST_PATIENCE))
        .layer(map_response(with_headers))
}

async fn with_headers(mut response: Response) -> Response {
    response.headers_mut().extend(ALWAYS);
    response
}

#[cfg(test)]
mod tests {
    use likenew_history::Location;

    use super::*;

    fn settings(listen: SocketAddr, secret: Option<Secret>) -> Settings {
        let (names, grammar) = (Vec::new(), Grammar { commands: Vec::new() });
        let (program, archive, page) =
            (vec!["likenew".into()], std::path::PathBuf::from("runs"), String::new());
        let runs = KeptRuns { location: Location::beside(&archive), archive, machine: String::new() };
        Settings { listen, secret, names, program, runs, page, grammar }
    }

    #[test]
    fn an_address_that_others_reach_takes_a_secret_of_its_owner() {
        let everywhere = "0.0.0.0:0".parse().unwrap();
        let refused = Server::bind(settings(everywhere, None)).err();
        assert!(matches!(refused, Some(ServeError::RemoteWithoutSecret { .. })), "{refused:?}");
        let server = Server::bind(settings(everywhere, Some(Secret::new().unwrap()))).unwrap();
        assert_ne!(server.address().port(), 0);
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let first = Server::bind(settings("127.0.0.1:0".parse().unwrap(), None)).unwrap();
        let url = first.url();
        assert!(url.starts_with(&format!("http://{}/#", first.address())), "{url}");
        let second = Server::bind(settings(first.address(), None)).err().unwrap().to_string();
        assert!(second.contains(&first.address().to_string()) && second.contains("--listen"), "{second}");
    }
}
