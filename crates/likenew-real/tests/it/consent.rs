//! Consent to overwrite: given for the target that was examined and named, if no other program uses it, and
//! for nothing else.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{
    Loop, Mounted, disk_folder, filled_file, lane, one, refusal, run, run_when_free, says, soon,
};
use likenew_core::io::{Op, Outcome};
use likenew_core::target_error::TargetError;
use likenew_real::consent::{Agreement, Consent, Loss};
use likenew_real::file_store::FileStore;
use likenew_real::open::{Options, open};

fn agreement(id: &str, destroy: &[&str]) -> Agreement {
    Agreement { id: id.into(), destroy: destroy.iter().map(|name| (*name).to_owned()).collect() }
}

/// An image of 32 MiB, and a loop device over it.
fn device() -> Option<(tempfile::TempDir, PathBuf, Loop)> {
    let place = disk_folder();
    let image = place.path().join("stick.img");
    File::create_new(&image).unwrap().set_len(32 << 20).unwrap();
    let device = Loop::attach(&image)?;
    Some((place, image, device))
}

#[test]
fn a_device_is_overwritten_when_it_is_named_and_only_then() {
    let Some((_place, image, device)) = device() else { return };
    let loss = Loss::at(&device.0).unwrap();
    assert_eq!((loss.bytes, loss.id.kind), (32 << 20, "backing file"));
    assert_eq!(Path::new(&loss.id.text), fs::canonicalize(&image).unwrap());
    for wrong in ["", "stick.img", "/dev/loop0", &loss.id.text.to_uppercase()] {
        let text = refusal(Consent::to_overwrite(&device.0, &agreement(wrong, &[])));
        let why = if wrong.is_empty() { "nothing was typed" } else { "does not match" };
        says(&text, &[why, "; its backing file is", &loss.id.text]);
    }
    let consent = Consent::to_overwrite(&device.0, &agreement(&loss.id.text, &[])).unwrap();
    says(
        &refusal(Consent::to_overwrite(&device.0, &agreement(&loss.id.text, &[]))),
        &["holds it exclusively"],
    );
    let mut drive = open(&device.0, Options { consent: Some(consent), ..Options::default() }).unwrap();
    assert!(drive.geometry().writable);
    assert_eq!(one(&mut lane(&mut *drive), Op::Write, 4096, 4096).unwrap(), Outcome::Done);
}

#[test]
fn what_a_device_carries_has_to_be_named_too() {
    let Some((_place, _image, device)) = device() else { return };
    let name = device.0.to_str().unwrap();
    if run_when_free("mkfs.ext4", &["-q", "-F", name]).is_none() {
        return;
    }
    let loss = Loss::at(&device.0).unwrap();
    assert_eq!(loss.carries, ["ext"]);
    says(&loss.to_string(), &["This overwrites", "32 MiB", "it carries ext"]);
    for named in [&[][..], &["xfs"], &["extra"]] {
        let text = refusal(Consent::to_overwrite(&device.0, &agreement(&loss.id.text, named)));
        says(&text, &["it carries ext", "--destroy ext"]);
    }
    drop(Consent::to_overwrite(&device.0, &agreement(&loss.id.text, &["xfs", "EXT"])).unwrap());
}

