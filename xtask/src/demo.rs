//! The main use of the program, on a new and a used simulated drive: what is wrong, what restores it, and the metrics
//! side by side.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

const DRIVE: &str = "sim:tiny-flash";
/// A used drive that is half empty but never received TRIM.
const HALF_EMPTY_TARGET: &str = "state=used&fill=0.95&deleted=0.4";

/// Checks and restores the drive, measures it new and used, and writes a page.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    println!(
        "Building likenew and the page of its reports: about five minutes the first time, on two cores."
    );
    // A test build suffices for a simulated drive; a release build takes three times as long.
    cmd!(sh, "cargo build --package likenew --no-default-features").quiet().run()?;
    let target = target();
    let likenew = target.join("debug/likenew");
    let folder = target.join("demo-runs");
    // Nothing else uses the folder, and a demonstration starts from scratch.
    sh.remove_path(&folder)?;
    sh.create_dir(&folder)?;

    let runs = folder.join("runs");
    for (command, query) in
        [("check", "state=used"), ("check", "state=new"), ("recondition", HALF_EMPTY_TARGET)]
    {
        let drive = format!("{DRIVE}?{query}");
        println!("$ likenew {command} '{drive}'\n");
        // For a used drive the exit code means "found a problem", which is the point.
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
