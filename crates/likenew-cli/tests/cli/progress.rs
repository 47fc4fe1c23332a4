//! What programs that start this one read: the cost of a run before it, and its progress as lines of JSON.

use serde_json::Value;

use crate::support::Sandbox;

#[test]
fn an_estimate_is_printed_and_nothing_is_run() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["check", "sim:tiny-flash", "--estimate"]);
    text.code(0);
    assert!(text.stdout().starts_with("Writes up to 1"), "{}", text.stdout());
    let json = sandbox.run(&["surface", "sim:disk-2tb", "--estimate", "--json", "-"]);
    let estimate: Value = json.code(0).json();
    assert_eq!((&estimate["bytes_written"], &estimate["bytes_rewritten"]), (&0.into(), &0.into()));
    assert!(estimate["elapsed_ns"].as_u64().unwrap() > 1_000_000_000, "{estimate}");
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    sandbox.run(&["bench", "folder", "--span", "64MiB", "--estimate"]).code(0).says("Writes up to");
    assert_eq!(std::fs::read_dir(sandbox.work().join("folder")).unwrap().count(), 0);
    assert_eq!(sandbox.runs(), Vec::<std::path::PathBuf>::new());
    // A plan that was run takes what it took, however much less than a forecast that is.
    let plan = ["xray", "folder", "--only", "noise", "--span", "16MiB"];
    let estimated = || {
        sandbox.run(&[&plan[..], &["--estimate", "--json", "-"]].concat()).code(0).json()["elapsed_ns"]
            .clone()
    };
    let before = estimated();
    let document = sandbox.run(&[&plan[..], &["--json", "-"]].concat()).code(0).json();
    let took = document["elapsed_ns"].as_f64().unwrap();
    let ratio = estimated().as_f64().unwrap() / took;
    assert!((0.5..1.01).contains(&ratio), "{before} {took} {ratio}");
    sandbox
        .run(&["check", "sim:tiny-flash", "sim:disk-2tb", "--estimate"])
        .code(2)
        .says("--plan, --export and --estimate take one target");
}

#[test]
fn progress_is_a_line_of_json_for_each_event() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["fill", "sim:intel-x25-m-80gb", "--progress", "json", "--quiet"]);
    run.code(0);
    let events: Vec<Value> = run.stderr().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |key: &str| events.iter().filter_map(|event| event.get(key)).collect::<Vec<&Value>>();
    let [begin] = of("run")[..] else { panic!("{events:?}") };
    assert_eq!((&begin["procedure"], &begin["target"]), (&"fill".into(), &"sim:intel-x25-m-80gb".into()));
    assert_eq!(begin["folder"].as_str(), sandbox.runs()[0].to_str());
    assert!(begin["estimate"]["bytes_written"].as_u64().unwrap() > 70_000_000_000, "{begin}");
    assert!(of("step").len() > 10);
    let progress = of("progress");
    let shares: Vec<f64> = progress.iter().filter_map(|event| event["share"].as_f64()).collect();
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    let done: Vec<u64> = progress.iter().map(|event| event["bytes_done"].as_u64().unwrap()).collect();
    assert!(done.is_sorted() && done.last() > Some(&1_000_000_000), "{done:?}");
}

#[test]
fn errors_stay_sentences_between_the_lines() {
    let sandbox = Sandbox::new();
    let run = sandbox.run(&["check", "sim:no-such-drive", "--progress", "json"]);
    run.code(2).says("no-such-drive");
    assert!(run.stderr().lines().all(|line| !line.starts_with('{')), "{}", run.stderr());
}
