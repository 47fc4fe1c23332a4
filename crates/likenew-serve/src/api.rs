//! The HTTP interface: the page with its security policy, and the addresses that the page requests.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use likenew_history::metrics::{FORMATS, MediaType};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::broadcast::error::RecvError;
use tokio_stream::{Stream, StreamExt as _};

use super::commands::{Grammar, Order, Program};
use super::error::ApiError;
use super::index::{Index, RunList, Selection};
use super::jobs::{Cost, JobView, Jobs, Now, is_end};
use super::wording;

/// State that all handlers share.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) program: Arc<Program>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) index: Index,
}

/// All addresses that require the secret.
pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/api/commands", get(commands))
        .route("/api/drives", get(drives))
        .route("/api/facts", get(facts))
        .route("/api/estimate", post(estimate))
        .route("/api/orders", post(orders))
        .route("/api/now", get(now))
        .route("/api/jobs", get(jobs).post(start))
        .route("/api/jobs/{id}", get(job))
        .route("/api/jobs/{id}/events", get(events))
        .route("/api/jobs/{id}/cancel", post(cancel))
        .route("/api/runs", get(list_runs))
        .route("/api/runs/{name}", get(run))
        .route("/api/runs/{name}/estimate", post(estimate_rest))
        .route("/api/compare", get(compare))
        .route("/api/history", get(history))
        .route("/api/history/{key}", get(drive_history))
        .route("/metrics", get(metrics))
        .fallback(nothing)
        .with_state(api)
}

async fn nothing() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, wording::NO_SUCH_PAGE)
}

async fn commands(State(api): State<Api>) -> Json<Grammar> {
    Json(api.jobs.grammar.clone())
}

fn json(text: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Real and simulated drives, as `likenew drives` lists them.
async fn drives(State(api): State<Api>) -> Result<Response, ApiError> {
    api.program.output(&["drives".into(), "--json=-".into()]).await.map(json)
}

/// Health and other facts of all drives.
async fn facts(State(api): State<Api>) -> Result<Response, ApiError> {
    let words = ["facts", "--all", "--no-archive", "--json=-"].map(Into::into);
    api.program.output(&words).await.map(json)
}

fn body<T>(body: Result<Json<T>, JsonRejection>) -> Result<T, ApiError> {
    body.map(|Json(body)| body).map_err(|refusal| ApiError::new(refusal.status(), refusal.body_text()))
}

async fn estimate(
    State(api): State<Api>,
    order: Result<Json<Order>, JsonRejection>,
) -> Result<Json<Cost>, ApiError> {
    api.jobs.estimate(&body(order)?).await.map(Json)
}

async fn estimate_rest(State(api): State<Api>, Path(name): Path<String>) -> Result<Json<Cost>, ApiError> {
    api.jobs.estimate_rest(&name).await.map(Json)
}

/// The user's agreement to an estimate, which starts its run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agreement {
    estimate: u64,
}

async fn start(
    State(api): State<Api>,
    agreed: Result<Json<Agreement>, JsonRejection>,
) -> Result<(StatusCode, Json<JobView>), ApiError> {
    api.jobs.start(body(agreed)?.estimate).map(|job| (StatusCode::CREATED, Json(job)))
}

async fn now(State(api): State<Api>) -> Json<Now> {
    Json(api.jobs.now())
}

/// Command lines that a report advises.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advised {
    commands: Vec<String>,
}

/// The order for each command line; `None` if only a terminal can run it.
async fn orders(
    State(api): State<Api>,
    advised: Result<Json<Advised>, JsonRejection>,
) -> Result<Json<Vec<Option<Order>>>, ApiError> {
    let order = |command: &String| api.jobs.grammar.order(command);
    Ok(Json(body(advised)?.commands.iter().map(order).collect()))
}

async fn jobs(State(api): State<Api>) -> Json<Vec<JobView>> {
    Json(api.jobs.list())
}

async fn job(State(api): State<Api>, Path(id): Path<u64>) -> Result<Json<JobView>, ApiError> {
    Ok(Json(api.jobs.get(id)?.view()))
}

async fn cancel(State(api): State<Api>, Path(id): Path<u64>) -> Result<Response, ApiError> {
    api.jobs.get(id)?.cancel()?;
    Ok((StatusCode::ACCEPTED, json(b"{}".to_vec())).into_response())
}

