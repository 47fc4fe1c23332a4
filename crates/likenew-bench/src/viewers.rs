//! Measures what live viewers of the served page cost the run that they watch, in pairs of runs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::record::build_for_users;
use crate::table::{middle, spread};
use crate::target::Tmpfs;

/// How many viewers, and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pairs of runs; at least 7 for numbers that are quoted
    #[arg(long, default_value_t = 10)]
    pairs: usize,
    /// Viewers of each run
    #[arg(long, default_value_t = 50)]
    viewers: usize,
    /// The binary that serves [default: built as packages hold it]
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// Bytes of the span that each run tests.
const SPAN: u64 = 256 << 20;
/// Time between two questions whether a run is over.
const PAUSE: Duration = Duration::from_millis(500);

/// Prints the ratio of speeds with viewers to those without, of all tests of a bench together.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().map_or_else(build_for_users, Ok)?;
    let tmpfs = Tmpfs::mount(SPAN + (1 << 30))?;
    let folder = tmpfs.path().join("measured");
    std::fs::create_dir(&folder)?;
    let server = WebServer::start(&binary, &tmpfs.path().join("data"))?;
    println!(
        "bench on tmpfs with {} viewers / without, mean of all tests: median [lowest … highest] of {} pairs",
        options.viewers, options.pairs
    );
    let plain = || server.speed(&folder, 0);
    let (mut ratios, mut control) = (Vec::new(), Vec::new());
    for pair in 0..options.pairs {
        // The order alternates, so that neither is always first.
        let before = (pair % 2 == 0).then(plain).transpose()?;
        let watched = server.speed(&folder, options.viewers)?;
        let off = before.map_or_else(plain, Ok)?;
        control.push(plain()? / off);
        ratios.push(watched / off);
    }
    println!(
        "  {} [≥ 0.99]   without twice {}   slower by {:.2}%",
        spread(&ratios),
        spread(&control),
        100.0 * (1.0 - middle(&ratios))
    );
    Ok(())
}

/// A running `likenew serve`.
struct WebServer {
    child: Child,
    host: String,
    secret: String,
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl WebServer {
    fn start(binary: &Path, data: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("XDG_DATA_HOME", data);
        let mut child = command.stdout(Stdio::piped()).spawn().context("could not run likenew")?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line)?;
        let address = line.trim().strip_prefix("Open http://").and_then(|address| address.split_once("/#"));
        let (host, secret) = address.with_context(|| format!("no address in {line:?}"))?;
        let (host, secret) = (host.to_owned(), secret.to_owned());
        Ok(Self { child, host, secret })
    }

    /// Runs a bench while `viewers` viewers follow it; returns the geometric mean of its speeds in bytes/s.
    fn speed(&self, folder: &Path, viewers: usize) -> anyhow::Result<f64> {
        let order = json!({"command": "bench", "target": folder.to_str().context("a plain path")?, "options":
            {"span": SPAN.to_string(), "time": "500ms", "passes": "3"}});
        let estimate = self.ask("POST", "/api/estimate", &order.to_string())?;
        let job = self.ask("POST", "/api/jobs", &json!({"estimate": estimate["id"]}).to_string())?;
        let id = job["id"].as_u64().with_context(|| format!("no run began: {job}"))?;
        let path = format!("/api/jobs/{id}/events");
        let watching: Vec<_> =
            (0..viewers).map(|_| self.open("GET", &path, "")).collect::<anyhow::Result<_>>()?;
        let watching: Vec<_> = watching
            .into_iter()
            .map(|stream| std::thread::spawn(move || BufReader::new(stream).lines().count()))
            .collect();
        let end = loop {
            std::thread::sleep(PAUSE);
            let job = self.ask("GET", &format!("/api/jobs/{id}"), "")?;
            if !job["end"].is_null() {
                break job["end"].clone();
            }
        };
        for viewer in watching {
            let lines = viewer.join().map_err(|_| anyhow::anyhow!("a viewer failed"))?;
            ensure!(lines > 2, "a viewer saw nothing");
        }
        ensure!(end["code"] == 0, "the run ended with {end}");
        let name = end["run"].as_str().context("the run is not kept")?;
        let document = self.ask("GET", &format!("/api/runs/{name}"), "")?;
        let rows = document["tables"]["results"].as_array().context("no results")?;
        let logarithms: Vec<f64> =
            rows.iter().filter_map(|row| Some(row["bytes_per_s"].as_f64()?.ln())).collect();
        Ok(likenew_stats::summary::mean(&logarithms).context("no speeds")?.exp())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> anyhow::Result<Value> {
        let mut answer = String::new();
        self.open(method, path, body)?.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        serde_json::from_str(body).with_context(|| answer.clone())
    }

    /// Sends a request; the server closes the connection behind its answer.
    fn open(&self, method: &str, path: &str, body: &str) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.host,
            self.secret,
            body.len()
        )?;
        Ok(stream)
    }
}
