//! The addresses that the page asks.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio_stream::{Stream, StreamExt as _};

use crate::commands::{Grammar, Order};
use crate::error::ApiError;
use crate::index::{Index, RunList, Selection};
use crate::jobs::{Cost, JobView, Jobs};
use crate::metrics::media_type;
use crate::program::Program;
use crate::runs;
use crate::wording;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) program: Arc<Program>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) index: Index,
}

/// All that takes the secret.
pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/api/commands", get(commands))
        .route("/api/drives", get(drives))
        .route("/api/facts", get(facts))
        .route("/api/estimate", post(estimate))
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
    Json(api.jobs.grammar().clone())
}

fn json(text: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Real and simulated drives, as `likenew drives` lists them.
async fn drives(State(api): State<Api>) -> Result<Response, ApiError> {
    api.program.output(&["drives".into(), "--json=-".into()]).await.map(json)
}

/// Health and everything else that the drives report.
async fn facts(State(api): State<Api>) -> Result<Response, ApiError> {
    let words = ["facts", "--all", "--no-archive", "--json=-"].map(Into::into);
    api.program.output(&words).await.map(json)
}

fn body<T>(body: Result<Json<T>, JsonRejection>) -> Result<T, ApiError> {
    body.map(|Json(body)| body).map_err(|refusal| ApiError::new(refusal.status(), refusal.body_text()))
}

async fn estimate(
    State(api): State<Api>,
    asked: Result<Json<Order>, JsonRejection>,
) -> Result<Json<Cost>, ApiError> {
    api.jobs.estimate(&body(asked)?).await.map(Json)
}

async fn estimate_rest(State(api): State<Api>, Path(name): Path<String>) -> Result<Json<Cost>, ApiError> {
    api.jobs.estimate_rest(&name).await.map(Json)
}

/// An estimate that was agreed to.
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

async fn jobs(State(api): State<Api>) -> Json<Vec<JobView>> {
    Json(api.jobs.list())
}

async fn job(State(api): State<Api>, Path(id): Path<u64>) -> Result<Json<JobView>, ApiError> {
    Ok(Json(api.jobs.get(id)?.view()))
}

#[derive(Serialize)]
struct Accepted {}

async fn cancel(
    State(api): State<Api>,
    Path(id): Path<u64>,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    api.jobs.get(id)?.cancel()?;
    Ok((StatusCode::ACCEPTED, Json(Accepted {})))
}

async fn events(
    State(api): State<Api>,
    Path(id): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let (past, mut receiver, is_over) = api.jobs.get(id)?.events();
    let (sender, receiver_of_page) = tokio::sync::mpsc::channel::<Arc<str>>(16);
    tokio::spawn(async move {
        for line in past {
            if sender.send(line).await.is_err() {
                return;
            }
        }
        if is_over {
            return;
        }
        loop {
            match receiver.recv().await {
                Ok(line) => {
                    let is_end = line.starts_with("{\"end\"");
                    if sender.send(line).await.is_err() || is_end {
                        return;
                    }
                }
                // A reader that is too slow misses some; the course goes on.
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
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

/// The runs to compare, in order: `?run=A&run=B`.
async fn compare(
    State(api): State<Api>,
    asked: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<Response, ApiError> {
    let runs: Vec<String> =
        query(asked)?.into_iter().filter(|(key, _)| key == "run").map(|(_, name)| name).collect();
    runs::comparison(&api.program, &runs).await.map(json)
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

/// For Prometheus: the state of all drives.
async fn metrics(State(api): State<Api>, headers: HeaderMap) -> Result<Response, ApiError> {
    let content_type = media_type(&headers).content_type;
    let text = api.index.metrics().await?;
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

async fn run(State(api): State<Api>, Path(name): Path<String>) -> Result<Response, ApiError> {
    runs::document(&api.program, &name).await.map(json)
}