#[test]
fn contents_of_no_known_kind_have_to_be_named_too() {
    let Some((_place, image, device)) = device() else { return };
    let id = Loss::at(&device.0).unwrap().id.text;
    let name = device.0.to_str().unwrap();
    let write = |offset: u64, bytes: &[u8]| {
        File::options().write(true).open(&image).unwrap().write_all_at(bytes, offset).unwrap();
    };
    let carries = || Loss::at(&device.0).unwrap().carries;
    assert_eq!(carries(), [""; 0]);
    write(0xA_0000, b"x");
    assert_eq!(carries(), ["unknown"]);
    let text = refusal(Consent::to_overwrite(&device.0, &agreement(&id, &["ext"])));
    says(&text, &["it carries unknown", "--destroy unknown"]);
    drop(Consent::to_overwrite(&device.0, &agreement(&id, &["unknown"])).unwrap());
    // What only blkid knows.
    if run_when_free("mkfs.minix", &[name]).is_some() {
        assert_eq!(carries(), ["minix"]);
        write(0, &vec![0; 1 << 20]);
        // VMFS begins at 2 MiB (libblkid/src/superblocks/vmfs.c of util-linux).
        write(2 << 20, &0x2fab_f15e_u32.to_le_bytes());
        assert_eq!(carries(), ["VMFS"]);
        write(2 << 20, &[0; 4]);
    }
    // A file system in a partition of a table that the kernel has not read.
    let partitioned = |table: &str| {
        write(0, &vec![0; 1 << 20]);
        let mut sfdisk = Command::new("sfdisk");
        let sfdisk = sfdisk.args(["--quiet", "--no-reread", "--no-tell-kernel", image.to_str().unwrap()]);
        let sfdisk = sfdisk.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(mut sfdisk) = sfdisk else { return false };
        std::io::Write::write_all(&mut sfdisk.stdin.take().unwrap(), table.as_bytes()).unwrap();
        assert!(sfdisk.wait().unwrap().success());
        true
    };
    if !partitioned("label: dos\nstart=2048, size=40000, type=5\nstart=4096, size=16384\n") {
        return eprintln!("SKIPPED: sfdisk");
    }
    write(4096 * 512 + 0x438, &[0x53, 0xEF]);
    let in_logical = carries();
    assert!(in_logical.iter().any(|name| name == "ext"), "{in_logical:?}");
    write(4096 * 512 + 0x438, &[0; 2]);
    assert!(partitioned("label: gpt\nstart=8192, size=16384\n"));
    write(8192 * 512 + 0x438, &[0x53, 0xEF]);
    let of_device = carries();
    // Looking at it may have made the kernel read the table, and partitions outlive a loop device.
    run("partx", &["--delete", name]);
    drop(device);
    for carries in [of_device, Loss::at(&image).unwrap().carries] {
        assert!(["gpt", "ext"].iter().all(|name| carries.iter().any(|carry| carry == name)), "{carries:?}");
    }
    // As after a copy to a larger drive, the second table is not at the end.
    File::options().write(true).open(&image).unwrap().set_len(48 << 20).unwrap();
    let grown = Loss::at(&image).unwrap().carries;
    assert!(grown.iter().any(|name| name == "ext"), "{grown:?}");
    // A file is asked as well.
    let file = File::options().write(true).open(&image).unwrap();
    file.set_len(0).and_then(|()| file.set_len(32 << 20)).unwrap();
    drop(file);
    if run("mkfs.minix", &[&image]).is_some() {
        assert_eq!(Loss::at(&image).unwrap().carries, ["minix"]);
    }
}

#[test]
fn a_device_that_somebody_uses_is_refused_whatever_was_typed() {
    let Some((_place, _image, device)) = device() else { return };
    let name = device.0.to_str().unwrap();
    let id = Loss::at(&device.0).unwrap().id.text;
    let attempt = || Consent::to_overwrite(&device.0, &agreement(&id, &["ext", "swap", "dos"]));
    if run_when_free("mkfs.ext4", &["-q", "-F", name]).is_some()
        && let Some(mounted) = Mounted::mount(&[name])
    {
        says(&refusal(attempt()), &["is mounted at", mounted.path().to_str().unwrap(), "unmount it"]);
    }
    if run_when_free("mkswap", &["-f", name]).is_some() && run("swapon", &[name]).is_some() {
        let text = refusal(attempt());
        run("swapoff", &[name]);
        says(&text, &["used as swap", "swapoff"]);
    }
    if let Some(above) = Loop::attach(&device.0) {
        let carried = format!("carries {}", above.0.file_name().unwrap().to_str().unwrap());
        says(&refusal(attempt()), &[&carried, "losetup -d"]);
    }
    drop(attempt().unwrap());
}

