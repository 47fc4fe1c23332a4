//! `likenew serve` as a browser, and as somebody who should get nothing, sees it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use serde_json::{Value, json};

use crate::support::{Program, Sandbox};

/// Nothing here takes longer, also on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct WebServer {
    child: Program,
    pub(crate) host: String,
    pub(crate) secret: String,
}

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }
}

impl WebServer {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut child = Program::of(command.stdout(Stdio::piped()).stderr(Stdio::inherit()));
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (host, secret) = line.trim().strip_prefix("Open http://").unwrap().split_once("/#").unwrap();
        Self { child, host: host.to_owned(), secret: secret.to_owned() }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads until the server closes the connection.
    fn send(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that refuses early closes while the rest is still on its way.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Response { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.send(format!("{request}\r\n{body}").as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let bearer = format!("Bearer {}", self.secret);
        self.ask("GET", path, &[("host", &self.host), ("authorization", &bearer)], "")
    }

    fn post(&self, path: &str, body: &Value) -> Response {
        let bearer = format!("Bearer {}", self.secret);
        let headers =
            [("host", &*self.host), ("authorization", &bearer), ("content-type", "application/json")];
        self.ask("POST", path, &headers, &body.to_string())
    }

    #[track_caller]
    fn begin(&self, order: &Value) -> u64 {
        self.agree(&self.post("/api/estimate", order))
    }

    #[track_caller]
    fn agree(&self, estimate: &Response) -> u64 {
        assert_eq!(estimate.status, 200, "{}", estimate.body);
        let started = self.post("/api/jobs", &json!({"estimate": estimate.json()["id"]}));
        assert_eq!(started.status, 201, "{}", started.body);
        started.json()["id"].as_u64().unwrap()
    }

    #[track_caller]
    fn wait(&self, id: u64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let job = self.get(&format!("/api/jobs/{id}")).json();
            if !job["end"].is_null() {
                return job;
            }
            assert!(Instant::now() < until, "{job}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_server_that_ends_leaves_nothing_of_what_was_asked() {
    let sandbox = Sandbox::new();
    let mut server = WebServer::start(&sandbox);
    let order = json!({"command": "endure", "target": sandbox.work(), "options": {}});
    let scratch = sandbox.work().join("likenew-scratch");
    let pid = Pid::from_child(&server.child);
    std::thread::scope(|scope| {
        scope.spawn(|| server.post("/api/estimate", &order));
        let until = Instant::now() + Duration::from_secs(60);
        while !scratch.is_dir() {
            assert!(Instant::now() < until, "nobody asks the drive");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(pid, Signal::TERM).unwrap();
    });
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(!scratch.exists());
}

#[test]
fn a_run_is_started_followed_and_shown() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let order =
        json!({"command": "check", "target": "sim:tiny-flash?state=used", "options": {"bytes": "512MiB"}});
    let estimate = server.post("/api/estimate", &order).json();
    assert!((1..=512 << 20).contains(&estimate["bytes_written"].as_u64().unwrap()), "{estimate}");
    assert_eq!(sandbox.runs().len(), 0, "an estimate runs nothing");
    let id = server.begin(&order);
    let events = server.get(&format!("/api/jobs/{id}/events"));
    let lines: Vec<Value> = events
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().any(|line| line.get("step").is_some()), "{}", events.body);
    let end = &lines.last().unwrap()["end"];
    assert_eq!(end["code"], 10, "{end}");
    assert!(end["summary"].as_str().unwrap().contains("Writes are slow"), "{end}");
    let name = end["run"].as_str().unwrap();
    let document = server.get(&format!("/api/runs/{name}")).json();
    crate::support::is_valid(&document);
    assert_eq!(document["procedure"], "check");
    let page = server.get("/api/runs?limit=1").json();
    assert_eq!((&page["count"], &page["runs"][0]["name"]), (&json!(1), &json!(name)));
    assert_eq!(page["runs"][0]["standing"], "problem");
    let drive = &server.get("/api/history").json()["drives"][0];
    let series = server.get(&format!("/api/history/{}", drive["key"].as_str().unwrap())).json();
    assert_eq!((&drive["standing"], &series["checks"][0]["run"]), (&json!("problem"), &json!(name)));
    let second = server.wait(server.begin(&order))["run"].as_str().unwrap().to_owned();
    let compared = server.get(&format!("/api/compare?run={name}&run={second}")).json();
    crate::support::is_valid(&compared);
    assert!(compared["summary"].as_str().unwrap().contains("are the same"), "{compared}");
    assert_eq!(server.wait(id)["run"], json!(name));
    let again = server.get(&format!("/api/jobs/{id}/events"));
    assert!(again.body.contains("\"end\""), "who comes later sees all of it");
}

#[test]
fn a_run_is_canceled_and_resumed() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    let folder = sandbox.work().join("folder");
    let order = json!({"command": "bench", "target": folder, "options": {"span": "64MiB", "passes": "3", "time": "2s"}});
    let id = server.begin(&order);
    let until = Instant::now() + PATIENCE;
    while server.get(&format!("/api/jobs/{id}")).json()["run"].is_null() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.post(&format!("/api/jobs/{id}/cancel"), &json!({})).status, 202);
    let job = server.wait(id);
    assert_eq!(job["end"]["code"], 130, "{job}");
    assert_eq!(server.post(&format!("/api/jobs/{id}/cancel"), &json!({})).status, 409);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "temporary files are gone");
    let name = job["run"].as_str().unwrap();
    let segments = || std::fs::read(sandbox.runs()[0].join("segments.jsonl")).unwrap();
    let before = segments();
    let estimate = server.post(&format!("/api/runs/{name}/estimate"), &json!({}));
    assert!(estimate.json()["text"].as_str().unwrap().starts_with("Writes up to"), "{}", estimate.body);
    assert_eq!(segments(), before, "an estimate changes nothing");
    let job = server.wait(server.agree(&estimate));
    assert_eq!(job["end"]["code"], 0, "{job}");
    assert_eq!(sandbox.runs().len(), 1);
}

