//! Runs started by this server, and runs watched that others started: progress, end, and how to cancel them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use likenew_archive::{LiveNote, live_runs};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::sync::{Notify, broadcast};

use crate::commands::{Grammar, Order, Program};
use crate::error::ApiError;
use crate::index::{Index, RunEntry};
use crate::wording;

/// Most runs in progress. Chosen: more than the drives that one person measures at a time.
const RUNNING_MAX: usize = 8;
/// Finished runs that stay listed; the archive keeps all of them.
const OVER_MAX: usize = 100;
/// Events kept of one run for later viewers. Beyond, every second progress event is dropped.
const EVENTS_MAX: usize = 4096;
/// Messages kept of one run, and characters of each.
const MESSAGES_MAX: usize = 100;
const MESSAGE_CHARS_MAX: usize = 2000;
/// Bytes of standard output that are kept; a summary is a few lines.
const SUMMARY_MAX: u64 = 16 << 10;
/// Events by which a slow reader may fall behind before it misses some.
const BEHIND_MAX: usize = 256;

/// Interval for checking runs that others started. Chosen: a person takes it for immediate.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Most estimates without agreement; the oldest are dropped. Chosen: more than one person has open.
const ESTIMATES_MAX: usize = 100;

/// Fixed options of a run, and of its estimate.
const FIXED: [&str; 3] = ["--progress=json", "--quiet", "--color=never"];
const ESTIMATE: [&str; 3] = ["--estimate", "--json=-", "--color=never"];

/// All runs that this server knows.
pub(crate) struct Jobs {
    program: Arc<Program>,
    pub(crate) grammar: Grammar,
    table: Mutex<Table>,
    /// Held during an estimate: it locks the drive, and a typing user requests one after another.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Table {
    last_id: u64,
    jobs: BTreeMap<u64, Arc<Job>>,
    estimates: BTreeMap<u64, Estimated>,
}

/// A run that may be started, because its cost was shown.
struct Estimated {
    order: Order,
    words: Vec<OsString>,
}

/// The cost of a run as the program reports it, and a number with which the user agrees.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Cost {
    #[serde(default)]
    id: u64,
    /// The question that the terminal would ask first.
    question: Option<String>,
    /// The command line for the same run.
    #[serde(default)]
    command: Option<String>,
    #[serde(flatten)]
    more: serde_json::Map<String, Value>,
}

/// One run in progress or finished.
pub(crate) struct Job {
    /// Whether this server started the run; others are only watched.
    is_own: bool,
    /// The run's process number, valid while the run is in progress.
    process: Option<u32>,
    state: Mutex<JobState>,
    /// Events as lines of JSON.
    events: broadcast::Sender<Arc<str>>,
    cancel: Notify,
    over: Notify,
}

struct JobState {
    view: JobView,
    events: Vec<Arc<str>>,
    /// For a watched run, the lines seen last.
    seen: Vec<String>,
}

/// Runs in progress.
#[derive(Debug, Serialize)]
pub(crate) struct Now {
    running: Vec<JobView>,
    /// A text that changes when a run begins or ends.
    change: String,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JobEnd {
    /// Exit code; `None` if a signal ended the run.
    code: Option<i32>,
    /// Meaning of the exit code.
    outcome: &'static str,
    /// The result in a line, or why there is none.
    summary: String,
    run: Option<String>,
}

/// A run in the list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JobView {
    id: u64,
    #[serde(flatten)]
    order: Order,
    is_own: bool,
    /// The name of the run folder.
    run: Option<String>,
    /// The latest progress event.
    progress: Option<Value>,
    messages: Vec<String>,
    end: Option<JobEnd>,
}

