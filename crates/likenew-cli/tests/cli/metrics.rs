//! Drives as metrics: in a file for node_exporter, and over HTTP for Prometheus.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::history::{change_findings, times_reads};
use crate::support::{Program, Sandbox, names};
use crate::web_server::WebServer;

/// Nothing here takes longer, also on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// A drive whose sequential reads fell by a third, and one that is slow.
const FALLEN: &str = "sim:tiny-flash";
const SLOW: &str = "sim:tiny-flash?state=used";

/// A sandbox with checks of both drives.
fn fleet() -> Sandbox {
    let sandbox = Sandbox::new();
    for _ in 0..5 {
        sandbox.run(&["check", FALLEN, "-q"]).code(0);
    }
    for (index, run) in sandbox.runs().iter().take(3).enumerate() {
        change_findings(run, |findings| times_reads(findings, 1.5 + index as f64 / 100.0));
    }
    sandbox.run(&["check", SLOW, "-q"]).code(10);
    sandbox
}

/// A file of this repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Whether a program of Debian's packages is installed; says so if not.
fn is_installed(program: &str) -> bool {
    let is_there = Path::new(program).exists();
    if !is_there {
        eprintln!("{program} is not installed, so this test shows nothing");
    }
    is_there
}

/// Runs promtool, with text on its standard input, and asserts that it finds nothing.
#[track_caller]
fn promtool(arguments: &[&str], input: &str) {
    let mut child = Command::new("/usr/bin/promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("lint"), "{arguments:?}: {said}");
}

/// A server of another project on a free port of the loopback interface, for as long as this lives.
struct Daemon {
    _child: Program,
    host: String,
}

impl Daemon {
    /// Starts it, and waits until it answers at this path.
    fn start(command: &mut Command, path: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = free.local_addr().unwrap().to_string();
        drop(free);
        command.arg(format!("--web.listen-address={host}"));
        let child = Program::of(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
        let server = Self { _child: child, host };
        wait_for(|| server.get(path).filter(|answer| answer.starts_with("HTTP/1.0 200")));
        server
    }

    /// What it answers, with its head; `None` while it does not listen.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(&self.host).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\nhost: {}\r\n\r\n", self.host);
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// What the API of Prometheus answers.
    #[track_caller]
    fn api(&self, path: &str) -> Value {
        let answer = self.get(&format!("/api/v1/{path}")).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let answer: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        answer["data"].clone()
    }

    /// The samples of an expression.
    #[track_caller]
    fn query(&self, expression: &str) -> Vec<(Value, f64)> {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let data = self.api(&format!("query?query={encoded}"));
        let sample = |sample: &Value| {
            (sample["metric"].clone(), sample["value"][1].as_str().unwrap().parse().unwrap())
        };
        data["result"].as_array().unwrap().iter().map(sample).collect()
    }
}

/// What is there within the patience of this file.
#[track_caller]
fn wait_for<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < until, "nothing within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_textfile_is_always_whole_and_only_replaced() {
    let sandbox = fleet();
    let path = sandbox.work().join("drives.prom");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let before = fs::File::open(&path).unwrap();
    sandbox.run(&["history", "--openmetrics", "drives.prom"]).code(0);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(names(&sandbox.work()), ["drives.prom"]);
    let mut kept = String::new();
    { before }.read_to_string(&mut kept).unwrap();
    assert_eq!(kept, "old", "who reads the old file reads all of it");
    let text = fs::read_to_string(&path).unwrap();
    let printed = sandbox.run(&["history", "--openmetrics", "-"]).code(0).stdout();
    assert_eq!(text, printed);
    for (host_of, drive, problem) in [(FALLEN, "fallen", 0), (SLOW, "slow", 1)] {
        let line = text
            .lines()
            .find(|line| {
                line.starts_with("likenew_drive_problem{") && line.contains(&format!("device=\"{host_of}\""))
            })
            .unwrap_or_else(|| panic!("{drive}: {text}"));
        assert!(line.ends_with(&format!(" {problem}.0")), "{line}");
    }
    for bad in ["drives.txt", "prom", ".prom", "none/drives.prom"] {
        sandbox.run(&["history", "--openmetrics", bad]).code(2);
    }
    sandbox.run(&["history", "--openmetrics", "drives.txt"]).says("ends in .prom");
    sandbox.run(&["history", "--openmetrics", "-", "--json", "-"]).code(2);
    assert_eq!(names(&sandbox.work()), ["drives.prom"]);
}

#[test]
fn a_check_on_a_timer_writes_the_metrics_of_what_it_found() {
    let sandbox = Sandbox::new();
    let check = ["check", SLOW, "--changes", "--openmetrics", "drives.prom"];
    sandbox.run(&check).code(10).says("Writes are slow");
    let text = fs::read_to_string(sandbox.work().join("drives.prom")).unwrap();
    assert!(text.contains("likenew_drive_problem{") && text.contains("} 1.0"), "{text}");
    sandbox.run(&check).code(0);
    let text = fs::read_to_string(sandbox.work().join("drives.prom")).unwrap();
    assert!(text.lines().any(|line| line.starts_with("likenew_drive_checks{") && line.ends_with(" 2.0")));
    sandbox.run(&["check", SLOW, "--openmetrics", "drives"]).code(2).says("ends in .prom");
    assert_eq!(sandbox.runs().len(), 2, "it is refused before it measures");
}

#[test]
fn a_drive_that_could_not_be_checked_leaves_its_reason_and_a_slow_one_its_cause() {
    let sandbox = Sandbox::new();
    let read = || fs::read_to_string(sandbox.work().join("drives.prom")).unwrap();
    let samples = |text: &str, start: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
    };
    // Alone, and beside one that can be checked. A name below by-id holds a serial number.
    let gone = "/dev/disk/by-id/ata-Example_870_S4X9";
    for targets in [&[gone][..], &[SLOW, gone]] {
        sandbox
            .run(&[&["check"], targets, &["--quiet", "--openmetrics", "drives.prom"]].concat())
            .code(if targets.len() == 1 { 2 } else { 10 });
        let text = read();
        let failed = samples(&text, r#"likenew_check_success{device="/dev/disk/by-id","#);
        let [failed] = &failed[..] else { panic!("{text}") };
        assert!(
            failed.contains(r#"reason="/dev/disk/by-id does not exist"#) && failed.ends_with(" 0.0"),
            "{failed}"
        );
        assert!(!text.contains("S4X9"), "{text}");
        if is_installed("/usr/bin/promtool") {
            promtool(&["check", "metrics"], &text);
        }
    }
    let text = read();
    let checked = samples(&text, &format!("likenew_check_success{{device={SLOW:?},"));
    assert!(matches!(&checked[..], [one] if one.ends_with(r#"reason=""} 1.0"#)), "{text}");
    let causes = samples(&text, "likenew_drive_cause_info{");
    assert!(
        matches!(&causes[..], [one] if one.contains(&format!("device={SLOW:?}")) && one.ends_with(r#",cause="scattered_data"} 1.0"#)),
        "{text}"
    );
}

#[test]
fn promtool_finds_nothing_in_the_text_and_in_the_rules() {
    if !is_installed("/usr/bin/promtool") {
        return;
    }
    let text = fleet().run(&["history", "--openmetrics", "-"]).code(0).stdout();
    promtool(&["check", "metrics"], &text);
    let rules = repository("contrib/prometheus/likenew.rules.yml");
    promtool(&["check", "rules", rules.to_str().unwrap()], "");
    promtool(&["test", "rules", rules.with_file_name("likenew.rules.test.yml").to_str().unwrap()], "");
}

#[test]
fn node_exporter_reads_the_textfile() {
    const PROGRAM: &str = "/usr/bin/prometheus-node-exporter";
    if !is_installed(PROGRAM) {
        return;
    }
    let sandbox = fleet();
    sandbox.run(&["history", "--openmetrics", "drives.prom"]).code(0);
    let mut command = Command::new(PROGRAM);
    command.args(["--collector.disable-defaults", "--collector.textfile"]);
    command.arg("--collector.textfile.directory").arg(sandbox.work());
    let exporter = Daemon::start(&mut command, "/metrics");
    let answer = exporter.get("/metrics").unwrap();
    assert!(answer.contains("\nnode_textfile_scrape_error 0\n"), "{answer}");
    let written = fs::read_to_string(sandbox.work().join("drives.prom")).unwrap();
    let samples = |text: &str| text.lines().filter(|line| line.starts_with("likenew_")).count();
    assert_eq!(samples(&answer), samples(&written), "{answer}");
}

#[test]
fn metrics_take_the_secret_and_have_the_type_that_is_accepted() {
    let sandbox = fleet();
    let server = WebServer::start(&sandbox);
    let bearer = format!("Bearer {}", server.secret);
    let ask = |accept: &str| {
        let headers = [("host", &*server.host), ("authorization", &bearer), ("accept", accept)];
        server.ask("GET", "/metrics", &headers, "")
    };
    let openmetrics = ask("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5");
    assert_eq!(openmetrics.status, 200, "{}", openmetrics.body);
    assert!(
        openmetrics.head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    let plain = ask("text/plain");
    assert!(plain.head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{}", plain.head);
    let printed = sandbox.run(&["history", "--openmetrics", "-"]).code(0).stdout();
    assert_eq!((&openmetrics.body, &plain.body), (&printed, &printed));
    let refused = |headers: &[(&str, &str)]| server.ask("GET", "/metrics", headers, "");
    for (headers, status) in [
        (&[("host", &*server.host)][..], 401),
        (&[("host", &*server.host), ("authorization", "Bearer 0")], 401),
        (&[("host", "evil.example"), ("authorization", &bearer)], 421),
        (&[("host", &server.host), ("authorization", &bearer), ("origin", "http://evil.example")], 403),
    ] {
        let answer = refused(headers);
        assert_eq!(answer.status, status, "{headers:?}");
        assert!(!answer.body.contains("likenew_drive"), "{}", answer.body);
    }
}

/// The expressions of a panel of the dashboard, with all hosts and drives chosen.
fn expressions(panel: &Value) -> Vec<String> {
    let targets = panel["targets"].as_array().unwrap().iter();
    targets
        .map(|target| {
            let expression = target["expr"].as_str().unwrap();
            let chosen = expression.replace("$host", ".*").replace("$drive", ".*");
            assert!(!chosen.contains('$'), "{chosen}");
            chosen
        })
        .collect()
}

#[test]
fn prometheus_scrapes_the_server_and_answers_every_panel_and_alert() {
    if !is_installed("/usr/bin/prometheus") {
        return;
    }
    let sandbox = fleet();
    let server = WebServer::start(&sandbox);
    let folder = sandbox.work();
    fs::write(folder.join("secret"), &server.secret).unwrap();
    let rules = fs::canonicalize(repository("contrib/prometheus/likenew.rules.yml")).unwrap();
    let config = format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
         rule_files: [{}]\n\
         scrape_configs:\n  - job_name: likenew\n    authorization: {{credentials_file: secret}}\n    \
         static_configs: [{{targets: [\"{}\"]}}]\n",
        rules.display(),
        server.host
    );
    fs::write(folder.join("prometheus.yml"), config).unwrap();
    let mut command = Command::new("/usr/bin/prometheus");
    command.arg("--config.file").arg(folder.join("prometheus.yml"));
    command.arg("--storage.tsdb.path").arg(folder.join("tsdb"));
    let prometheus = Daemon::start(&mut command, "/-/ready");
    wait_for(|| Some(prometheus.query("up == 1")).filter(|up| !up.is_empty()));
    let target = &prometheus.api("targets")["activeTargets"][0];
    assert_eq!((&target["health"], &target["lastError"]), (&"up".into(), &"".into()), "{target}");

    let text = fs::read_to_string(repository("contrib/grafana/likenew.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    for panel in panels {
        for expression in expressions(panel) {
            let samples = prometheus.query(&expression);
            assert!(!samples.is_empty(), "{}: {expression}", panel["title"]);
            assert!(samples.iter().all(|(_, value)| value.is_finite()), "{expression}: {samples:?}");
        }
    }
    let panel = |title: &str| panels.iter().find(|panel| panel["title"] == title).unwrap();
    for (title, value) in [
        ("Drives", 2.0),
        ("Drives with a problem", 1.0),
        ("Slower than before", 1.0),
        ("Not checked for 14 days", 0.0),
    ] {
        let samples = prometheus.query(&expressions(panel(title))[0]);
        assert_eq!(samples.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [value], "{title}");
    }
    let drives = sandbox.run(&["history", "--json", "-"]).code(0).json();
    for (title, metric) in [
        ("Sequential read", "sequential_read"),
        ("Sustained write", "sustained_write"),
        ("4K random reads at QD1", "random_read"),
    ] {
        let samples = prometheus.query(&expressions(panel(title))[0]);
        assert_eq!(samples.len(), 2, "{title}");
        for (labels, value) in samples {
            let drive = drives["drives"].as_array().unwrap().iter();
            let drive = drive.clone().find(|drive| drive["target"] == labels["device"]).unwrap();
            let metrics = drive["metrics"].as_array().unwrap();
            let known = metrics.iter().find(|known| known["metric"] == metric).unwrap()["now_per_s"].as_f64();
            assert!((value / known.unwrap() - 1.0).abs() < 1e-9, "{title} of {labels}: {value}, {known:?}");
        }
    }
    let changes = prometheus.query(&expressions(panel("Lasting changes"))[0]);
    let [(labels, ratio)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((&labels["device"], &labels["metric"]), (&FALLEN.into(), &"sequential_read".into()));
    assert!((ratio - 0.66).abs() < 0.02, "{ratio}");

    let firing = |alerts: &Value| {
        let firing = alerts["alerts"].as_array().unwrap().iter().filter(|alert| alert["state"] == "firing");
        let name = |alert: &Value| {
            format!("{} {}", alert["labels"]["alertname"], alert["labels"]["device"]).replace('"', "")
        };
        let mut names: Vec<String> = firing.map(name).collect();
        names.sort();
        names
    };
    let expected = [format!("LikenewDriveProblem {SLOW}"), format!("LikenewDriveSlower {FALLEN}")];
    wait_for(|| Some(()).filter(|()| firing(&prometheus.api("alerts")) == expected));
    for rule in prometheus.api("rules")["groups"][0]["rules"].as_array().unwrap() {
        assert_eq!(rule["health"], "ok", "{rule}");
    }
}
