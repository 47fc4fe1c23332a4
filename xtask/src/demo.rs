//! The main job on a simulated drive, new and used: what is wrong with it, what restores it, then the metrics
//! side by side.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

const DRIVE: &str = "sim:tiny-flash";
/// Used, and half empty without having received TRIM.
const HALF_EMPTY_TARGET: &str = "state=used&fill=0.95&deleted=0.4";

/// Measures the drive as new and as used, twice each, and writes a page.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    println!(
        "Building likenew and the page of its reports: about five minutes the first time, on two cores."
    );
    // As tests are built: a simulated drive needs no more, and what a release compiles takes three times as long.
    cmd!(sh, "cargo build --package likenew --no-default-features").quiet().run()?;
    let target = target();
    let likenew = target.join("debug/likenew");
    let folder = target.join("demo-runs");
    // A demonstration starts from scratch; nothing else uses the folder.
    sh.remove_path(&folder)?;
    sh.create_dir(&folder)?;

    let runs = folder.join("runs");
    for (command, query) in
        [("check", "state=used"), ("check", "state=new"), ("recondition", HALF_EMPTY_TARGET)]
    {
        let drive = format!("{DRIVE}?{query}");
        println!("$ likenew {command} '{drive}'\n");
        // A used drive ends with "found a problem", which is the point of the demonstration.
        let message = cmd!(sh, "{likenew} {command} {drive} --archive {runs}")
            .quiet()
            .ignore_status()
            .ignore_stderr()
            .read();
        let message = message.with_context(|| format!("could not run {}", likenew.display()))?;
        println!("{message}\n");
    }
    for (procedure, flags) in [("bench", &["--span", "256MiB"][..]), ("fill", &["--files", "100"])] {
        for state in ["new", "used"] {
            let drive = format!("{DRIVE}?state={state}");
            println!("$ likenew {procedure} {drive} {}", flags.join(" "));
            // The report follows below.
            let measured =
                cmd!(sh, "{likenew} {procedure} {drive} {flags...} --archive {runs}").quiet().ignore_status();
            measured
                .ignore_stdout()
                .ignore_stderr()
                .run()
                .with_context(|| format!("could not run {}", likenew.display()))?;
        }
    }
    let page = folder.join("report.html");
    println!("$ likenew report --last 4 --html {}\n", page.display());
    cmd!(sh, "{likenew} report --last 4 --archive {runs} --html {page}").quiet().run()?;
    println!("\nOpen {} in a browser.", page.display());
    Ok(())
}
