//! A process that refreshes a file is killed again and again: the file keeps its content, and the refresh
//! reaches its end.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::file_system::{
    EXT4, FileSystem, FileSystemState, create_file, file, open_file, take, task,
};
use likenew_refresh::{InspectedRefresh, Refresh};

/// Tells the child of [`kills_cost_nothing`] what to do.
const FILE: &str = "LIKENEW_TEST_REFRESH";

/// Refreshes or resumes, and reports every chunk. Does nothing without the variable.
#[test]
fn child_that_refreshes() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else { return };
    let journal = path.with_extension("journal");
    let mut store = take(&path);
    let identity = store.identity().to_owned();
    let mut refresh = if journal.exists() {
        let found = InspectedRefresh::inspect(&mut store, open_file(&journal), &*identity).unwrap();
        assert_eq!(found.differences().count(), 0, "a kill tears nothing");
        found.resume(&mut Vec::new()).unwrap()
    } else {
        let task = task(&store, 16 << 10);
        Refresh::begin(&mut store, create_file(&journal), &task).unwrap()
    };
    println!("begun");
    while refresh.step().unwrap().is_some() {
        println!("chunk");
        std::io::stdout().flush().unwrap();
    }
    println!("done");
}

#[test]
fn kills_cost_nothing() {
    let Some(system) = FileSystem::make(EXT4.0, EXT4.1) else { return };
    let path = file(system.path());
    let times = fs::metadata(&path).unwrap();
    let before = FileSystemState::of(&path);
    let (mut kills, mut runs, mut is_done) = (0, 0, false);
    while !is_done {
        runs += 1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file_store_killed::child_that_refreshes", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Each time after a few more chunks, in the middle of the next one.
        let mut left = 1 + runs % 11;
        for line in lines.by_ref().map(Result::unwrap) {
            is_done |= line == "done";
            left -= usize::from(line == "begun" || line == "chunk");
            if left == 0 && kills < 25 {
                for _ in 0..(runs * 7919) % 40_000 {
                    std::hint::spin_loop();
                }
                child.kill().unwrap();
                kills += 1;
                break;
            }
            left = left.max(1);
        }
        drop(lines);
        let ended = child.wait().unwrap();
        assert!(is_done || !ended.success(), "it ended by itself and was not done");
        assert!(kills > 0 && fs::read(&path).unwrap() == before.content, "after kill {kills}");
    }
    assert!(kills >= 20, "{kills} kills in {runs} runs");
    // A kill may leave the modification time of the interrupted write, which cannot be told from another
    // program's any more.
    let left = fs::metadata(&path).unwrap();
    assert!(left.modified().unwrap() >= times.modified().unwrap());
    // Reading it here has changed the access time.
    let back =
        fs::FileTimes::new().set_accessed(times.accessed().unwrap()).set_modified(times.modified().unwrap());
    fs::File::options().write(true).open(&path).unwrap().set_times(back).unwrap();
    fs::remove_file(path.with_extension("journal")).unwrap();
    assert!(FileSystemState::of(&path) == before);
    println!(
        "attack: killed while a file is rewritten by the library | {kills} | no byte or attribute lost, no time earlier than it was"
    );
}
