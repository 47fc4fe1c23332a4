//! Files of the owner on real file systems, rewritten in place: nothing about them changes, whatever other
//! programs do.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::file_system::{
    EXT4, FileSystem, FileSystemState, MIB, all, bytes, create_file, file, open_file, take, task,
};
use crate::support::{Mounted, refusal, run, says};
use likenew_core::drive::BlockStore as _;
use likenew_real::file_store::FileStore;
use likenew_refresh::{InspectedRefresh, Refresh, RefreshError, Step};

/// Bytes written.
fn refresh(path: &Path) -> u64 {
    let journal = path.with_extension("journal");
    let mut store = take(path);
    let task = task(&store, 256 << 10);
    let mut refresh = Refresh::begin(&mut store, create_file(&journal), &task).unwrap();
    while refresh.step().unwrap().is_some() {}
    let written = refresh.progress().written_bytes;
    drop(refresh);
    store.give_back().unwrap();
    fs::remove_file(journal).unwrap();
    written
}

/// The extents that `filefrag` reports, without their addresses.
fn extents(path: &Path) -> String {
    run("filefrag", &["-v", path.to_str().unwrap()]).unwrap_or_default()
}

#[test]
fn a_file_is_written_again_and_nothing_about_it_changes() {
    for (kind, system) in all() {
        let path = file(system.path());
        let before = FileSystemState::of(&path);
        let map = extents(&path);
        let written = refresh(&path);
        assert!(FileSystemState::of(&path) == before, "{kind}");
        assert!(fs::read(system.path().join("the same")).unwrap() == before.content, "{kind}");
        // Neither the hole, nor zeros, nor reserved blocks, nor a partial last block, nor the sentinel blocks
        // at both ends.
        assert!(written > 3 * MIB as u64 && written < 4 * MIB as u64 + MIB as u64 / 2, "{kind}: {written}");
        if kind != "mkfs.btrfs" {
            assert_eq!(extents(&path), map, "{kind}: it lies where it lay");
        }
        // It reads the same without any of it in memory.
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        assert!(fs::read(&path).unwrap() == before.content, "{kind}");
    }
}

#[test]
fn what_files_share_stays_shared() {
    for (kind, system) in all().filter(|(kind, _)| *kind != "mkfs.ext4") {
        let (one, two) = (system.path().join("one"), system.path().join("two"));
        fs::write(&one, bytes(4 * MIB, 5)).unwrap();
        File::open(&one).unwrap().sync_all().unwrap();
        if run("cp", &["--reflink=always", one.to_str().unwrap(), two.to_str().unwrap()]).is_none() {
            continue;
        }
        // The second MiB of the second file becomes its own.
        OpenOptions::new().write(true).open(&two).unwrap().write_all_at(&bytes(MIB, 6), MIB as u64).unwrap();
        run("sync", &["-f", system.path().to_str().unwrap()]);
        let free = |path: &Path| {
            let space = rustix::fs::statvfs(path).unwrap();
            space.f_bfree * space.f_frsize
        };
        let before = [FileSystemState::of(&one), FileSystemState::of(&two)];
        let space = free(system.path());
        {
            let store = take(&two);
            let own = MIB as u64..2 * MIB as u64;
            assert!(store.ranges() == std::slice::from_ref(&own), "{kind}: {:?}", store.ranges());
            assert!(store.skips().iter().all(|left| left.reason.contains("SHARED")), "{kind}");
        }
        let written = refresh(&two) as usize;
        assert!((MIB - 8192..=MIB).contains(&written), "{kind}: all but witnesses, {written}");
        run("sync", &["-f", system.path().to_str().unwrap()]);
        assert!([FileSystemState::of(&one), FileSystemState::of(&two)] == before, "{kind}");
        let lost = space.saturating_sub(free(system.path()));
        assert!(lost < MIB as u64, "{kind}: {lost} bytes less are free, so something is stored twice");
    }
}

#[test]
fn whoever_wants_the_file_gets_it_between_two_chunks() {
    let Some(system) = FileSystem::make(EXT4.0, EXT4.1) else { return };
    let path = file(system.path());
    let before = FileSystemState::of(&path);
    let journal = system.path().join("journal");
    for mode in ["<", ">>"] {
        let mut store = take(&path);
        assert!(!store.is_wanted());
        let task = task(&store, 64 << 10);
        let mut refresh = Refresh::begin(&mut store, create_file(&journal), &task).unwrap();
        for _ in 0..3 {
            assert!(matches!(refresh.step().unwrap(), Some(Step::Written(_))));
        }
        let script = format!("exec 3{mode} '{}'; echo opened", path.display());
        let mut other = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        while !refresh.store().is_wanted() {
            std::thread::yield_now();
        }
        assert!(other.try_wait().unwrap().is_none(), "it waits");
        if mode == "<" {
            refresh.stop().unwrap();
            drop(refresh);
        } else {
            // Nothing more is written, even if this was not checked.
            let error = refresh.step().unwrap_err();
            assert!(matches!(error, RefreshError::Wanted), "{error}");
            says(&error.to_string(), &["another program wants to use it"]);
            drop(refresh);
        }
        store.give_back().unwrap();
        assert!(other.wait().unwrap().success());
        assert!(FileSystemState::of(&path) == before);
        // It continues once they have closed it, and there is nothing to restore.
        let mut store = take(&path);
        let identity = store.identity().to_owned();
        let found = InspectedRefresh::inspect(&mut store, open_file(&journal), &*identity).unwrap();
        assert_eq!(found.in_flight().count(), 0);
        let mut refresh = found.resume(&mut Vec::new()).unwrap();
        while refresh.step().unwrap().is_some() {}
        drop(refresh);
        store.give_back().unwrap();
        fs::remove_file(&journal).unwrap();
        assert!(FileSystemState::of(&path) == before);
    }
}

