//! Places for connections: callers that have shown the secret never wait for those that have not.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;
use tower_http::add_extension::AddExtension;

/// Connections that have shown the secret, at once; more wait. Chosen: many viewers, and few enough for a small machine.
const KNOWN_MAX: usize = 256;
/// Connections that have not, at once; a new one ends the oldest. Chosen: a page takes one for less than a second.
const STRANGERS_MAX: usize = 256;
/// A connection ends if the secret was not shown for so long; the page comes sooner over any network.
const STRANGER_PATIENCE: Duration = Duration::from_secs(30);
/// A caller has so long for the head of a request, and for taking the next bytes of an answer.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const WRITE_PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });
/// Bytes of a request's head.
const HEAD_MAX: usize = 32 << 10;
/// Pause after the system has refused a connection, as it does without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Who is at the other end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    places: Arc<Semaphore>,
    /// Its place among those that have shown the secret.
    place: Arc<SetOnce<OwnedSemaphorePermit>>,
}

impl Caller {
    fn new(places: &Arc<Semaphore>) -> Self {
        Self { places: Arc::clone(places), place: Arc::default() }
    }

    /// Has shown the secret; waits for a place among those that have.
    pub(crate) async fn admit(&self) {
        if !self.place.initialized() {
            let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes it");
            // Requests of one connection come one after the other.
            let _ = self.place.set(place);
        }
    }
}

/// Answers whoever connects.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(KNOWN_MAX));
    // The oldest first.
    let mut strangers: VecDeque<(AbortHandle, Caller)> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        strangers.retain(|(task, caller)| !task.is_finished() && !caller.place.initialized());
        if strangers.len() >= STRANGERS_MAX
            && let Some((oldest, _)) = strangers.pop_front()
        {
            oldest.abort();
        }
        let caller = Caller::new(&places);
        let task = tokio::spawn(serve_connection(stream, router.clone(), caller.clone()));
        strangers.push_back((task.abort_handle(), caller));
    }
}

async fn serve_connection(stream: TcpStream, router: Router, caller: Caller) {
    // Events are small, and wait for no others.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PATIENCE));
    let service = TowerToHyperService::new(AddExtension::new(router, caller.clone()));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_MAX)
        // A caller may have said everything before it hears the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = pin!(connection);
    let admitted = tokio::time::timeout(STRANGER_PATIENCE, caller.place.wait());
    // A caller that went away or sent nonsense has no one to be told.
    tokio::select! {
        _ = &mut connection => {}
        admitted = admitted => if admitted.is_ok() { let _ = connection.await; }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::Extension;
    use axum::routing::get;

    use super::*;

    /// Sends a request, of whose long answer nothing is read, and waits until the server gives that up.
    async fn is_given_up(path: &'static str) -> Duration {
        let page = async || "x".repeat(64 << 20);
        let admitted = async |Extension(caller): Extension<Caller>| {
            caller.admit().await;
            "x".repeat(64 << 20)
        };
        let router = Router::new().route("/page", get(page)).route("/api", get(admitted));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut caller = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        caller.write_all(format!("GET {path} HTTP/1.1\r\nhost: here\r\n\r\n").as_bytes()).unwrap();
        let began = tokio::time::Instant::now();
        let (stream, _) = listener.accept().await.unwrap();
        serve_connection(stream, router, Caller::new(&Arc::new(Semaphore::new(1)))).await;
        let given_up = began.elapsed();
        let mut answer = Vec::new();
        let _ = caller.read_to_end(&mut answer);
        assert!((1..64 << 20).contains(&answer.len()), "{}", answer.len());
        given_up
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_is_given_up() {
        for path in ["/page", "/api"] {
            let after = is_given_up(path).await;
            assert!((WRITE_PATIENCE..STRANGER_PATIENCE).contains(&after), "{path}: {after:?}");
        }
    }
}
