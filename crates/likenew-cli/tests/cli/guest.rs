//! A virtual machine with drives of every kind and a real kernel: QEMU emulates its processor, and Debian's
//! kernel drives its controllers. It starts once for all tests of a session, with a minimal system, and takes a
//! minute or two.

pub(crate) mod hardware;
mod initramfs;
mod kernel;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

use hardware::hardware;
use initramfs::Initramfs;
use kernel::Kernel;

use crate::support::{once_per_session, program};

/// Host programs copied into the guest: nothing is installed in it.
const PROGRAMS: [&str; 3] = ["/usr/sbin/mkfs.ext4", "/usr/sbin/dmsetup", "/usr/sbin/smartctl"];
const BUSYBOX: &str = "/usr/bin/busybox";
const UNITS: [&str; 2] = ["/lib/systemd/system/fstrim.timer", "/lib/systemd/system/fstrim.service"];
/// Tools that the host needs.
const TOOLS: [&str; 7] = [
    "/usr/bin/qemu-system-x86_64",
    "/usr/sbin/modprobe",
    "/usr/sbin/sfdisk",
    "/usr/bin/strip",
    "/usr/bin/ldd",
    "/usr/bin/tar",
    "/usr/bin/timeout",
];
/// What is kept of a guest that has switched itself off: an archive of what its init has stored, and its console.
const SAID: &str = "said.tar";
const CONSOLE: &str = "console";
/// Time limit of the guest: a minute or two on an idle machine, several times that on a busy one.
const SECONDS_MAX: u32 = 540;

static GUEST: LazyLock<Result<Guest, String>> = LazyLock::new(Guest::run);

/// The output of a guest until it switched itself off.
pub(crate) struct Guest {
    /// By name, as its init has stored them.
    files: HashMap<String, Vec<u8>>,
}

/// The guest's output; `None` if it cannot be started, with a message.
pub(crate) fn guest() -> Option<&'static Guest> {
    match &*GUEST {
        Ok(guest) => Some(guest),
        Err(reason) => {
            eprintln!("SKIPPED: {reason}");
            None
        }
    }
}

impl Guest {
    /// Starts it if no other test has, and waits until it has switched itself off.
    ///
    /// # Errors
    /// What is missing on this machine.
    fn run() -> Result<Self, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("the guest is made for x86-64 alone".to_owned());
        }
        let needed = TOOLS.iter().chain(&PROGRAMS).chain(&UNITS).chain([&BUSYBOX]);
        if let Some(missing) = needed.into_iter().find(|path| !Path::new(path).exists()) {
            return Err(format!("{missing} is not installed: `make test-all` installs it"));
        }
        let kernel = Kernel::find()?;
        let made = once_per_session("guest", |made| {
            let folder = tempfile::tempdir().unwrap();
            let initramfs = folder.path().join("initramfs");
            std::fs::write(&initramfs, system(&kernel, folder.path())).unwrap();
            let console = boot(&kernel, &initramfs, &made.join(SAID), folder.path());
            std::fs::write(made.join(CONSOLE), console).unwrap();
        });
        let console = std::fs::read(made.join(CONSOLE)).unwrap();
        Ok(Self::unpacked(&made.join(SAID), &String::from_utf8_lossy(&console)))
    }

    fn unpacked(archive: &Path, console: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let into = ["-C", folder.path().to_str().unwrap(), "-xf", archive.to_str().unwrap()];
        let status = Command::new("tar").args(into).status().unwrap();
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let files: HashMap<_, _> = entries
            .map(|entry| {
                (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap_or_default())
            })
            .collect();
        assert!(
            status.success() && files.contains_key("dmesg"),
            "the guest did not get to its end:\n{console}"
        );
        let guest = Self { files };
        if let Some(trouble) = guest.files.get("trouble") {
            panic!("{}\n{}", String::from_utf8_lossy(trouble), guest.text("dmesg"));
        }
        guest
    }

    /// The file of this name.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        let bytes = self.files.get(name).unwrap_or_else(|| panic!("nothing was kept as {name}"));
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The document of a command that ended with this code.
    #[track_caller]
    pub(crate) fn document(&self, name: &str, code: i32) -> Value {
        let (text, errors) = (self.text(name), self.text(&format!("{name}.errors")));
        assert_eq!(self.text(&format!("{name}.status")).trim(), code.to_string(), "{errors}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
    }

    /// Whether no JSON of likenew contains these words.
    pub(crate) fn files_hold_no(&self, words: &str) -> bool {
        let is_json = |bytes: &[u8]| bytes.starts_with(b"{");
        self.files
            .values()
            .filter(|bytes| is_json(bytes))
            .all(|bytes| !String::from_utf8_lossy(bytes).contains(words))
    }

    /// The kernel's name of the disk that the init named so.
    #[track_caller]
    pub(crate) fn disk(&self, name: &str) -> String {
        let text = self.text("disks");
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no {name} in\n{text}")).to_owned()
    }
}

/// The guest's initial file system.
fn system(kernel: &Kernel, folder: &Path) -> Vec<u8> {
    let mut system = Initramfs::default();
    system.file("/init", 0o755, include_bytes!("guest/init.sh"));
    system.program("/bin/busybox", Path::new(BUSYBOX));
    let users = "root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n";
    system.file("/etc/passwd", 0o644, users.as_bytes());
    system.file("/etc/machine-id", 0o444, b"0123456789abcdef0123456789abcdef\n");
    for module in &kernel.modules {
        let name = module.file_name().unwrap().to_str().unwrap();
        system.file(&format!("/modules/{name}"), 0o644, &std::fs::read(module).unwrap());
    }
    system.file("/modules/order", 0o644, kernel.order().as_bytes());
    for unit in UNITS {
        system.file(unit, 0o644, &std::fs::read(unit).unwrap());
    }
    for program in PROGRAMS {
        system.program(program, Path::new(program));
    }
    // Most of the binary is debug information.
    let stripped = folder.join("likenew");
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(program()).status();
    assert!(status.unwrap().success(), "strip {}", program().display());
    system.program("/bin/likenew", &stripped);
    // This very program, for steps without a command.
    let steps = folder.join("steps");
    let test_program = std::env::current_exe().unwrap();
    let status =
        Command::new("strip").args(["-o", steps.to_str().unwrap(), test_program.to_str().unwrap()]).status();
    assert!(status.unwrap().success(), "strip {}", test_program.display());
    system.program("/bin/steps", &steps);
    system.finish()
}

/// The guest's console output.
fn boot(kernel: &Kernel, initramfs: &Path, archive: &Path, folder: &Path) -> String {
    let mut qemu = Command::new("timeout");
    // A separate timeout ends it even if this process is gone.
    qemu.args(["--foreground", "--signal=KILL", &SECONDS_MAX.to_string(), "qemu-system-x86_64"]);
    // No hardware virtualization: it needs permissions, and hangs if the host is a guest itself.
    qemu.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "512", "-machine", "q35"]);
    qemu.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"]);
    qemu.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(initramfs);
    qemu.args(["-append", "console=ttyS0 quiet panic=-1"]);
    qemu.args(["-chardev", &format!("file,id=said,path={}", archive.display())]);
    qemu.args(["-device", "virtio-serial-pci", "-device", "virtserialport,chardev=said"]);
    qemu.args(hardware(folder)).stdin(Stdio::null());
    let output = qemu.output().unwrap();
    let [console, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "QEMU ended with {}: {errors}\n{console}", output.status);
    console
}

/// An empty disk image, which takes no space.
fn image(folder: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = folder.join(format!("{name}.img"));
    std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    path
}
