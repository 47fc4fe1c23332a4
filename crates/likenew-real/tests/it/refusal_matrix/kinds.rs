//! Targets that are neither a drive nor a file of the owner, or that are marked.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use likenew_real::consent::Consent;
use likenew_real::scratch::Scratch;

use super::ledger::{Ledger, file, right, typed};
use crate::support::{disk_folder, run};

pub fn all(ledger: &mut Ledger) {
    no_drive(ledger);
    of_the_system(ledger);
    of_a_run(ledger);
    marked(ledger);
    if rustix::process::geteuid().is_root() {
        without_rights(ledger);
    }
}

/// Gives the last part of a path as the id, which is that of a file.
#[track_caller]
fn by_name(ledger: &mut Ledger, case: &str, path: &Path, words: &[&str]) {
    let name = path.file_name().unwrap_or_default().to_str().unwrap();
    ledger.refused(case, path, path, &typed(name, &[]), words);
}

fn no_drive(ledger: &mut Ledger) {
    let folder = disk_folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("empty"), "").unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    run("mkfifo", &[at("pipe").to_str().unwrap()]).unwrap();
    symlink("pipe", at("to pipe")).unwrap();
    symlink("..", at("to folder")).unwrap();
    for (name, word) in [
        ("empty", "it is empty"),
        ("socket", "a socket"),
        ("pipe", "a pipe"),
        ("to pipe", "a pipe"),
        ("to folder", "a folder"),
        ("", "a folder"),
    ] {
        by_name(ledger, &format!("kind: {word} at \"{name}\""), &at(name), &[word, "give"]);
    }
    for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/tty", "/dev/ptmx"] {
        if Path::new(path).exists() {
            by_name(ledger, &format!("kind: {path}"), Path::new(path), &["a character device", "give"]);
        }
    }
    for path in ["/", "/dev", "/proc/self"] {
        by_name(ledger, &format!("kind: {path}"), Path::new(path), &["a folder", "give"]);
    }
}

fn of_the_system(ledger: &mut Ledger) {
    for path in ["/etc/passwd", "/etc/fstab", "/etc/shadow", "/bin/sh", "/usr/bin/env", "/usr/bin/bash"] {
        let path = Path::new(path);
        if fs::File::open(path).is_ok() {
            by_name(
                ledger,
                &format!("system: {}", path.display()),
                path,
                &["which the system needs", "copy"],
            );
        }
    }
    let own = rustix::process::geteuid().is_root();
    let root = ["/proc/kcore", "/proc/kmsg", "/proc/self/mem"];
    let any = [
        "/proc/self/status",
        "/proc/self/comm",
        "/proc/version",
        "/sys/power/state",
        "/sys/kernel/mm/ksm/run",
    ];
    for path in any.iter().chain(own.then_some(&root).into_iter().flatten()) {
        let path = Path::new(path);
        if path.exists() {
            // Some of them are endless, so none is read.
            let name = path.file_name().unwrap().to_str().unwrap();
            let asked = typed(name, &[]);
            let case = format!("kernel: {}", path.display());
            ledger.refused(&case, Path::new("/"), path, &asked, &["the running kernel", "give"]);
        }
    }
}

fn of_a_run(ledger: &mut Ledger) {
    let folder = disk_folder();
    let scratch = Scratch::create(folder.path()).unwrap();
    let (own, path) = scratch.create_file(0).unwrap();
    own.set_len(4096).unwrap();
    let marker = path.with_file_name("LIKENEW-SCRATCH.txt");
    by_name(
        ledger,
        "run: a file of one that lives",
        &path,
        &["belongs to a run of likenew", "let that run end"],
    );
    by_name(
        ledger,
        "run: the marker of one that lives",
        &marker,
        &["belongs to a run of likenew", "let that run end"],
    );
    // As after a kill: everything is there, and no process holds it.
    let left = folder.path().join("other/likenew-scratch");
    fs::create_dir_all(&left).unwrap();
    for name in [marker.file_name().unwrap(), path.file_name().unwrap()] {
        fs::copy(path.with_file_name(name), left.join(name)).unwrap();
    }
    let words = ["belongs to a run of likenew", "leftovers"];
    by_name(ledger, "run: a file that one has left", &left.join(path.file_name().unwrap()), &words);
    by_name(ledger, "run: a marker that one has left", &left.join(marker.file_name().unwrap()), &words);
    scratch.remove().unwrap();
}

fn marked(ledger: &mut Ledger) {
    let folder = disk_folder();
    let path = file(folder.path(), "image", 8192);
    let other = folder.path().join("other");
    let (_, agreement) = right(&path);
    fs::hard_link(&path, &other).unwrap();
    ledger.refused("file: with a second name", &path, &path, &agreement, &["hard links", "copy it"]);
    let by_other = typed("other", &[]);
    ledger.refused("file: by its second name", &path, &other, &by_other, &["hard links", "copy it"]);
    fs::remove_file(&other).unwrap();
    for (flag, name) in [("i", "that cannot be changed"), ("a", "that can only grow")] {
        if run("chattr", &[&format!("+{flag}"), path.to_str().unwrap()]).is_some() {
            ledger.refused(&format!("file: {name}"), &path, &path, &agreement, &["chattr"]);
            run("chattr", &[&format!("-{flag}"), path.to_str().unwrap()]).unwrap();
        }
    }
    right(&path);
}

/// As another user, on a thread without privileges.
fn without_rights(ledger: &mut Ledger) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let hidden = folder.path().join("hidden");
    fs::create_dir(&hidden).unwrap();
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    let (theirs, readable) = (file(folder.path(), "theirs", 8192), file(folder.path(), "readable", 8192));
    let inside = file(&hidden, "inside", 8192);
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&readable, fs::Permissions::from_mode(0o644)).unwrap();
    for (case, path) in [
        ("rights: a file that cannot be read", &theirs),
        ("rights: a file that can only be read", &readable),
        ("rights: a file in a folder of somebody else's", &inside),
    ] {
        let agreement = typed(path.file_name().unwrap().to_str().unwrap(), &[]);
        let way = || {
            std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    rustix::thread::set_thread_res_uid(None, rustix::process::Uid::from_raw(65534), None)
                        .unwrap();
                    Consent::to_overwrite(path, &agreement)
                });
                thread.join().unwrap()
            })
        };
        ledger.attempt(case, path, path, way, &["no permission", "as its owner or as root"]);
    }
}