#[test]
fn a_disk_is_refused_for_the_sake_of_its_partitions() {
    let Some((_place, image, device)) = device() else { return };
    let name = device.0.to_str().unwrap();
    // A DOS partition table: one entry of type 0x83, from block 64, 24 MiB long, and the signature.
    let mut table = [0; 512];
    table[450] = 0x83;
    table[454..458].copy_from_slice(&64u32.to_le_bytes());
    table[458..462].copy_from_slice(&49152u32.to_le_bytes());
    table[510..].copy_from_slice(&[0x55, 0xAA]);
    File::options().write(true).open(&image).unwrap().write_all_at(&table, 0).unwrap();
    if run("partx", &["--add", name]).is_none() {
        return;
    }
    let part = format!("{name}p1");
    let id = Loss::at(&device.0).unwrap().id.text;
    let of_part = Loss::at(Path::new(&part)).map(|loss| loss.id.text);
    let mounted = run_when_free("mkfs.ext4", &["-q", "-F", &part]).and_then(|_| Mounted::mount(&[&part]));
    let text = mounted
        .map(|_mounted| refusal(Consent::to_overwrite(&device.0, &agreement(&id, &["dos", "ext", "gpt"]))));
    let unnamed = refusal(Consent::to_overwrite(&device.0, &agreement(&id, &[])));
    run_when_free("partx", &["--delete", name]);
    assert_eq!(of_part.unwrap(), format!("{id}-part1"));
    says(&unnamed, &["it carries dos"]);
    if let Some(text) = text {
        says(&text, &["p1 is mounted at", "unmount it"]);
    }
}

#[test]
fn the_disk_under_the_system_is_refused_before_anything_is_asked() {
    let source = run("findmnt", &["-n", "-o", "SOURCE", "/"]).filter(|source| source.starts_with("/dev/"));
    let Some(source) = source else { return eprintln!("SKIPPED: the root file system is on no device") };
    says(&refusal(Loss::at(Path::new(&source))), &["the system runs from"]);
}

#[test]
fn a_file_is_overwritten_when_it_is_named_and_nobody_else_has_it() {
    let place = disk_folder();
    let path = filled_file(place.path(), 64 << 10);
    let before = fs::read(&path).unwrap();
    says(
        &refusal(Consent::to_overwrite(&path, &agreement("other", &[]))),
        &["does not match; its file name is", "\"filled\""],
    );
    {
        let _reader = File::open(&path).unwrap();
        says(&refusal(Consent::to_overwrite(&path, &agreement("filled", &[]))), &["has it open"]);
    }
    if let Some(_device) = Loop::attach(&path) {
        says(&refusal(Consent::to_overwrite(&path, &agreement("filled", &[]))), &["losetup -d"]);
    }
    let link = place.path().join("second");
    fs::hard_link(&path, &link).unwrap();
    says(&refusal(Consent::to_overwrite(&path, &agreement("filled", &[]))), &["hard links"]);
    fs::remove_file(&link).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before, "so far nothing was changed");

    let consent = Consent::to_overwrite(&path, &agreement("filled", &[])).unwrap();
    says(&refusal(Consent::to_overwrite(&path, &agreement("filled", &[]))), &["lock"]);
    let other = filled_file(&tempfile::tempdir_in(place.path()).unwrap().keep(), 64 << 10);
    let elsewhere = open(&other, Options { consent: Some(consent), ..Options::default() });
    says(&refusal(elsewhere), &["another target"]);
    let consent = Consent::to_overwrite(&path, &agreement("filled", &[])).unwrap();
    let mut drive = open(&path, Options { consent: Some(consent), ..Options::default() }).unwrap();
    let mut lane = lane(&mut *drive);
    lane.buffer(likenew_core::io::Slot(0))[..4096].fill(7);
    assert_eq!(one(&mut lane, Op::Write, 8192, 4096).unwrap(), Outcome::Done);
    drop(lane);
    drop(drive);
    let after = fs::read(&path).unwrap();
    assert_eq!(after.len(), before.len(), "its length stays");
    assert_eq!((&after[..8192], &after[12288..]), (&before[..8192], &before[12288..]));
    assert!(after[8192..12288].iter().all(|byte| *byte == 7));
}

/// A loop device over a file that a program serves, and that program.
struct Served {
    server: Child,
    file: PathBuf,
    device: Option<Loop>,
}