#[test]
fn what_was_started_wrongly_says_why() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let refusal = |order: Value| {
        let answer = server.post("/api/estimate", &order);
        assert!((400..500).contains(&answer.status), "{order}: {}", answer.status);
        answer.json()["error"].as_str().unwrap().to_owned()
    };
    assert!(refusal(json!({"command": "sim", "target": "x"})).contains("cannot be started here"));
    assert!(
        refusal(json!({"command": "check", "target": "x", "options": {"consent": "y"}}))
            .contains("no option")
    );
    assert!(refusal(json!({"command": "check", "target": ""})).contains("give a folder"));
    assert!(refusal(json!({"command": "check"})).contains("target"));
    assert!(refusal(json!("x")).contains("Order"), "{}", refusal(json!("x")));
    assert!(
        refusal(json!({"command": "check", "target": "no-such-place"}))
            .contains("no-such-place does not exist")
    );
    let (runs, elsewhere) = (sandbox.work().join("../data/likenew/runs"), sandbox.work().join("elsewhere"));
    server.wait(server.begin(&json!({"command": "surface", "target": "sim:tiny-flash"})));
    let run = sandbox.runs().pop().unwrap();
    std::fs::rename(&run, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, runs.join("link")).unwrap();
    assert_eq!(server.get("/api/runs").json()["count"], 0, "a link is no run");
    assert_eq!(server.get("/api/runs/link").status, 404);
    assert_eq!(server.post("/api/runs/link/estimate", &json!({})).status, 404);
    let many = format!("/api/compare?{}", "run=x&".repeat(50));
    for path in [
        "/api/jobs/99",
        "/api/jobs/x",
        "/api/runs/nothing",
        "/api/runs/..%2f..",
        "/api/compare",
        "/api/compare?run=..%2f..&run=x",
        &many,
        "/api/history/nothing",
        "/api/history/%27%20OR%20%271%27=%271",
        "/api/history?limit=x",
        "/api/nothing",
        "/x",
    ] {
        let answer = server.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
    }
}

#[test]
fn who_asks_again_before_the_first_answer_gets_both() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let folder = sandbox.work().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let order = json!({"command": "bench", "target": folder, "options": {"span": "64MiB"}});
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| server.post("/api/estimate", &order))).collect();
        for answer in asked.into_iter().map(|asked| asked.join().unwrap()) {
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
    });
}

