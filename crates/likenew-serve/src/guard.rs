//! Guards access: only the server's own page may make requests, with the secret, under a known host name. Callers that
//! have shown the secret never wait for those that have not.
//!
//! The `Host` header reveals a page whose name was made to point at this address (DNS rebinding). `Origin` and
//! `Sec-Fetch-Site` reveal other pages in the same browser.

use std::collections::VecDeque;
use std::fmt;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use likenew_core::input;
use subtle::ConstantTimeEq as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;
use tower_http::add_extension::AddExtension;

use super::error::{ApiError, ServeError};
use super::wording;

/// The requirements for a request.
#[derive(Debug)]
pub(crate) struct Guard {
    secret: Secret,
    /// Host names with port under which browsers may reach the server.
    hosts: Vec<String>,
}

impl Guard {
    /// For a server at this address; `names` are further names of this machine.
    pub(crate) fn new(secret: Secret, address: SocketAddr, names: &[String]) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        hosts.extend(names.iter().map(|name| format!("{}:{port}", name.to_ascii_lowercase())));
        Self { secret, hosts }
    }

    fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.hosts.iter().any(|known| *known == host || known.strip_suffix(":80") == Some(&*host))
    }

    /// Checks that the request names this server and does not come from another page.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let is_known = |host: &HeaderValue| host.to_str().is_ok_and(|host| self.knows(host));
        if !only(headers, header::HOST).is_some_and(is_known) {
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, wording::OTHER_HOST));
        }
        let origins: Vec<&HeaderValue> = headers.get_all(header::ORIGIN).iter().collect();
        let is_own = |origin: &&HeaderValue| {
            let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            host.is_some_and(|host| self.knows(host))
        };
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_own_site = site.is_none_or(|site| matches!(site, b"same-origin" | b"none"));
        if origins.len() > 1 || !origins.iter().all(is_own) || !is_own_site {
            return Err(ApiError::new(StatusCode::FORBIDDEN, wording::OTHER_ORIGIN));
        }
        Ok(())
    }

    fn check_secret(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given = only(headers, header::AUTHORIZATION);
        let given = given.and_then(|given| given.as_bytes().strip_prefix(b"Bearer "));
        let is_it = given.is_some_and(|given| self.secret.matches(given));
        if is_it { Ok(()) } else { Err(ApiError::new(StatusCode::UNAUTHORIZED, wording::NO_SECRET)) }
    }
}

