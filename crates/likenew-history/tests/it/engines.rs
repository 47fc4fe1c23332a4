//! The same history in SQLite and in PostgreSQL.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use likenew_archive::Archive;
use likenew_history::{History, Location, Page, Update};
use tempfile::TempDir;

use crate::cuts::start_worker;
use crate::support::{Run, Runs, everything, open};

/// A server of its own, on a socket in its folder, for as long as this lives.
pub(crate) struct Server {
    bin: PathBuf,
    folder: TempDir,
    settings: Vec<String>,
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
        let settings: Vec<String> = settings.iter().copied().map(str::to_owned).collect();
        let process = launch(&bin, folder.path(), &settings);
        let server = Self { bin, folder, settings, process };
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
        self.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    }

    /// What the server answers.
    fn psql(&self, sql: &str) -> String {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-U", "likenew", "-d", "postgres", "-c", sql, "-h"]);
        let output = psql.arg(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Ends at once when it is interrupted, and removes its shared memory.
    fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.process.wait();
    }

    fn start_again(&mut self) {
        self.process = launch(&self.bin, self.folder.path(), &self.settings);
    }

    pub(crate) fn location(&self) -> Location {
        self.location_of("likenew")
    }

    fn location_of(&self, user: &str) -> Location {
        let folder = self.folder.path().display();
        Location::parse(&format!("postgres://{user}@localhost/postgres?host={folder}")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn launch(bin: &Path, folder: &Path, settings: &[String]) -> Child {
    let mut server = as_user(&bin.join("postgres"), unprivileged(), folder);
    server.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    server.args(["-h", "", "-c", "fsync=off"]).args(settings);
    server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
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
    assert_eq!(history.update().unwrap(), Update { read: 1, ..Update::default() });
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

#[test]
fn a_server_that_restarts_is_waited_for() {
    let Some(mut server) = Server::start() else { return };
    let runs = Runs::new();
    runs.put(&Run::new(1, "aaaa", 1e8));
    let mut history = open(&server.location(), &runs.root());
    server.stop();
    let location = server.location();
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| History::open(&location, Archive::new(runs.root()), "machine").map(drop));
        let updated = scope.spawn(|| history.update());
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert!(!opened.is_finished() && !updated.is_finished());
        server.start_again();
        opened.join().unwrap().unwrap();
        assert_eq!(updated.join().unwrap().unwrap().read, 1);
    });
}

#[test]
fn columns_have_types_and_earlier_tables_keep_what_they_hold() {
    let Some(server) = Server::start() else { return };
    let runs = three_kinds_of_runs();
    let mut history = open(&server.location(), &runs.root());
    history.update().unwrap();
    let before = everything(&mut history);
    drop(history);
    let types = || {
        server.psql(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_name IN ('run', 'drive') AND \
             column_name IN ('started_at', 'is_virtual', 'problems', 'first_at', 'last_at') ORDER BY 1, 2",
        )
    };
    let typed = "drive|first_at|timestamp with time zone\ndrive|is_virtual|boolean\ndrive|last_at|timestamp with time zone\n\
                 run|is_virtual|boolean\nrun|problems|jsonb\nrun|started_at|timestamp with time zone\n";
    assert_eq!(types(), typed);
    // As an earlier version made them, with a date and a list of problems that are none.
    let (_, view) = include_str!("../../migrations/1_runs.sql").split_once("CREATE VIEW").unwrap();
    server.psql(&format!(
        "DROP VIEW drive; ALTER TABLE run ALTER COLUMN is_virtual TYPE BIGINT USING is_virtual::int, ALTER COLUMN problems TYPE TEXT, \
         ALTER COLUMN started_at TYPE TEXT USING to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'); \
         CREATE VIEW {view}; DELETE FROM _sqlx_migrations WHERE version = 4"
    ));
    let mut history = open(&server.location(), &runs.root());
    assert_eq!(types(), typed);
    assert_eq!(everything(&mut history), before, "before anything is read again");
    drop(history);
    server.psql("DROP VIEW drive; ALTER TABLE run ALTER COLUMN started_at TYPE TEXT, ALTER COLUMN problems TYPE TEXT, ALTER COLUMN is_virtual TYPE BIGINT USING 0");
    server.psql(&format!("CREATE VIEW {view}; DELETE FROM _sqlx_migrations WHERE version = 4; UPDATE run SET problems = 'none', started_at = CASE WHEN target = '/dev/sda' THEN 'yesterday' ELSE '2026-99-99T00:00:00Z' END"));
    let mut history = open(&server.location(), &runs.root());
    let read = history.runs(None, Page { offset: 0, rows: u32::MAX }).unwrap();
    assert!(read.len() == 300 && read.iter().all(|run| run.started_at.is_empty()), "{read:?}");
    history.rebuild().unwrap();
    assert_eq!(everything(&mut history), before);
}

#[test]
fn who_only_reads_makes_no_tables_and_sees_everything() {
    let Some(server) = Server::start() else { return };
    server.psql("CREATE ROLE reader LOGIN");
    let runs = three_kinds_of_runs();
    let opened = History::open(&server.location_of("reader"), Archive::new(runs.root()), "machine");
    let refused = opened.err().unwrap().to_string();
    assert!(refused.contains("let a user who may change its tables"), "{refused}");
    let mut history = open(&server.location(), &runs.root());
    history.update().unwrap();
    let written = everything(&mut history);
    server.psql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    let other = Runs::new();
    other.put(&Run::new(1, "dddd", 1e8));
    for root in [other.root(), runs.root()] {
        let mut reader = open(&server.location_of("reader"), &root);
        assert!(reader.update().unwrap().is_refused, "it has runs that are not there");
        assert_eq!(everything(&mut reader), written);
    }
    let nothing = Runs::new();
    let mut reader = open(&server.location_of("reader"), &nothing.root());
    assert_eq!(reader.update().unwrap(), Update::default());
}