#[test]
fn what_wears_flash_is_started_once_and_only_after_the_question_that_the_terminal_asks() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let folder = sandbox.work().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let order = json!({"command": "endure", "target": folder, "options": {"bytes": "100GiB"}});
    assert_eq!(server.post("/api/jobs", &order).status, 422, "nothing is started before its cost was shown");
    let asked = sandbox.run(&["endure", "folder", "--bytes=100GiB"]);
    asked.code(3);
    let estimate = server.post("/api/estimate", &order);
    let question = estimate.json()["question"].as_str().unwrap().to_owned();
    assert!(question.ends_with("which wears flash. Go on?"), "{question}");
    // Other programs change how much is free on the machine's disk.
    let without_numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let words = without_numbers(question.trim_end_matches(" Go on?"));
    assert!(without_numbers(&asked.stderr()).contains(&words), "{question}: {}", asked.stderr());
    let id = server.agree(&estimate);
    let again = server.post("/api/jobs", &json!({"estimate": estimate.json()["id"]}));
    assert_eq!(again.status, 409, "{}", again.body);
    server.post(&format!("/api/jobs/{id}/cancel"), &json!({}));
    server.wait(id);
    let commands = server.get("/api/commands").json();
    for command in commands["commands"].as_array().unwrap() {
        let order = json!({"command": command["name"], "target": "sim:tiny-flash"});
        let cost = server.post("/api/estimate", &order).json();
        assert!(cost["text"].is_string() && cost["question"].is_null(), "{order}: {cost}");
    }
}

#[test]
fn a_device_is_not_written_whatever_is_asked() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let image = sandbox.work().join("image");
    let content = vec![0x5a; 64 << 20];
    std::fs::write(&image, &content).unwrap();
    for (command, options) in [
        ("bench", json!({"op": "write"})),
        ("recondition", json!({"step": "overwrite-all"})),
        ("fill", json!({})),
        ("check", json!({})),
    ] {
        let order = json!({"command": command, "target": image, "options": options});
        let estimate = server.post("/api/estimate", &order);
        if estimate.status == 200 {
            server.wait(server.agree(&estimate));
        }
    }
    assert!(std::fs::read(&image).unwrap() == content, "a file that exists is only read");
}

#[test]
fn what_takes_a_consent_is_refused_with_the_command_that_asks_for_it() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let image = sandbox.work().join("an image");
    std::fs::write(&image, vec![0x5a; 8 << 20]).unwrap();
    let image = image.to_str().unwrap();
    let order = json!({"command": "endure", "target": image, "options": {"bytes": "1MiB"}});
    let refused = server.post("/api/estimate", &order);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let refused = refused.json();
    let terminal = sandbox.run(&["endure", image, "--bytes=1MiB"]);
    assert_eq!(refused["error"].as_str().unwrap(), terminal.code(3).stderr().trim());
    assert_eq!(refused["command"], format!("likenew endure --bytes=1MiB '{image}'"));
    let advised = json!({"commands": ["likenew check sim:x --thorough", "likenew check /dev/sda --consent x", "fstrim /"]});
    let orders = server.post("/api/orders", &advised).json();
    let check = json!({"command": "check", "target": "sim:x", "options": {"thorough": true}});
    assert_eq!(orders, json!([check, null, null]));
}