#[test]
fn files_that_are_not_to_be_rewritten_are_refused() {
    let Some(system) = FileSystem::make(EXT4.0, EXT4.1) else { return };
    let folder = system.path();
    let plain = |name: &str| {
        let path = folder.join(name);
        fs::write(&path, bytes(64 << 10, 1)).unwrap();
        path
    };
    let refuses = |path: &Path, words: &[&str]| {
        let before = fs::read(path).ok();
        let text = refusal(FileStore::take(path).map(|_| ()));
        says(&text, words);
        assert!(fs::read(path).ok() == before);
    };
    let one = plain("one");
    symlink(&one, folder.join("link")).unwrap();
    refuses(&folder.join("link"), &["symbolic link", "Nothing was changed"]);
    fs::create_dir(folder.join("inside")).unwrap();
    refuses(&folder.join("inside"), &["not a regular file"]);
    refuses(Path::new("/dev/null"), &["not a regular file"]);
    refuses(&folder.join("nowhere"), &["does not exist"]);
    File::create(folder.join("empty")).unwrap();
    refuses(&folder.join("empty"), &["empty"]);
    {
        let reader = File::open(&one).unwrap();
        refuses(&one, &["another program has it open"]);
        drop(reader);
        let writer = OpenOptions::new().append(true).open(&one).unwrap();
        refuses(&one, &["another program has it open"]);
        drop(writer);
    }
    let held = take(&one);
    drop(held);
    let privileged = plain("privileged");
    fs::set_permissions(&privileged, fs::Permissions::from_mode(0o4755)).unwrap();
    refuses(&privileged, &["set-user-ID"]);
    for (flag, word) in [("i", "immutable"), ("a", "append-only")] {
        let path = plain(&format!("with {flag}"));
        if run("chattr", &[&format!("+{flag}"), path.to_str().unwrap()]).is_some() {
            refuses(&path, &[word]);
            run("chattr", &[&format!("-{flag}"), path.to_str().unwrap()]);
        }
    }
    let program = folder.join("sleep");
    if let Some(sleep) = run("which", &["sleep"]) {
        fs::copy(sleep, &program).unwrap();
        let mut running = Command::new(&program).arg("60").spawn().unwrap();
        refuses(&program, &["running program"]);
        running.kill().unwrap();
        running.wait().unwrap();
        if run("setcap", &["cap_net_raw+ep", program.to_str().unwrap()]).is_some() {
            refuses(&program, &["capabilities"]);
        }
    }
    let swap = folder.join("swap");
    fs::write(&swap, vec![0; 4 * MIB]).unwrap();
    fs::set_permissions(&swap, fs::Permissions::from_mode(0o600)).unwrap();
    if run("mkswap", &[swap.to_str().unwrap()]).is_some()
        && run("swapon", &[swap.to_str().unwrap()]).is_some()
    {
        refuses(&swap, &["used as swap", "swapoff"]);
        run("swapoff", &[swap.to_str().unwrap()]).unwrap();
    }
    let memory = Mounted::tmpfs("size=1m").unwrap();
    let path = memory.path().join("file");
    fs::write(&path, [1; 8192]).unwrap();
    refuses(&path, &["tmpfs", "copy it instead"]);
}

#[test]
fn memory_of_any_alignment_is_taken() {
    let Some(system) = FileSystem::make(EXT4.0, EXT4.1) else { return };
    let path = file(system.path());
    let before = FileSystemState::of(&path);
    let mut store = take(&path);
    let block = store.block() as usize;
    let mut memory = vec![0; 20_000];
    for (start, length) in [(1, block), (3, 8192), (8, 2 * block), (5, 16384)] {
        let part = &mut memory[start..start + length];
        store.read_at(8192, part).unwrap();
        assert!(*part == before.content[8192..8192 + length]);
        store.write_at(8192, part).unwrap();
    }
    store.give_back().unwrap();
    assert!(FileSystemState::of(&path) == before);
}