/// The value of a header that may stand there only once; `None` also for several.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Passes requests with a known host and origin. The page needs no more, since it holds no data.
pub(crate) async fn known_host(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match guard.check_origin(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Passes requests that also carry the secret.
pub(crate) async fn with_secret(
    State(guard): State<Arc<Guard>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    match guard.check_secret(request.headers()) {
        Ok(()) => {
            caller.admit().await;
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// A secret of printable characters.
#[derive(Clone)]
pub struct Secret(String);

/// Random bytes of a generated secret.
const BYTES: usize = 32;
/// Fewest characters of an owner's secret. Chosen: 128 bits in hexadecimal digits.
const CHARS_MIN: usize = 32;
/// Most characters of an owner's secret, which must fit a header.
const CHARS_MAX: usize = 1024;

impl Secret {
    /// Generates a secret from the kernel's random numbers.
    ///
    /// # Errors
    /// [`ServeError::NoRandom`] if the kernel gives none.
    pub fn new() -> Result<Self, ServeError> {
        let mut bytes = [0; BYTES];
        std::fs::File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(ServeError::NoRandom)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Reads the first line of a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, other users can read it, or the line is too short or not printable ASCII.
    pub fn from_file(path: &Path) -> Result<Self, ServeError> {
        use std::os::unix::fs::PermissionsExt as _;

        let failed = |error| ServeError::SecretUnreadable { path: path.to_owned(), error };
        let file = input::open(path, input::SECRET).map_err(|error| failed(error.into()))?;
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(ServeError::SecretOpenToOthers(path.to_owned()));
        }
        let mut text = String::new();
        file.take(CHARS_MAX as u64 + 2).read_to_string(&mut text).map_err(failed)?;
        let line = text.lines().next().unwrap_or_default().trim();
        let is_usable =
            (CHARS_MIN..=CHARS_MAX).contains(&line.len()) && line.bytes().all(|b| b.is_ascii_graphic());
        if is_usable { Ok(Self(line.to_owned())) } else { Err(ServeError::SecretWeak(path.to_owned())) }
    }

    /// The secret, for the URL that the owner opens.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that timing does not reveal the secret.
    pub(crate) fn matches(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }
}

impl fmt::Debug for Secret {
    /// Hides the secret, which must not reach a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// Most connections that have shown the secret; more wait. Chosen: many viewers, and few enough for a small machine.
const KNOWN_MAX: usize = 256;
/// Most connections that have not shown it; a new one ends the oldest. Chosen: a page needs one for less than a second.
const STRANGERS_MAX: usize = 256;
/// Time in which a connection must show the secret; the page does so sooner over any network.
const STRANGER_PATIENCE: Duration = Duration::from_secs(30);
/// Longest time for the head of a request, and for a client's receiving more of a response.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const WRITE_PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });
/// Most bytes of a request's head.
const HEAD_MAX: usize = 32 << 10;
/// Pause after the system failed to accept a connection, as without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The client of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    places: Arc<Semaphore>,
    /// The client's place among those that have shown the secret, once it has one.
    place: Arc<SetOnce<OwnedSemaphorePermit>>,
}

impl Caller {
    fn new(places: &Arc<Semaphore>) -> Self {
        Self { places: Arc::clone(places), place: Arc::default() }
    }

    /// Called when the client has shown the secret. Waits for a free place.
    pub(crate) async fn admit(&self) {
        if !self.place.initialized() {
            let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes it");
            // A connection handles one request at a time.
            let _ = self.place.set(place);
        }
    }
}

/// Accepts connections and serves each one in its own task.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(KNOWN_MAX));
    // Connections without the secret, oldest first.
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
    // Events are small and must not wait for more bytes.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PATIENCE));
    let service = TowerToHyperService::new(AddExtension::new(router, caller.clone()));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_MAX)
        // A client may close its side before it reads the response.
        .half_close(true)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = pin!(connection);
    let admitted = tokio::time::timeout(STRANGER_PATIENCE, caller.place.wait());
    // If the client has left or sent nonsense, nobody is there to be told.
    tokio::select! {
        _ = &mut connection => {}
        admitted = admitted => if admitted.is_ok() { let _ = connection.await; }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Extension;
    use axum::routing::get;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn guard() -> Guard {
        Guard::new(Secret::new().unwrap(), "127.0.0.1:7373".parse().unwrap(), &[])
    }

    #[test]
    fn only_its_own_names_are_answered() {
        let guard = guard();
        let check = |lines: &[(&'static str, &str)]| {
            guard.check_origin(&headers(lines)).map_err(|error| error.status)
        };
        for host in ["127.0.0.1:7373", "localhost:7373", "LOCALHOST:7373", "[::1]:7373"] {
            assert_eq!(check(&[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:7374",
            "evil.example:7373",
            "localhost:7373.evil.example",
            "",
            "localhost:7373 ",
        ] {
            assert_eq!(check(&[("host", host)]), Err(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
        assert!(check(&[]).is_err(), "HTTP/1.1 has a host in each request");
        assert!(check(&[("host", "localhost:7373"), ("host", "evil.example")]).is_err());
    }

    #[test]
    fn other_pages_are_refused() {
        let guard = guard();
        let check = |lines: &[(&'static str, &str)]| {
            let mut all_lines = vec![("host", "localhost:7373")];
            all_lines.extend_from_slice(lines);
            guard.check_origin(&headers(&all_lines)).is_ok()
        };
        assert!(check(&[("origin", "http://localhost:7373")]) && check(&[("sec-fetch-site", "same-origin")]));
        for origin in
            ["null", "https://localhost:7373", "http://evil.example", "http://localhost:7373.evil.example"]
        {
            assert!(!check(&[("origin", origin)]), "{origin}");
        }
        assert!(!check(&[("origin", "http://localhost:7373"), ("origin", "http://evil.example")]));
        assert!(!check(&[("sec-fetch-site", "cross-site")]) && !check(&[("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn the_secret_is_asked_for_exactly_once() {
        let guard = guard();
        let right = format!("Bearer {}", guard.secret.as_str());
        let check = |lines: &[(&'static str, &str)]| guard.check_secret(&headers(lines)).is_ok();
        assert!(check(&[("authorization", &right)]));
        assert!(
            !check(&[]) && !check(&[("authorization", "Bearer ")]) && !check(&[("authorization", "Basic x")])
        );
        assert!(!check(&[("authorization", &right), ("authorization", &right)]));
        assert!(!check(&[("authorization", &right.to_lowercase())]), "of another kind");
    }

    #[test]
    fn a_machine_that_others_reach_has_the_names_that_its_owner_gives() {
        let guard =
            Guard::new(Secret::new().unwrap(), "192.0.2.7:80".parse().unwrap(), &["Lab.example".into()]);
        for host in ["192.0.2.7:80", "192.0.2.7", "lab.example", "lab.example:80"] {
            assert!(guard.knows(host), "{host}");
        }
        assert!(!guard.knows("localhost:80") && !guard.knows("localhost"));
    }

    #[test]
    fn a_pipe_with_no_writer_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = Secret::from_file(&pipe).unwrap_err().to_string();
        assert!(error.contains("it is a pipe"), "{error}");
    }

    #[test]
    fn a_new_one_is_long_and_another_each_time() {
        let (secret, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(secret.as_str().len(), 64);
        assert!(secret.matches(secret.as_str().as_bytes()) && !secret.matches(other.as_str().as_bytes()));
        assert!(!secret.matches(b"") && !secret.matches(&secret.as_str().as_bytes()[..63]));
        assert_eq!(format!("{secret:?}"), "Secret");
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_short_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Secret::from_file(&path)
        };
        let long = "0123456789abcdef0123456789abcdef";
        assert_eq!(write(&format!("{long}\n"), 0o600).unwrap().as_str(), long);
        assert!(matches!(write(long, 0o644), Err(ServeError::SecretOpenToOthers { .. })));
        assert!(matches!(write("short", 0o600), Err(ServeError::SecretWeak { .. })));
        assert!(matches!(write(&"ä".repeat(40), 0o600), Err(ServeError::SecretWeak { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Secret::from_file(&path), Err(ServeError::SecretUnreadable { .. })));
    }

    /// Requests a long response and does not read it. Returns how long the server waited.
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