#[test]
fn a_run_of_a_terminal_is_watched_and_not_canceled() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let folder = sandbox.work().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let words = ["bench", "folder", "--span=64MiB", "--time=1s", "--passes=2"];
    let mut terminal = sandbox.start(&words);
    let until = Instant::now() + PATIENCE;
    let seen = loop {
        let now = server.get("/api/now").json();
        match now["running"].get(0) {
            Some(job) if !job["progress"]["io"].as_array().is_none_or(Vec::is_empty) => break job.clone(),
            _ => assert!(Instant::now() < until, "{now}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!((&seen["command"], &seen["is_own"]), (&json!("bench"), &json!(false)));
    assert_eq!(seen["target"], json!(folder));
    let io = &seen["progress"]["io"][0];
    for key in ["bytes_per_s", "iops"] {
        assert!(io[key].as_f64().unwrap() > 0.0, "{key}: {io}");
    }
    assert!(io.get("latency_ns_p99").is_none(), "that would cost each run of a terminal: {io}");
    let id = seen["id"].as_u64().unwrap();
    let refused = server.post(&format!("/api/jobs/{id}/cancel"), &json!({}));
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("Ctrl-C in the terminal"), "{}", refused.body);
    assert_eq!(terminal.wait().unwrap().code(), Some(0));
    let job = server.wait(id);
    assert_eq!((&job["end"]["code"], &job["end"]["run"]), (&json!(0), &job["run"]), "{job}");
    let run = sandbox.runs().pop().unwrap();
    assert_eq!(job["run"].as_str(), run.file_name().unwrap().to_str());
    assert_eq!(server.get("/api/now").json()["running"], json!([]));
}

#[test]
fn nothing_is_told_or_started_without_the_secret() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let page = server.ask("GET", "/", &[("host", &server.host)], "");
    assert_eq!(page.status, 200);
    assert!(
        page.head.contains("content-security-policy: default-src 'none'; script-src 'sha256-"),
        "{}",
        page.head
    );
    assert!(!page.head.contains("unsafe") && !page.body.contains(&server.secret));
    let order = json!({"command": "check", "target": "sim:tiny-flash"}).to_string();
    let routes = [
        ("GET", "/api/commands"),
        ("GET", "/api/drives"),
        ("GET", "/api/facts"),
        ("GET", "/api/jobs"),
        ("GET", "/api/now"),
        ("POST", "/api/orders"),
        ("GET", "/api/jobs/1"),
        ("GET", "/api/jobs/1/events"),
        ("GET", "/metrics"),
        ("GET", "/api/runs"),
        ("GET", "/api/runs/x"),
        ("GET", "/api/compare?run=x&run=y"),
        ("GET", "/api/history"),
        ("GET", "/api/history/x"),
        ("POST", "/api/estimate"),
        ("POST", "/api/jobs"),
        ("POST", "/api/jobs/1/cancel"),
        ("POST", "/api/runs/x/estimate"),
    ];
    let bearer = format!("Bearer {}", server.secret);
    let own = ("host", &*server.host);
    let json_type = ("content-type", "application/json");
    for (method, path) in routes {
        let wrong: [&[(&str, &str)]; 6] = [
            &[own, json_type],
            &[own, json_type, ("authorization", "Bearer 0123456789abcdef0123456789abcdef")],
            &[own, json_type, ("authorization", &server.secret)],
            &[("host", "evil.example"), json_type, ("authorization", &bearer)],
            &[own, json_type, ("authorization", &bearer), ("origin", "http://evil.example")],
            &[own, json_type, ("authorization", &bearer), ("sec-fetch-site", "cross-site")],
        ];
        for headers in wrong {
            let answer = server.ask(method, path, headers, &order);
            assert!(
                matches!(answer.status, 401 | 403 | 421),
                "{method} {path} {headers:?}: {}",
                answer.status
            );
        }
    }
    assert_eq!(server.get("/api/jobs").json(), json!([]));
}

/// A reproducible source of nonsense.
struct Dice(u64);