impl Jobs {
    pub(crate) fn new(program: Arc<Program>, grammar: Grammar) -> Self {
        Self { program, grammar, table: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// Estimates the cost of a new run.
    pub(crate) async fn estimate(&self, order: &Order) -> Result<Cost, ApiError> {
        let archive = format!("--archive={}", self.program.archive.display());
        let words = |fixed: [&str; 3]| {
            let fixed: Vec<&str> = fixed.into_iter().chain([&*archive]).collect();
            self.grammar.words(order, &fixed)
        };
        let line = self.grammar.line(order)?;
        let offered = self.offer(order.clone(), &words(ESTIMATE)?, words(FIXED)?).await;
        match offered {
            Ok(cost) => Ok(Cost { command: Some(line), ..cost }),
            Err(refusal) if refusal.status == StatusCode::FORBIDDEN => {
                Err(ApiError { command: Some(line), ..refusal })
            }
            Err(error) => Err(error),
        }
    }

    /// Estimates the cost of resuming an interrupted run.
    pub(crate) async fn estimate_rest(&self, name: &str) -> Result<Cost, ApiError> {
        let folder = self.program.folder(name)?;
        let words = |fixed: [&str; 3]| -> Vec<OsString> {
            let words = ["resume"].into_iter().chain(fixed).chain(["--"]).map(OsString::from);
            words.chain([folder.clone().into()]).collect()
        };
        self.offer(Order::new("resume", name), &words(ESTIMATE), words(FIXED)).await
    }

    /// Asks the program for a run's cost, and keeps the run so that it can be started.
    async fn offer(
        &self,
        order: Order,
        estimate: &[OsString],
        mut words: Vec<OsString>,
    ) -> Result<Cost, ApiError> {
        let failed = |error: serde_json::Error| {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, wording::failed(&error.to_string()))
        };
        let answer = {
            let _alone = self.asking.lock().await;
            self.program.output(estimate).await?
        };
        let mut cost: Cost = serde_json::from_slice(&answer).map_err(failed)?;
        // The user saw this question, and no other, so `--yes` answers only this one.
        if cost.question.is_some() {
            words.insert(1, "--yes".into());
        }
        let mut table = self.table();
        table.last_id += 1;
        cost.id = table.last_id;
        table.estimates.insert(cost.id, Estimated { order, words });
        if table.estimates.len() > ESTIMATES_MAX {
            table.estimates.pop_first();
        }
        Ok(cost)
    }

    /// Starts the run of an estimate to which the user agreed. An estimate starts one run.
    pub(crate) fn start(&self, estimate: u64) -> Result<JobView, ApiError> {
        let estimated = self.table().estimates.remove(&estimate);
        let estimated =
            estimated.ok_or_else(|| ApiError::new(StatusCode::CONFLICT, wording::NO_SUCH_ESTIMATE))?;
        let started = self.spawn(&estimated.order, &estimated.words);
        if started.is_err() {
            self.table().estimates.insert(estimate, estimated);
        }
        started
    }

    fn spawn(&self, order: &Order, words: &[OsString]) -> Result<JobView, ApiError> {
        let mut table = self.table();
        if table.jobs.values().filter(|job| job.is_own && !job.is_over()).count() >= RUNNING_MAX {
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, wording::too_many_jobs(RUNNING_MAX)));
        }
        let child = self.program.command(words).spawn();
        let child = child
            .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, wording::not_started(error)))?;
        let job = table.add(order.clone(), true, child.id());
        let view = job.view();
        tokio::spawn(async move { job.follow(child).await });
        Ok(view)
    }

    /// Watches runs that others started, such as in a terminal, until dropped.
    pub(crate) async fn watch(&self, index: &Index) {
        loop {
            // If no thread is available now, the next turn may get one.
            let live = tokio::task::spawn_blocking(live_runs).await.unwrap_or_default();
            for (job, run) in self.see(&live) {
                // It ends with the result in its folder.
                let kept = index.run(run).await.ok().flatten();
                let summary = kept.as_ref().and_then(|kept| kept.summary.as_deref());
                job.end(kept.as_ref().and_then(RunEntry::exit_code), summary.unwrap_or_default());
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Takes what runs in progress report of themselves. Returns watched runs that ended, with their folders' names.
    fn see(&self, live: &[LiveNote]) -> Vec<(Arc<Job>, String)> {
        let mut table = self.table();
        for note in live {
            let known = table.jobs.values().find(|job| job.process == Some(note.process) && !job.is_over());
            let job = match known {
                Some(job) if job.is_own => continue,
                Some(job) => Arc::clone(job),
                None => match begun(note, &self.program.archive) {
                    Some(order) => table.add(order, false, Some(note.process)),
                    None => continue,
                },
            };
            job.see(&note.text);
        }
        let is_live = |job: &Job| live.iter().any(|note| job.process == Some(note.process));
        let gone = table.jobs.values().filter(|job| !job.is_own && !job.is_over() && !is_live(job));
        gone.map(|job| (Arc::clone(job), job.state().view.run.clone().unwrap_or_default())).collect()
    }

    /// Runs in progress, and a text that shows whether anything changed.
    pub(crate) fn now(&self) -> Now {
        let table = self.table();
        let running: Vec<JobView> =
            table.jobs.values().rev().filter(|job| !job.is_over()).map(|job| job.view()).collect();
        // A run that began and ended between two looks changed the archive's folder.
        let folders = std::fs::metadata(&self.program.archive).and_then(|archive| archive.modified()).ok();
        let change = format!("{} {} {folders:?}", table.last_id, table.jobs.len() - running.len());
        Now { running, change }
    }

    /// All runs, newest first.
    pub(crate) fn list(&self) -> Vec<JobView> {
        self.table().jobs.values().rev().map(|job| job.view()).collect()
    }

    pub(crate) fn get(&self, id: u64) -> Result<Arc<Job>, ApiError> {
        let job = self.table().jobs.get(&id).cloned();
        job.ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, wording::NO_SUCH_JOB))
    }

    /// Interrupts all runs of this server and waits for their end, at most `patience`.
    pub(crate) async fn end_all(&self, patience: Duration) {
        let running: Vec<Arc<Job>> =
            self.table().jobs.values().filter(|job| job.is_own && !job.is_over()).cloned().collect();
        let ending = async {
            for job in running {
                job.cancel.notify_one();
                job.ended().await;
            }
        };
        // A run that does not end in time continues as a program of its own.
        let _ = tokio::time::timeout(patience, ending).await;
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn add(&mut self, order: Order, is_own: bool, process: Option<u32>) -> Arc<Job> {
        self.last_id += 1;
        let id = self.last_id;
        let view = JobView { id, order, is_own, run: None, progress: None, messages: Vec::new(), end: None };
        let job = Arc::new(Job {
            is_own,
            process,
            state: Mutex::new(JobState { view, events: Vec::new(), seen: Vec::new() }),
            events: broadcast::channel(BEHIND_MAX).0,
            cancel: Notify::new(),
            over: Notify::new(),
        });
        self.jobs.insert(id, Arc::clone(&job));
        let over: Vec<u64> = self.jobs.iter().filter(|(_, job)| job.is_over()).map(|(id, _)| *id).collect();
        for id in over.iter().take(over.len().saturating_sub(OVER_MAX)) {
            self.jobs.remove(id);
        }
        job
    }
}

/// The order of a run that others started, if its folder is in this archive.
fn begun(note: &LiveNote, archive: &Path) -> Option<Order> {
    let event: Value = serde_json::from_str(note.text.lines().next()?).ok()?;
    let run = event.get("run")?;
    let folder = Path::new(run["folder"].as_str()?).parent()?.canonicalize().ok()?;
    let text = |key: &str| run[key].as_str().map(str::to_owned);
    let order = Order::new(&text("procedure")?, &text("target")?);
    (folder == archive.canonicalize().ok()?).then_some(order)
}

impl Job {
    fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.state().view.end.is_some()
    }

    async fn ended(&self) {
        loop {
            let over = self.over.notified();
            tokio::pin!(over);
            over.as_mut().enable();
            if self.is_over() {
                return;
            }
            over.await;
        }
    }

    pub(crate) fn view(&self) -> JobView {
        self.state().view.clone()
    }

    /// Interrupts the run, as Ctrl-C does. Measurements are kept, and the run can be resumed.
    pub(crate) fn cancel(&self) -> Result<(), ApiError> {
        if self.is_over() {
            return Err(ApiError::new(StatusCode::CONFLICT, wording::JOB_IS_OVER));
        }
        if !self.is_own {
            return Err(ApiError::new(StatusCode::CONFLICT, wording::JOB_OF_OTHERS));
        }
        self.cancel.notify_one();
        Ok(())
    }

    /// Past events and a receiver for later ones, without a gap. [`is_end`] tells the last one.
    pub(crate) fn events(&self) -> (Vec<Arc<str>>, broadcast::Receiver<Arc<str>>) {
        let state = self.state();
        (state.events.clone(), self.events.subscribe())
    }

    async fn follow(&self, mut child: Child) {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let wait = async {
            loop {
                tokio::select! {
                    status = child.wait() => return status,
                    () = self.cancel.notified() => {
                        // The number belongs to the child until it is reaped. The child may be over already.
                        if let Some(id) = child.id() {
                            let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGINT);
                        }
                    }
                }
            }
        };
        let (status, summary, ()) = tokio::join!(wait, summary(stdout), self.read_events(stderr));
        let said = if summary.trim().is_empty() { self.state().view.messages.join("\n") } else { summary };
        self.end(status.ok().and_then(|status| status.code()), &said);
    }

    async fn read_events(&self, stderr: Option<ChildStderr>) {
        let Some(stderr) = stderr else { return };
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            match serde_json::from_str::<Value>(&line) {
                Ok(event) if event.is_object() => self.on_event(event, &line),
                _ => self.on_message(&line),
            }
        }
    }

    /// Takes the new lines of a run's report. A line that is just being written may be incomplete; it is skipped.
    fn see(&self, text: &str) {
        let before = std::mem::take(&mut self.state().seen);
        for line in text.lines().filter(|line| !before.iter().any(|seen| seen == line)) {
            if let Some(event) = serde_json::from_str(line).ok().filter(Value::is_object) {
                self.on_event(event, line);
            }
        }
        self.state().seen = text.lines().map(str::to_owned).collect();
    }

    fn on_event(&self, event: Value, line: &str) {
        let mut state = self.state();
        if let Some(run) = event.get("run") {
            let folder = run["folder"].as_str().map(Path::new).and_then(Path::file_name);
            state.view.run = folder.and_then(|name| name.to_str()).map(str::to_owned);
        }
        if let Some(progress) = event.get("progress") {
            state.view.progress = Some(progress.clone());
        }
        self.publish(&mut state, line.into());
    }

    fn on_message(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let text: String = line.chars().take(MESSAGE_CHARS_MAX).collect();
        let mut state = self.state();
        if state.view.messages.len() < MESSAGES_MAX {
            state.view.messages.push(text.clone());
            self.publish(&mut state, serde_json::json!({ "message": text }).to_string().into());
        }
    }

    fn publish(&self, state: &mut JobState, line: Arc<str>) {
        if state.events.len() >= EVENTS_MAX {
            let mut index = 0;
            state.events.retain(|event| {
                index += 1;
                !event.starts_with("{\"progress\"") || index % 2 == 0
            });
        }
        // Other events may still exceed the limit; the end is always kept.
        if state.events.len() < 2 * EVENTS_MAX || is_end(&line) {
            state.events.push(Arc::clone(&line));
        }
        // There may be no viewer.
        let _ = self.events.send(line);
    }

    fn end(&self, code: Option<i32>, said: &str) {
        let mut state = self.state();
        let end = JobEnd {
            code,
            outcome: wording::outcome(code),
            summary: wording::failed(said),
            run: state.view.run.clone(),
        };
        let line = serde_json::json!({ "end": end }).to_string();
        self.publish(&mut state, line.into());
        state.view.end = Some(end);
        drop(state);
        self.over.notify_waiters();
    }
}

/// Whether an event is the last one of its run.
pub(crate) fn is_end(line: &str) -> bool {
    line.starts_with("{\"end\"")
}

async fn summary(stdout: Option<ChildStdout>) -> String {
    let Some(mut stdout) = stdout else { return String::new() };
    let mut bytes = Vec::new();
    // Output that cannot be read is left out of the summary.
    let _ = (&mut stdout).take(SUMMARY_MAX).read_to_end(&mut bytes).await;
    // The rest is read, too, so that the program never blocks on a full pipe.
    let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
