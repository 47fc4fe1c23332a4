//! Two runs never use one drive at once, whatever path and user each has, and a killed run leaves nothing
//! locked.

use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::refusal_matrix::disk::{PARTITION, table};
use crate::support::{Loop, Mounted, disk_folder, refusal, run, run_when_free, says};
use likenew_real::drive_lock::Locks;

const PATH: &str = "LIKENEW_TEST_LOCK";
const NOBODY: &str = "65534";

/// The other process: reports that it is refused, or holds a lock until it is killed or its pipe is closed.
#[test]
fn the_other_process() {
    let Some(path) = std::env::var_os(PATH) else { return };
    match Locks::system().take(&[Path::new(&path)]) {
        Err(target_error) => println!("\nrefused: {target_error}"),
        Ok(_lock) => {
            println!("\nheld");
            let _ = std::io::stdin().read(&mut [0]);
        }
    }
}

/// Another process, and its output line; ended with this.
struct Other {
    child: Child,
    message: String,
}

impl Other {
    fn start(mut command: Command, path: &Path) -> Self {
        let command = command.args(["--exact", "locks::the_other_process", "--nocapture"]).env(PATH, path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines().map_while(Result::ok);
        let message = lines.into_iter().find(|line| line == "held" || line.starts_with("refused"));
        Self { message: message.expect("the other process has said nothing"), child }
    }

    fn at(path: &Path) -> Self {
        Self::start(Command::new(std::env::current_exe().unwrap()), path)
    }

    /// As an unprivileged user, who needs a program that such a user may run.
    fn of_nobody(program: &Path, path: &Path) -> Self {
        let mut command = Command::new("setpriv");
        let who = format!("--reuid={NOBODY}");
        command.args([&who, &format!("--regid={NOBODY}"), "--clear-groups"]).arg(program);
        Self::start(command, path)
    }

    #[track_caller]
    fn holds(&self) -> String {
        assert_eq!(self.message, "held");
        self.child.id().to_string()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A drive in memory that no other test uses: a file system on it, and on that an image behind a loop device,
/// with a partition and a file system of its own. Taken apart from the top.
struct Stack {
    inner: Option<Mounted>,
    partitioned: Loop,
    outer: Option<Mounted>,
    drive: Loop,
    memory: Mounted,
}

impl Stack {
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: not root, so there is no device to lock");
            return None;
        }
        let memory = Mounted::tmpfs("size=96m").unwrap();
        let attach = |path: PathBuf, bytes: u64| {
            File::create_new(&path).unwrap().set_len(bytes).unwrap();
            Loop::attach(&path).unwrap()
        };
        let mount = |device: &str| {
            run_when_free("mkfs.ext4", &["-q", "-F", device]).unwrap();
            Mounted::mount(&[device]).unwrap()
        };
        let drive = attach(memory.path().join("drive"), 48 << 20);
        let outer = mount(drive.0.to_str().unwrap());
        let image = outer.path().join("disk.img");
        let partitioned = attach(image.clone(), 16 << 20);
        File::options().write(true).open(image).unwrap().write_all_at(&table(PARTITION), 0).unwrap();
        run("partx", &["--add", partitioned.0.to_str().unwrap()]).unwrap();
        let inner = mount(&format!("{}p1", partitioned.0.display()));
        fs::write(inner.path().join("file"), "x").unwrap();
        Some(Self { inner: Some(inner), partitioned, outer: Some(outer), drive, memory })
    }

    fn name(&self) -> String {
        self.drive.0.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn folder(&self) -> &Path {
        self.outer.as_ref().unwrap().path()
    }

    /// All paths to the one drive at the bottom.
    fn ways(&self) -> Vec<PathBuf> {
        let inner = self.inner.as_ref().unwrap().path();
        let partition = format!("{}p1", self.partitioned.0.display());
        let link = self.memory.path().join("link");
        if !link.exists() {
            std::os::unix::fs::symlink(&self.partitioned.0, &link).unwrap();
        }
        vec![
            self.folder().to_owned(),
            self.folder().join("disk.img"),
            self.drive.0.clone(),
            self.partitioned.0.clone(),
            partition.into(),
            inner.to_owned(),
            inner.join("file"),
            link,
        ]
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.inner = None;
        run_when_free("partx", &["--delete", self.partitioned.0.to_str().unwrap()]);
        self.partitioned.detach();
        self.outer = None;
    }
}

#[test]
fn two_processes_do_not_meet() {
    let Some(stack) = Stack::new() else { return };
    let (name, ways) = (stack.name(), stack.ways());
    for held in &ways {
        let other = Other::at(held);
        let process = other.holds();
        // Each refusal takes some time, so this one path stands for the others.
        let asked = &ways[0];
        let text = refusal(Locks::system().take(&[asked]));
        says(&text, &[asked.to_str().unwrap(), &name, &process, "the_other_process", "wait for that"]);
        for asked in &ways {
            let mut who = String::new();
            let never = Locks::system().wait(&[asked], &mut |holder| {
                holder.clone_into(&mut who);
                false
            });
            assert!(never.unwrap().is_none(), "{} beside {}", asked.display(), held.display());
            says(&who, &[&name, &process]);
        }
        // Files on another drive are not affected.
        let elsewhere = stack.memory.path().join("elsewhere");
        File::create(&elsewhere).unwrap().set_len(1 << 20).unwrap();
        let elsewhere = Loop::attach(&elsewhere).unwrap();
        drop(Locks::system().take(&[&elsewhere.0]).unwrap());
        drop(other);
        let all: Vec<&Path> = ways.iter().map(PathBuf::as_path).collect();
        assert_eq!(Locks::system().take(&all).unwrap().drives(), [&*name]);
    }
}

#[test]
fn root_and_a_user_meet_and_neither_can_take_the_lock_away() {
    let Some(stack) = Stack::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("other");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let (device, folder) = (&stack.partitioned.0, stack.folder());

    let user = Other::of_nobody(&program, device);
    let process = user.holds();
    says(&refusal(Locks::system().take(&[folder])), &[&stack.name(), &process, "the_other_process"]);
    drop(user);

    let lock = Locks::system().take(&[folder]).unwrap();
    let user = Other::of_nobody(&program, device);
    says(&user.message, &["refused", &stack.name(), &std::process::id().to_string()]);
    drop(user);
    let file = format!("/sys/block/{}/dev", stack.name());
    let mut setpriv = Command::new("setpriv");
    let setpriv = setpriv.args(["--reuid", NOBODY, "--clear-groups", "rm", "-f", &file]);
    assert!(!setpriv.stderr(Stdio::null()).status().unwrap().success(), "a user has removed {file}");
    let user = Other::of_nobody(&program, device);
    assert!(user.message.starts_with("refused"), "{}", user.message);
    drop((user, lock));
    Other::of_nobody(&program, device).holds();
}

#[test]
fn who_waits_goes_on_when_the_other_ends() {
    let Some(stack) = Stack::new() else { return };
    let mut other = Some(Other::at(stack.folder()));
    let process = other.as_ref().unwrap().holds();
    let mut asked = 0;
    let lock = Locks::system().wait(&[&stack.partitioned.0], &mut |holder| {
        says(holder, &[&stack.name(), &process]);
        asked += 1;
        other = None;
        true
    });
    assert_eq!((lock.unwrap().unwrap().drives(), asked), (&[stack.name()][..], 1));
}

#[test]
fn a_program_that_is_being_started_keeps_nobody_out() {
    let Some(stack) = Stack::new() else { return };
    let lock = Locks::system().take(&[stack.folder()]).unwrap();
    // A copy of all descriptors, like the one between fork and exec of any program.
    let copies: Vec<_> = fs::read_dir("/proc/self/fd").unwrap().flatten().collect();
    let is_lock = |link: &fs::DirEntry| {
        fs::read_link(link.path()).is_ok_and(|at| at.ends_with(format!("{}/dev", stack.name())))
    };
    let copy = copies.iter().find(|link| is_lock(link)).expect("the lock is an open file of /sys");
    let number: i32 = copy.file_name().to_str().unwrap().parse().unwrap();
    let copy = Command::new("sleep").arg("100").stdin(duplicate(number)).spawn().unwrap();
    let _copy = Other { child: copy, message: String::new() };
    drop(lock);
    drop(Locks::system().take(&[stack.folder()]).unwrap());
}

/// The same open file under another descriptor.
fn duplicate(number: i32) -> Stdio {
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    let own =
        pidfd_open(Pid::from_raw(std::process::id().cast_signed()).unwrap(), PidfdFlags::empty()).unwrap();
    Stdio::from(pidfd_getfd(own, number, PidfdGetfdFlags::empty()).unwrap())
}

#[test]
fn locks_in_another_folder_are_others() {
    let Some(stack) = Stack::new() else { return };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [first, second] = folders.each_ref().map(|folder| Locks::in_folder(folder.path().join("locks")));
    let lock = first.take(&[stack.folder()]).unwrap();
    drop(second.take(&[stack.folder()]).unwrap());
    says(&refusal(first.take(&[&stack.drive.0])), &["another run of likenew", &stack.name()]);
    drop(lock);
    drop(first.take(&[&stack.drive.0]).unwrap());
}

#[test]
fn layers_lie_on_the_drives_of_their_folders() {
    let Some(stack) = Stack::new() else { return };
    let folder = stack.folder().join("la yers");
    let layer = |name: &str| {
        let path = folder.join(name);
        fs::create_dir_all(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let options =
        format!("lowerdir={},upperdir={},workdir={}", layer("lower"), layer("upper"), layer("work"));
    let Some(merged) = Mounted::mount(&["-t", "overlay", "-o", &options, "overlay"]) else { return };
    let lock = Locks::system().take(&[merged.path()]).unwrap();
    assert!(lock.drives().contains(&stack.name()), "{:?}", lock.drives());
    says(&refusal(Locks::system().take(&[stack.folder()])), &["another run of likenew", &stack.name()]);
    drop(lock);
    let other = Other::at(stack.folder());
    let process = other.holds();
    says(&refusal(Locks::system().take(&[merged.path()])), &[&stack.name(), &process]);
    drop(other);
    // In a container, the folders have no name.
    fs::rename(&folder, stack.folder().join("elsewhere")).unwrap();
    fs::create_dir(merged.path().join("inside")).unwrap();
    let other = Other::at(merged.path());
    let process = other.holds();
    let text = refusal(Locks::system().take(&[&merged.path().join("inside")]));
    says(&text, &["of the file system", "(overlay)", &process]);
    drop(other);
    assert_eq!(Locks::system().take(&[merged.path()]).unwrap().drives().len(), 1);
}

#[test]
fn what_has_no_drive_needs_no_lock() {
    let lock = Locks::system().take(&[Path::new("/proc")]).unwrap();
    assert!(lock.drives().is_empty());
    let folder = disk_folder();
    says(&refusal(Locks::system().take(&[&folder.path().join("missing")])), &["does not exist"]);
}