impl Dice {
    /// Splitmix64 (Steele, Lea and Flood, 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A request that is wrong in some way, as bytes. It never has both the secret and an own host without a foreign origin.
    fn request(&mut self, server: &WebServer) -> Vec<u8> {
        let method = self.pick(&[
            "GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get", "", "G\u{0}T",
        ]);
        let mut path = self
            .pick(&[
                "/",
                "/api/jobs",
                "/api/runs",
                "/api/runs/../../etc/passwd",
                "/api/runs/%2e%2e%2f%2e%2e",
                "/api/estimate",
                "//api//jobs",
                "/api/jobs/1/events",
                "/api/jobs/18446744073709551616",
                "/../../../etc/shadow",
                "/api/runs?limit=-1",
                "/api/history",
                "/api/history/%27%20OR%201=1",
                "/api/compare?run=../../etc&run=x",
                "/%00",
                "*",
                "http://evil.example/api/jobs",
                "/api/commands#",
                "/API/JOBS",
            ])
            .to_owned();
        if self.below(8) == 0 {
            path += &"/x".repeat(self.below(40_000));
        }
        let evil_host = self.pick(&["evil.example", "", "127.0.0.1", "localhost:1", "[::1]"]).to_owned();
        let host = if self.below(2) == 0 { server.host.clone() } else { evil_host };
        let bearer = match self.below(4) {
            // With the secret, but from another page.
            0 => format!("authorization: Bearer {}\r\norigin: http://evil.example\r\n", server.secret),
            1 => format!("authorization: Bearer {:064x}\r\n", self.next()),
            2 => format!("authorization: bearer {}\r\n", &server.secret[..63]),
            _ => String::new(),
        };
        let length = match self.below(4) {
            0 => format!("content-length: {}\r\n", self.below(100_000)),
            1 => "transfer-encoding: chunked\r\n".to_owned(),
            2 => "content-length: 5\r\ncontent-length: 7\r\n".to_owned(),
            _ => String::new(),
        };
        let mut more = String::new();
        for _ in 0..self.below(4) {
            more += &format!("x-{}: {}\r\n", self.below(100), "y".repeat(self.below(3000)));
        }
        let version = self.pick(&["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", ""]);
        let head = format!(
            "{method} {path} {version}\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{bearer}{length}{more}\r\n"
        );
        let mut bytes = head.into_bytes();
        let body = self.pick(&[
            "{\"command\":\"check\",\"target\":\"sim:tiny-flash\"}",
            "{\"command\":\"check\",\"target\":\"/etc/passwd\"}",
            "5\r\nhello\r\n0\r\n\r\n",
            "ffffffffffffffff\r\n",
            "{{{{",
            "",
        ]);
        bytes.extend_from_slice(body.as_bytes());
        for _ in 0..self.below(3) {
            let at = self.below(bytes.len());
            // No damage may turn a wrong secret into the right one.
            if !server.secret.as_bytes().contains(&bytes[at]) {
                bytes[at] = self.next() as u8;
            }
        }
        bytes
    }
}

#[test]
fn ten_thousand_wrong_requests_get_nothing() {
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    let (requests, threads) = (10_000, 4);
    let told: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|thread| {
                let server = &server;
                scope.spawn(move || {
                    let mut dice = Dice(thread);
                    let mut told = Vec::new();
                    for _ in 0..requests / threads {
                        let request = dice.request(server);
                        let answer = server.send(&request);
                        let is_page = answer.body.contains("<!doctype html>") || answer.body.is_empty();
                        if answer.status / 100 == 2 && !is_page {
                            told.push(format!("{}\n{}", String::from_utf8_lossy(&request), answer.body));
                        }
                    }
                    told
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(told.is_empty(), "{}", told[0]);
    assert_eq!(server.get("/api/jobs").json(), json!([]), "nothing was started");
    assert_eq!(sandbox.runs().len(), 0);
    println!(
        "attack: wrong requests to likenew serve | {requests} | none was told anything or started a run; the server went on"
    );
}

/// Callers without the secret, each of whom sends this and then neither reads nor hangs up.
#[track_caller]
fn keep_nobody_out(server: &WebServer, count: usize, request: &str) {
    let callers: Vec<TcpStream> = (0..count)
        .map(|_| {
            let mut stream = server.connect();
            // Those that come later end this one.
            let _ = stream.write_all(request.as_bytes());
            stream
        })
        .collect();
    for _ in 0..3 {
        let began = Instant::now();
        assert_eq!(server.get("/api/jobs").status, 200);
        assert_eq!(server.ask("GET", "/", &[("host", &server.host)], "").status, 200);
        assert!(began.elapsed() < Duration::from_secs(10), "{count} callers: {:?}", began.elapsed());
    }
    drop(callers);
}

#[test]
fn callers_without_the_secret_keep_nobody_out() {
    // As many connections as are attacked with need a descriptor each.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let sandbox = Sandbox::new();
    let server = WebServer::start(&sandbox);
    // Several pages are more than the kernel takes for a caller that reads nothing.
    let pages = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", server.host).repeat(20);
    keep_nobody_out(&server, 300, "");
    keep_nobody_out(&server, 300, &pages);
    keep_nobody_out(&server, 2000, "GET / HTTP/1.1\r\nhost: ");
    println!(
        "attack: callers of likenew serve without its secret that never finish a request or never read | 2600 | the owner was answered at once"
    );
}
