//! A running `likenew sim serve`.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Program, Sandbox};

/// A server, killed if a test fails.
pub(crate) struct Serving {
    child: Program,
    pub(crate) uri: String,
    pub(crate) socket: PathBuf,
    out: PathBuf,
    err: PathBuf,
    json: PathBuf,
}

/// Waits for a condition that becomes true soon.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}: not after two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Serving {
    /// Serves a drive, and waits until clients can connect.
    #[track_caller]
    pub(crate) fn begin(sandbox: &Sandbox, target: &str, settings: &[&str]) -> Self {
        let at = |name: &str| sandbox.work().join(name);
        let (socket, out, err, json) = (at("drive.sock"), at("serve.out"), at("serve.err"), at("serve.json"));
        let mut arguments = vec!["sim", "serve", target, "--json", "serve.json"];
        if !settings.contains(&"--listen") {
            arguments.extend(["--socket", "drive.sock"]);
        }
        arguments.extend(settings);
        let mut command = sandbox.command(&arguments);
        command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
        let mut child = Program::of(&mut command);
        let mut uri = String::new();
        until("the server tells its URI", || {
            let message = fs::read_to_string(&out).unwrap();
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {message}{}", fs::read_to_string(&err).unwrap());
            let line = message.lines().find(|line| line.starts_with("  nbd"));
            uri = line
                .unwrap_or_default()
                .trim()
                .replace("socket=drive.sock", &format!("socket={}", socket.display()));
            message.contains("qemu-system") && !uri.is_empty()
        });
        Self { child, uri, socket, out, err, json }
    }

    /// Its output on standard error.
    pub(crate) fn message(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    /// Ends it with Ctrl-C, and returns its counts.
    #[track_caller]
    pub(crate) fn end(mut self) -> serde_json::Value {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{}", self.message());
        assert!(UnixStream::connect(&self.socket).is_err());
        let message = fs::read_to_string(&self.out).unwrap();
        assert!(message.contains("on the drive's clock"), "{message}");
        let counters: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&self.json).unwrap()).unwrap();
        is_valid(&counters);
        counters
    }

    /// Kills it without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        assert!(self.socket.exists());
    }
}

/// Asserts that the counts follow the published schema.
#[track_caller]
fn is_valid(counters: &serde_json::Value) {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/serve.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(counters).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}
