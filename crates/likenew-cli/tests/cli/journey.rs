//! Every command once, from a first check to an exported run. `make test-all` repeats it with the program as users build it, whose
//! dependencies have no features that only tests turn on.

use std::collections::BTreeSet;

use crate::support::Sandbox;
use crate::web_server::WebServer;

/// A run of each command that measures, as short as it can be; its exit code, and what it says.
const STEPS: &[(&[&str], i32, &str)] = &[
    (&["drives"], 0, "sim:tiny-flash"),
    (&["completions", "bash"], 0, "_likenew"),
    (&["facts", "sim:tiny-flash"], 0, "Tiny Flash"),
    (&["check", "sim:tiny-flash"], 0, "As fast as new"),
    (&["check", "sim:tiny-flash?state=used", "--advertised", "write=60MB/s"], 10, "Writes are slow"),
    (&["recondition", "sim:tiny-flash?state=used&fill=0.5", "--step", "trim"], 0, "restored"),
    (&["verify", "sim:fake-stick-512gb", "--quick"], 10, "Counterfeit"),
    (&["trim", "sim:tiny-flash", "--passes", "2"], 0, "TRIM"),
    (&["bench", ".", "--span", "16MiB", "--passes", "1", "--time", "100ms"], 0, "SEQ1M Q8T1 read"),
    (&["sweep", "sim:tiny-flash", "--block", "4k,1m", "--depth", "1", "--passes", "1"], 0, "Peak read"),
    (&["suits", "sim:tiny-flash", "--passes", "1", "--for", "etcd"], 0, "durable writes/s"),
    (&["surface", "sim:wd6400aaks"], 0, "MB/s"),
    (&["fill", "sim:tiny-flash", "--files", "4", "--file-size", "8MiB"], 0, "MB/s"),
    (&["endure", "sim:tiny-flash", "--fills", "1", "--op", "write"], 0, "MB/s"),
    (&["age", "sim:tiny-flash", "--passes", "1"], 0, "used"),
    (&["data", "sim:intel-520-120gb", "--passes", "1"], 0, "MB/s"),
    (&["cache", "sim:tiny-flash", "--span", "16MiB"], 0, "RAM"),
    (&["apps", "sim:tiny-flash", "--app", "word", "--passes", "1"], 0, "score"),
    (&["xray", "sim:tiny-flash", "--bytes", "64MiB"], 0, "Flash"),
    (&["model", "sim:wd6400aaks", "--op", "read"], 0, "access time"),
    (&["watch", "--once", "--interval", "10ms", "--all"], 0, "DRIVE"),
    (&["record", "sim:tiny-flash", "--out", "new.csv"], 2, "nothing to record"),
    (&["import", "trace", "day.csv"], 0, "3 I/Os"),
    (&["replay", "sim:tiny-flash", "--trace", "day.csv"], 0, "Waiting time"),
    (&["run", "plan.toml"], 0, "MB/s"),
    (&["run", "plan.toml"], 0, "MB/s"),
    (&["sim", "show", "tiny-flash"], 0, "Tiny Flash"),
    (&["report", "--last", "2"], 0, "MB/s"),
    (&["compare", "--last", "2"], 0, " against "),
    (&["history"], 0, "tiny-flash"),
    (&["help", "no_trim"], 0, "TRIM"),
];

/// A recording in the form of `alibaba`: device, operation, offset, length, microseconds.
const TRACE: &str =
    "0,R,4096,8192,1600000000000000\n0,W,8192,4096,1600000000001000\n0,R,65536,4096,1600000000002000\n";

/// The names of all commands, as the overview lists them.
fn commands(sandbox: &Sandbox) -> BTreeSet<String> {
    let overview = sandbox.run(&["--help"]).code(0).stdout();
    let lines = overview.split("TARGET is one of").next().unwrap().lines();
    lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn journey_through_every_command() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("day.csv"), TRACE).unwrap();
    let plan = sandbox.run(&["bench", "sim:tiny-flash", "--passes", "1", "--plan"]).code(0).stdout();
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    for (arguments, code, words) in STEPS {
        sandbox.run(arguments).code(*code).says(words);
    }
    let run = sandbox.runs().pop().unwrap();
    let run = run.to_str().unwrap();
    sandbox.run(&["judge", run]).code(0);
    sandbox.run(&["resume", run]).code(2).says("nothing to resume");
    sandbox.run(&["export", run, "run.likenew"]).code(0).says("Wrote ");
    sandbox.run(&["report", run, "--html", "page.html"]).code(0);
    let other = Sandbox::new();
    std::fs::copy(sandbox.work().join("run.likenew"), other.work().join("run.likenew")).unwrap();
    other.run(&["import", "run", "run.likenew"]).code(0);
    let server = WebServer::start(&sandbox);
    assert_eq!(server.get("/api/drives").status, 200);

    let shown = ["judge", "resume", "export", "serve"].map(str::to_owned);
    let taken: BTreeSet<String> = STEPS.iter().map(|step| step.0[0].to_owned()).chain(shown).collect();
    assert_eq!(taken, commands(&sandbox), "a command is not on the way");
}

/// Each command that measures, with what keeps its dry run short.
const PLANNED: [&[&str]; 17] = [
    &["age"],
    &["apps"],
    &["bench"],
    &["cache"],
    &["check"],
    &["data"],
    &["endure", "--fills", "1", "--op", "write"],
    &["facts"],
    &["fill"],
    &["model", "--op", "read"],
    &["recondition"],
    &["suits"],
    &["surface"],
    &["sweep"],
    &["trim"],
    &["verify"],
    &["xray"],
];

/// A plan that was printed is a plan that is taken, whatever is fitted to its target on the way.
#[test]
fn what_a_command_prints_as_its_plan_can_be_run() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work().join("folder")).unwrap();
    for (command, target) in
        PLANNED.iter().flat_map(|command| [(command, "sim:tiny-flash"), (command, "folder")])
    {
        let plan = sandbox.run(&[*command, &[target, "--plan"][..]].concat()).code(0).stdout();
        assert!(plan.contains(&format!("procedure = \"{}\"", command[0])), "{plan}");
        std::fs::write(sandbox.work().join("printed.toml"), &plan).unwrap();
        // What was free when it was planned may be less by now: other programs write, too.
        sandbox.run(&["run", "printed.toml", "--estimate", "--reserve", "1MiB"]).code(0);
    }
}
