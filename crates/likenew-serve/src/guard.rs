//! Who may ask: the page that the server sent, with the secret, by a name of the server.
//!
//! The `Host` header tells requests of a page whose name was made to point at this address (DNS rebinding); `Origin` and
//! `Sec-Fetch-Site` tell those of other pages in the same browser.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::connections::Caller;
use crate::error::ApiError;
use crate::secret::Secret;
use crate::wording;

/// What a request has to show.
#[derive(Debug)]
pub(crate) struct Guard {
    secret: Secret,
    /// Names by which browsers may call the server, with the port.
    hosts: Vec<String>,
}

impl Guard {
    /// For a server that listens here; `names` are further names of this machine.
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

    /// Whether the request names this server and comes from no other page.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let hosts: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
        let is_known = match hosts[..] {
            [host] => host.to_str().is_ok_and(|host| self.knows(host)),
            _ => false,
        };
        if !is_known {
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
        let given: Vec<&HeaderValue> = headers.get_all(header::AUTHORIZATION).iter().collect();
        let is_it = match given[..] {
            [given] => {
                given.as_bytes().strip_prefix(b"Bearer ").is_some_and(|given| self.secret.matches(given))
            }
            _ => false,
        };
        if is_it { Ok(()) } else { Err(ApiError::new(StatusCode::UNAUTHORIZED, wording::NO_SECRET)) }
    }
}

/// Lets through what names this server and comes from no other page: the page itself, which holds no data.
pub(crate) async fn known_host(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match guard.check_origin(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Lets through what also carries the secret.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut all = vec![("host", "localhost:7373")];
            all.extend_from_slice(lines);
            guard.check_origin(&headers(&all)).is_ok()
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
}
