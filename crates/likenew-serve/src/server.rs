//! Starts and stops the server, and limits what a request may use.

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

/// Longest time until a response begins.
const REQUEST_PATIENCE: Duration = Duration::from_secs(90);
/// Most bytes of a request's body.
const BODY_MAX: usize = 64 << 10;
/// Time in which runs and other children must stop when the server ends.
const END_PATIENCE: Duration = Duration::from_secs(15);

/// Settings of a server.
#[derive(Debug)]
pub struct Settings {
    /// Address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The owner's secret. Without one, a secret is generated, which only a loopback address permits.
    pub secret: Option<Secret>,
    /// Further names of this machine for browsers.
    pub names: Vec<String>,
    /// Program and first arguments that start `likenew`.
    pub program: Vec<OsString>,
    /// The archive and its index.
    pub runs: KeptRuns,
    /// The page's HTML.
    pub page: String,
    /// The commands that may be started.
    pub grammar: Grammar,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    secret: Secret,
    settings: Settings,
}

impl Server {
    /// Opens the socket. Requests are answered in [`Server::run`].
    ///
    /// # Errors
    /// The address is in use, belongs to another machine, or is reached by others and there is no owner's secret.
    pub fn bind(settings: Settings) -> Result<Self, ServeError> {
        let listen = settings.listen;
        let secret = match &settings.secret {
            Some(secret) => secret.clone(),
            None if listen.ip().is_loopback() => Secret::new()?,
            None => return Err(ServeError::RemoteWithoutSecret(listen)),
        };
        let failed = |error| ServeError::Listen { address: listen, error };
        let listener = std::net::TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, secret, settings })
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for the owner. The secret follows the `#`, so browsers send it to no server, and no log contains it.
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.secret.as_str())
    }

    /// Serves until `stop` completes, then interrupts the runs that the server started.
    ///
    /// # Errors
    /// [`ServeError::System`] if the system gives no threads or cannot watch the socket.
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
        assert!(matches!(refused, Some(ServeError::RemoteWithoutSecret(_))), "{refused:?}");
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