impl Served {
    fn new(folder: &Path) -> Option<Self> {
        let file = folder.join("served");
        File::create_new(&file).unwrap();
        let server = Command::new("nbdfuse")
            .arg(&file)
            .args(["--command", "nbdkit", "-s", "memory", "16M"])
            .stdin(Stdio::null())
            .spawn()
            .inspect_err(|error| eprintln!("SKIPPED: nbdfuse: {error}"))
            .ok()?;
        let mut served = Self { server, file, device: None };
        if !soon(|| fs::metadata(&served.file).is_ok_and(|found| found.len() == 16 << 20)) {
            eprintln!("SKIPPED: nbdfuse serves nothing");
            return None;
        }
        served.device = Some(Loop::attach(&served.file)?);
        Some(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.device = None;
        run("fusermount3", &["-u", self.file.to_str().unwrap()]);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_loop_device_whose_server_has_died_stands_in_nobodys_way() {
    let Some((place, _image, device)) = device() else { return };
    let Some(mut served) = Served::new(place.path()) else { return };
    let file = filled_file(place.path(), 64 << 10);
    let id = Loss::at(&device.0).unwrap().id.text;
    let agree_to_both = || {
        drop(Consent::to_overwrite(&device.0, &agreement(&id, &[])).unwrap());
        drop(Consent::to_overwrite(&file, &agreement("filled", &[])).unwrap());
    };
    agree_to_both();
    served.server.kill().unwrap();
    served.server.wait().unwrap();
    assert!(soon(|| fs::metadata(&served.file).is_err()), "nobody serves it any more");
    agree_to_both();
    let dead = &served.device.as_ref().unwrap().0;
    let text = refusal(Consent::to_overwrite(dead, &agreement("served", &[])));
    says(&text, &["the program that served", "has ended", "losetup -d", dead.to_str().unwrap()]);
}

/// `mount` or a FUSE server over a folder, ended when dropped.
struct Shown(PathBuf);

impl Shown {
    /// Runs a program that shows something at a new folder of this name.
    fn at(folder: &Path, name: &str, program: &str, arguments: &[&str]) -> Option<Self> {
        let point = folder.join(name);
        fs::create_dir(&point).unwrap();
        run(program, &[arguments, &[point.to_str().unwrap()]].concat())?;
        Some(Self(point))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        soon(|| Command::new("umount").arg(&self.0).output().is_ok_and(|ended| ended.status.success()));
    }
}

/// Attaches `used` and mounts it, does what comes `then`, and returns why what is attached to `asked` may not be overwritten.
fn refusal_beside(used: &Path, then: impl FnOnce(), asked: &Path) -> Option<String> {
    let used = Loop::attach(used)?;
    run_when_free("mkfs.ext4", &["-q", "-F", used.0.to_str().unwrap()])?;
    let _mounted = Mounted::mount(&[used.0.to_str().unwrap()])?;
    then();
    Some(refusal_of(&Loop::attach(asked)?.0))
}

/// Why this may not be overwritten, although everything on it is named.
fn refusal_of(path: &Path) -> String {
    let agree = |loss: Loss| {
        let carries: Vec<&str> = loss.carries.iter().map(String::as_str).collect();
        Consent::to_overwrite(path, &agreement(&loss.id.text, &carries))
    };
    refusal(Loss::at(path).and_then(agree))
}

/// A program that has a file open for writing, ended when dropped.
struct Writer(Child);

impl Writer {
    fn of(path: &Path) -> Self {
        let mut sleep = Command::new("sleep");
        let file = File::options().read(true).write(true).open(path).unwrap();
        Self(sleep.arg("60").stdout(Stdio::from(file)).spawn().unwrap())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A folder of its own with a lower layer, an upper one and one to work in, and an image in the first two.
fn layers(place: &Path, name: &str) -> PathBuf {
    let folder = place.join(name);
    for (layer, image) in [("lower", Some("low")), ("upper", Some("x")), ("work", None)] {
        fs::create_dir_all(folder.join(layer)).unwrap();
        if let Some(image) = image {
            File::create_new(folder.join(layer).join(image)).unwrap().set_len(32 << 20).unwrap();
        }
    }
    folder
}

/// Shows the layers of a folder in its `merged`, as a command of the shell in that folder says.
fn merged(folder: &Path, command: &str) -> Option<Shown> {
    Shown::at(
        folder,
        "merged",
        "sh",
        &["-c", &format!("cd \"$0\" && {command} \"$1\""), folder.to_str().unwrap()],
    )
}

const ABSOLUTE: &str =
    "mount -t overlay likenew-test -o lowerdir=\"$0/lower\",upperdir=\"$0/upper\",workdir=\"$0/work\"";

/// It alone has such devices attached: while it does, no other test may overwrite a loop device or file (`.config/nextest.toml`).
#[test]
fn bytes_that_another_file_system_shows_are_refused() {
    let place = disk_folder();
    let (mut tried, mut refused) = (0, 0);
    let mut note = |text: Option<String>, words: &str| {
        if let Some(text) = text {
            tried += 1;
            says(&text, &[words]);
            refused += 1;
        }
    };
    let nothing = || ();
    // Of the upper layer and of the lower one, in both directions.
    let folder = layers(place.path(), "plain");
    let (low, high) = (folder.join("lower/low"), folder.join("upper/x"));
    if let Some(merged) = merged(&folder, ABSOLUTE) {
        note(refusal_beside(&high, nothing, &merged.0.join("x")), "(overlay)");
        note(refusal_beside(&merged.0.join("x"), nothing, &high), "another name (overlay)");
        note(refusal_beside(&low, nothing, &merged.0.join("low")), "(overlay)");
        // By a program, in both directions, and by what is laid over it once more.
        let device = Loop::attach(&high);
        note(
            device
                .map(|device| (Writer::of(&merged.0.join("x")), device))
                .map(|(_writer, device)| refusal_of(&device.0)),
            "sleep",
        );
        note(Some(Writer::of(&high)).map(|_writer| refusal_of(&merged.0.join("x"))), "(overlay)");
        if let Some(passed) = Shown::at(&folder, "passed", "bindfs", &[merged.0.to_str().unwrap()]) {
            note(refusal_beside(&passed.0.join("x"), nothing, &high), "another name (fuse");
        }
        // A lease there does not keep programs from the file beneath.
        fs::write(folder.join("upper/photo"), vec![1; 1 << 20]).unwrap();
        let rewritten = FileStore::take(&merged.0.join("photo")).map(|_| ());
        says(&refusal(rewritten), &["photo is not rewritten", "(overlay)"]);
    }
    // Where the names of the layers lead elsewhere, or nowhere: relative ones, and folders that have moved since.
    let relative = "mount -t overlay likenew-test -o lowerdir=lower,upperdir=upper,workdir=work";
    for (name, command, moved) in
        [("relative", relative, false), ("moved", ABSOLUTE, true), ("com,ma", relative, true)]
    {
        let folder = layers(place.path(), name);
        let Some(merged) = merged(&folder, command) else { continue };
        let upper = folder.join(if moved { "upper moved" } else { "upper" });
        let then = || {
            if moved {
                fs::rename(folder.join("upper"), &upper).unwrap();
            }
        };
        let asked = upper.join("x");
        note(refusal_beside(&merged.0.join("x"), then, &asked), "another name (overlay)");
    }
    // In another mount namespace, as of a container.
    let folder = layers(place.path(), "hidden");
    let script = format!(
        "cd \"$0\" && mkdir merged mnt && {ABSOLUTE} merged && D=$(losetup -f --show merged/x) && mkfs.ext4 -qF $D && \
         mount $D mnt && echo $D && cat"
    );
    let mut container = Command::new("unshare");
    container.args(["-m", "--propagation", "private", "sh", "-c", &script]).arg(&folder);
    if let Ok(mut container) = container.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        let mut device = String::new();
        BufReader::new(container.stdout.take().unwrap()).read_line(&mut device).unwrap();
        let asked = (!device.is_empty()).then(|| Loop::attach(&folder.join("upper/x"))).flatten();
        note(asked.map(|asked| refusal_of(&asked.0)), "another name (");
        drop(container.stdin.take());
        container.wait().unwrap();
        drop((!device.is_empty()).then(|| Loop(device.trim().into())));
    }
    // Deleted since, while a second name of it is there.
    let folder = layers(place.path(), "deleted");
    if let Some(merged) = merged(&folder, ABSOLUTE) {
        let (used, other) = (merged.0.join("x"), folder.join("other"));
        fs::hard_link(folder.join("upper/x"), &other).unwrap();
        note(refusal_beside(&used, || fs::remove_file(&used).unwrap(), &other), "another name (");
    }
    let plain = place.path().join("plain files");
    fs::create_dir(&plain).unwrap();
    File::create_new(plain.join("x")).unwrap().set_len(32 << 20).unwrap();
    if let Some(passed) = Shown::at(place.path(), "passed", "bindfs", &[plain.to_str().unwrap()]) {
        note(refusal_beside(&plain.join("x"), nothing, &passed.0.join("x")), "(fuse");
        note(refusal_beside(&passed.0.join("x"), nothing, &plain.join("x")), "another name (fuse");
    }
    // Mounted without a loop device: by the kernel, whose mount(8) would take one, and by a program.
    let packed = place.path().join("packed");
    let by_kernel = "python3 -c 'import ctypes, os, sys\nsource, point = map(os.fsencode, sys.argv[1:])\n\
                     sys.exit(ctypes.CDLL(None).mount(source, point, b\"erofs\", 1, None) != 0)'";
    if run("mkfs.erofs", &[&packed, &plain]).is_some() {
        for (name, command, moved) in [
            ("unpacked", "\"$0/packed\"", false),
            ("relative image", "packed", false),
            ("moved image", "\"$0/packed\"", true),
        ] {
            let (place, elsewhere) = (place.path(), place.path().join("packed elsewhere"));
            let command = format!("cd \"$0\" && {by_kernel} {command} \"$1\"");
            let shown = Shown::at(
                place,
                name,
                "bash",
                &["-c", &command.replace("python3 -c '", "python3 -c $'"), place.to_str().unwrap()],
            );
            let Some(_shown) = shown else { continue };
            let image = if moved { &elsewhere } else { &packed };
            if moved {
                fs::rename(&packed, image).unwrap();
            }
            note(Loop::attach(image).map(|asked| refusal_of(&asked.0)), "mounted at");
        }
    }
    let files = place.path().join("files");
    File::create_new(&files).unwrap().set_len(32 << 20).unwrap();
    if run("mkfs.ext4", &[Path::new("-qF"), &files]).is_some()
        && let Some(_shown) =
            Shown::at(place.path(), "served", "fuse2fs", &["-o", "rw,fakeroot", files.to_str().unwrap()])
    {
        note(Loop::attach(&files).map(|asked| refusal_of(&asked.0)), "is mounted at");
    }
    println!("attack: a device over bytes that another file system shows | {tried} | {refused} refused");
}

#[test]
fn a_folder_of_the_system_is_one_by_whatever_name_it_is_mounted() {
    // Under another name the mount shows a part of it; nothing is written to it.
    let Some(file) = fs::read_dir("/usr/share/doc").ok().and_then(|mut entries| entries.next()?.ok()) else {
        return eprintln!("SKIPPED: no /usr/share/doc");
    };
    let inside = Path::new("doc").join(file.file_name());
    let Some(mounted) = Mounted::mount(&["--bind", "/usr/share"]) else { return };
    let files = fs::read_dir(mounted.path().join(inside)).into_iter().flatten().flatten();
    let Some(file) = files.map(|entry| entry.path()).find(|path| path.is_file()) else { return };
    says(&refusal(Loss::at(&file)), &["it is in /usr, which the system needs"]);
    if let Some(device) = Loop::attach_with(&["--read-only"], &file) {
        says(&refusal(Loss::at(&device.0)), &["it is in /usr, which the system needs"]);
    }
}

#[test]
fn what_is_neither_device_nor_file_is_refused() {
    let place = disk_folder();
    for path in [place.path(), Path::new("/dev/null"), Path::new("/does/not/exist")] {
        match Loss::at(path) {
            Err(TargetError::Refused(text) | TargetError::Unsuitable(text)) => assert!(!text.is_empty()),
            Err(target_error) => says(&target_error.to_string(), &["does not exist"]),
            Ok(loss) => panic!("{loss}"),
        }
    }
}