async fn events(
    State(api): State<Api>,
    Path(id): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let (past, mut receiver) = api.jobs.get(id)?.events();
    let (sender, receiver_of_page) = tokio::sync::mpsc::channel::<Arc<str>>(16);
    tokio::spawn(async move {
        let mut past = past.into_iter();
        loop {
            let line = match past.next() {
                Some(line) => line,
                None => match receiver.recv().await {
                    Ok(line) => line,
                    // A slow reader misses some events and then continues.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                },
            };
            let is_end = is_end(&line);
            if sender.send(line).await.is_err() || is_end {
                return;
            }
        }
    });
    let lines = tokio_stream::wrappers::ReceiverStream::new(receiver_of_page);
    Ok(Sse::new(lines.map(|line| Ok(Event::default().data(&*line)))).keep_alive(Default::default()))
}

fn query<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, ApiError> {
    query.map(|Query(query)| query).map_err(|refusal| ApiError::new(refusal.status(), refusal.body_text()))
}

async fn list_runs(
    State(api): State<Api>,
    selection: Result<Query<Selection>, QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    api.index.runs(query(selection)?).await.map(Json)
}

/// Compares runs in the given order: `?run=A&run=B`.
async fn compare(
    State(api): State<Api>,
    pairs: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Response, ApiError> {
    let runs: Vec<String> =
        query(pairs)?.into_iter().filter(|(key, _)| key == "run").map(|(_, name)| name).collect();
    api.program.comparison(&runs).await.map(json)
}

async fn history(
    State(api): State<Api>,
    selection: Result<Query<Selection>, QueryRejection>,
) -> Result<Response, ApiError> {
    api.index.drives(query(selection)?).await.map(|text| json(text.into_bytes()))
}

async fn drive_history(State(api): State<Api>, Path(key): Path<String>) -> Result<Response, ApiError> {
    api.index.drive(key).await.map(|text| json(text.into_bytes()))
}

/// The state of all drives, for Prometheus.
async fn metrics(State(api): State<Api>, headers: HeaderMap) -> Result<Response, ApiError> {
    let content_type = media_type(&headers).content_type;
    let text = api.index.metrics().await?;
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

async fn run(State(api): State<Api>, Path(name): Path<String>) -> Result<Response, ApiError> {
    api.program.document(&name).await.map(json)
}

/// The media type that `Accept` prefers; the better one if both are equal, and plain text if neither is accepted.
pub(crate) fn media_type(headers: &HeaderMap) -> MediaType {
    let accepted: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let ranges: Vec<Range<'_>> = accepted.iter().flat_map(|line| line.split(',')).map(Range::new).collect();
    let weight = |format: &MediaType| {
        let named = ranges.iter().filter(|range| range.essence == format.essence);
        named.map(|range| range.weight).fold(0.0, f64::max)
    };
    let [better, plain] = FORMATS;
    if weight(&better) > 0.0 && weight(&better) >= weight(&plain) { better } else { plain }
}

/// One entry of `Accept`: `text/plain;version=0.0.4;q=0.5`.
struct Range<'a> {
    essence: &'a str,
    weight: f64,
}

impl<'a> Range<'a> {
    fn new(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
        Self { essence, weight: weight.unwrap_or_default() }
    }
}

/// The page, and a policy by which browsers run only the scripts in it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: Bytes,
    pub(crate) headers: HeaderMap,
}

impl Page {
    /// Takes the HTML with its scripts and styles inline.
    pub(crate) fn new(html: String) -> Self {
        let hashes = |tag: &str| -> String {
            inline(&html, tag)
                .map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text))))
                .collect()
        };
        let policy = [
            "default-src 'none'".to_owned(),
            format!("script-src{}", hashes("script")),
            format!("style-src{}", hashes("style")),
            ["img-src", "'self'", "data:", "blob:"].join(" "),
            "connect-src 'self'".to_owned(),
            "base-uri 'none'".to_owned(),
            "form-action 'none'".to_owned(),
            "frame-ancestors 'none'".to_owned(),
        ]
        .join("; ");
        let policy = HeaderValue::from_str(&policy).expect("it is plain ASCII");
        let content_type = HeaderValue::from_static("text/html; charset=utf-8");
        let headers = [(header::CONTENT_TYPE, content_type), (header::CONTENT_SECURITY_POLICY, policy)];
        Self { html: html.into(), headers: headers.into_iter().collect() }
    }
}

/// Contents of all elements with this tag, except blocks of JSON.
fn inline<'a>(html: &'a str, tag: &'a str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let (_, begun) = rest.split_once(&*open)?;
            let (attributes, content) = begun.split_once('>')?;
            let (content, after) = content.split_once(&*close)?;
            rest = after;
            let is_tag = attributes.is_empty() || attributes.starts_with([' ', '\n']);
            if is_tag && !attributes.contains("application/json") {
                return Some(content);
            }
        }
    })
}

/// Headers of every response.
pub(crate) const ALWAYS: [(HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    /// The header that Prometheus 2.42 sends.
    const PROMETHEUS: &str = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
        text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

    #[test]
    fn the_type_is_the_one_that_the_reader_weighs_most() {
        let essence = |accept: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(line));
            }
            media_type(&headers).essence
        };
        let (openmetrics, plain) = ("application/openmetrics-text", "text/plain");
        assert_eq!(essence(&[PROMETHEUS]), openmetrics);
        assert_eq!(essence(&["text/plain", "application/openmetrics-text; version=1.0.0"]), openmetrics);
        assert_eq!(essence(&["application/openmetrics-text;q=0.4, text/plain;q=0.5"]), plain);
        assert_eq!(essence(&["application/openmetrics-text;q=0"]), plain);
        assert_eq!(essence(&["application/openmetrics-text;q=much"]), plain);
        for other in [&[][..], &["*/*"], &["text/html"], &[",;q=,;"]] {
            assert_eq!(essence(other), plain, "{other:?}");
        }
    }

    #[test]
    fn each_script_and_style_has_its_hash_and_no_other_may_run() {
        let html = "<html><style rel=x>a{}</style><script type=\"module\">let a = 1;</script>\
                    <script type=\"application/json\">[1]</script><scripted>no</scripted></html>";
        let policy =
            Page::new(html.to_owned()).headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        assert!(policy.contains(&format!("script-src {};", hash("let a = 1;"))), "{policy}");
        assert!(policy.contains(&format!("style-src {};", hash("a{}"))), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
