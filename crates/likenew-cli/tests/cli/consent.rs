//! Data of an owner is overwritten only if the owner has named the drive and what is on it.

use crate::filesystem::system;
use crate::support::Sandbox;
use crate::watch::{Tmux, likenew};

const QUICK: [&str; 8] = ["--op", "write", "--span", "16MiB", "--passes", "1", "--time", "50ms"];

fn bench<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", target], &QUICK[..], more].concat()
}

#[test]
fn a_device_is_overwritten_with_consent_alone() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not root: no loop device can be made, so this test shows nothing");
    }
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("stick.img");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    system("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()]);
    let before = std::fs::read(&image).unwrap();
    let device = system("losetup", &["--find", "--show", image.to_str().unwrap()]);
    let id = std::fs::canonicalize(&image).unwrap();
    let id = id.to_str().unwrap();
    let ends = std::panic::catch_unwind(|| {
        let refused = sandbox.run(&bench(&device, &["--yes"]));
        refused.code(3).says("nothing was changed").says(&format!("--consent \"{id}\" --destroy ext"));
        sandbox
            .run(&bench(&device, &["--consent", "stick.img"]))
            .code(3)
            .says("does not match; its backing file is");
        sandbox.run(&bench(&device, &["--consent", id])).code(3).says("it carries ext");
        sandbox.run(&bench(&device, &["--destroy", "ext"])).code(2);
        sandbox.run(&bench(&device, &["--consent", id, "--destroy", "ext", "--plan"])).code(0);
        assert!(std::fs::read(&image).unwrap() == before, "so far nothing was written");
        let ran = sandbox.run(&bench(&device, &["--consent", id, "--destroy", "ext", "--json", "-"]));
        ran.code(0).says("This overwrites").says("everything on it will be lost");
        assert!(ran.json()["bytes_written"].as_u64().unwrap() > 0);
        // What was written is of no known kind, and the drive must be named again for every run.
        sandbox.run(&bench(&device, &[])).code(3).says("--consent");
        sandbox.run(&bench(&device, &["--consent", id])).code(3).says("add --destroy unknown");
        sandbox.run(&bench(&device, &["--consent", id, "--destroy", "unknown"])).code(0);
    });
    system("losetup", &["--detach", &device]);
    ends.unwrap();
}

#[test]
fn a_file_is_overwritten_with_consent_and_keeps_its_length() {
    let sandbox = Sandbox::new();
    let file = sandbox.work().join("image.bin");
    std::fs::write(&file, vec![7; 32 << 20]).unwrap();
    let at = file.to_str().unwrap();
    sandbox.run(&bench(at, &[])).code(3).says("existing file").says("--consent \"image.bin\"");
    sandbox.run(&bench(at, &["--consent", "other.bin"])).code(3).says("does not match; its file name is");
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 7));
    sandbox.run(&bench(at, &["--consent", "image.bin", "--details"])).code(0).says("will be lost");
    assert_eq!(file.metadata().unwrap().len(), 32 << 20);
    assert!(std::fs::read(&file).unwrap().iter().any(|byte| *byte != 7));
}

#[test]
fn consent_to_what_needs_none_is_a_mistake() {
    let sandbox = Sandbox::new();
    for target in [".", "sim:tiny-flash", "nop:"] {
        sandbox.run(&bench(target, &["--consent", "x"])).code(2).says("leave it out");
    }
}

#[test]
fn ctrl_c_at_a_question_ends_it_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    let command = format!("{} bench . --passes 1000 --span 64MiB", likenew());
    let Some(tmux) = Tmux::start(&sandbox, &command) else { return };
    tmux.shows("[y/N]");
    tmux.press(&["C-c"]);
    let screen = tmux.shows("ended ");
    assert!(screen.contains("stopped before the run began") && screen.contains("ended 130"), "{screen}");
    assert!(!screen.contains("Stopping"), "{screen}");
    assert!(!sandbox.work().join("likenew-scratch").exists());
}
