//! The same history in SQLite and in PostgreSQL.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use likenew_history::Location;
use tempfile::TempDir;

use crate::cuts::start_worker;
use crate::support::{Run, Runs, everything, open};

/// A server of its own, on a socket in its folder, for as long as this lives.
pub(crate) struct Server {
    bin: PathBuf,
    folder: TempDir,
    process: Child,
}

/// The programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bin = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    bin.filter(|bin| bin.join("initdb").exists()).max()
}

impl Server {
    /// `None` if there is no PostgreSQL, with a message.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// With further settings, as the server takes them on its command line.
    pub(crate) fn start_with(settings: &[&str]) -> Option<Self> {
        let Some(bin) = programs() else {
            eprintln!("PostgreSQL is not installed, so this test shows nothing");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("likenew-pg-").tempdir_in("/tmp").unwrap();
        let user = unprivileged();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let data = folder.path().join("data");
        let mut init = as_user(&bin.join("initdb"), user, folder.path());
        init.args(["--auth=trust", "--username=likenew", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data);
        assert!(init.stdout(Stdio::null()).status().unwrap().success());
        let mut server = as_user(&bin.join("postgres"), user, folder.path());
        server
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-h", "", "-c", "fsync=off"])
            .args(settings);
        let process = server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { bin, folder, process };
        let is_ready = || {
            let mut asked = Command::new(server.bin.join("pg_isready"));
            asked.arg("-q").arg("-h").arg(server.folder.path()).status().unwrap().success()
        };
        let waited = (0..600).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            is_ready()
        });
        assert!(waited.is_some(), "PostgreSQL did not start within a minute");
        Some(server)
    }

    /// Ends the sessions of all others.
    pub(crate) fn end_sessions(&self) {
        let query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-q", "-U", "likenew", "-d", "postgres", "-c", query, "-h"]).arg(self.folder.path());
        assert!(psql.stdout(Stdio::null()).status().unwrap().success());
    }

    pub(crate) fn location(&self) -> Location {
        let folder = self.folder.path().display();
        Location::parse(&format!("postgres://likenew@localhost/postgres?host={folder}")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends at once when it is interrupted, and removes its shared memory.
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.process.wait();
    }
}

/// PostgreSQL refuses to run as root: then as nobody.
fn unprivileged() -> Option<(u32, u32)> {
    const NOBODY: u32 = 65_534;
    rustix::process::geteuid().is_root().then_some((NOBODY, NOBODY))
}

fn as_user(program: &Path, user: Option<(u32, u32)>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

fn three_kinds_of_runs() -> Runs {
    let runs = Runs::new();
    for day in 0..150 {
        runs.put(&Run::new(day, ["", "aaaa", "bbbb"][day % 3], 5e8 + day as f64));
        runs.put(&Run { target: "/dev/sdb".into(), ..Run::new(day, ["", "cccc"][day % 2], 1e8) });
    }
    let damaged = runs.put(&Run::new(400, "aaaa", 1.0));
    std::fs::write(damaged.join("plan.toml"), "zero: \0").unwrap();
    runs
}

#[test]
fn both_databases_say_the_same() {
    let Some(server) = Server::start() else { return };
    let runs = three_kinds_of_runs();
    let other = Location::File(runs.root().join("../other.sqlite"));
    let mut texts = Vec::new();
    for location in [server.location(), other] {
        let mut history = open(&location, &runs.root());
        assert_eq!(history.update().unwrap().read, 301);
        assert_eq!(history.update().unwrap().read, 1, "the damaged one");
        texts.push(everything(&mut history));
        history.rebuild().unwrap();
        assert_eq!(texts.last().unwrap(), &everything(&mut history));
    }
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn machines_share_a_server_without_touching_each_others_runs() {
    let Some(server) = Server::start() else { return };
    let (one, other) = (three_kinds_of_runs(), Runs::new());
    other.put(&Run::new(1, "dddd", 1e8));
    open(&server.location(), &one.root()).update().unwrap();
    let mut history = open(&server.location(), &other.root());
    assert_eq!(history.update().unwrap(), likenew_history::Update { read: 1, damaged: 0, removed: 0 });
    assert_eq!(history.count().unwrap(), 302);
    history.rebuild().unwrap();
    assert_eq!(history.count().unwrap(), 302);
}

#[test]
fn eight_processes_write_to_a_server_at_once() {
    let Some(server) = Server::start() else { return };
    let runs = three_kinds_of_runs();
    let workers: Vec<Child> = (0..8).map(|_| start_worker(&runs, &server.location())).collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let mut history = open(&server.location(), &runs.root());
    assert_eq!(history.update().unwrap().read, 1, "the damaged one");
    assert_eq!(history.count().unwrap(), 301);
}
