//! Machines written down by hand from the public formats, for tests and fuzzers: one file
//! `tests/machines/NAME.txt` for each.
//!
//! Such a file has lines of these forms; blocks are indented by two spaces:
//!
//! - `let NAME = PATH` names a folder, which `$NAME` stands for from there on;
//! - `PATH = TEXT` or `PATH =` and a block: a file; `PATH -> TARGET`: a link; `slave PATH`: a link to the
//!   block device of that name;
//! - `PATH : BYTES` and a block of `OFFSET: HEX`: a file of so many bytes, zeros but for those;
//! - `ask DEVICE QUESTION BYTES` and such a block: an answer; `ask DEVICE QUESTION =` and a block: an answer in text;
//! - `told DEVICE TYPE`: the type that smartctl is run with; `ask DEVICE smartctl:TYPE =` then has its answer;
//! - `space PATH TOTAL FREE AVAILABLE`: a file system's bytes; `root` or `nobody`: the user who asks;
//!   `now SECONDS`: the date.
//!
//! Every folder with files `dev` and `size` gets its links in /sys/class/block and /sys/dev/block.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use likenew_core::facts::{Fact, Facts};

use super::Collector;
use super::machine::{MachineQuery, Question, Refusal, Roots};
use crate::block::BlockDevice;
use crate::drive_commands::{AtaCommand, NvmeCommand};
use crate::mounts::Mount;
use crate::space::SpaceUsage;
use crate::wording::facts as wording;

/// A machine from a file.
#[derive(Default)]
pub(super) struct Machine {
    pub(super) answers: HashMap<(String, String), Vec<u8>>,
    spaces: HashMap<String, SpaceUsage>,
    device_types: HashMap<String, String>,
    is_root: bool,
    now_s: i64,
}

impl Machine {
    /// Writes the files of a machine into a folder.
    pub(super) fn unpack(text: &str, root: &Path) -> Self {
        let mut machine = Self { is_root: true, ..Self::default() };
        let mut names: Vec<(String, String)> = Vec::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let mut line = line.trim_end().to_owned();
            for (name, path) in names.iter().rev() {
                line = line.replace(name.as_str(), path);
            }
            let mut block = || {
                let mut block = Vec::new();
                while let Some(inner) = lines.next_if(|line| line.starts_with("  ")) {
                    block.push(inner[2..].to_owned());
                }
                block
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                [word, ..] if word.starts_with('#') => {}
                ["let", name, "=", path] => names.push((format!("${name}"), path.to_owned())),
                ["root"] => machine.is_root = true,
                ["nobody"] => machine.is_root = false,
                ["now", seconds] => machine.now_s = seconds.parse().unwrap(),
                ["space", path, total, free, available] => {
                    let [total_bytes, free_bytes, available_bytes] =
                        [total, free, available].map(|bytes| bytes.parse().unwrap());
                    machine
                        .spaces
                        .insert(path.into(), SpaceUsage { total_bytes, free_bytes, available_bytes });
                }
                ["ask", device, question, "="] => {
                    let text = block().join("\n") + "\n";
                    machine.answers.insert((device.into(), question.into()), text.into_bytes());
                }
                ["ask", device, question, bytes] => {
                    let answer = sparse(bytes.parse().unwrap(), &block());
                    machine.answers.insert((device.into(), question.into()), answer);
                }
                ["told", device, device_type] => {
                    machine.device_types.insert(device.into(), device_type.into());
                }
                ["slave", path] => {
                    let name = path.rsplit('/').next().unwrap();
                    let target = root.join("sys/class/block").join(name);
                    link(&root.join(path.trim_start_matches('/')), &target);
                }
                [path, "->", target] => link(&root.join(path.trim_start_matches('/')), Path::new(target)),
                [path, ":", bytes] => write(root, path, &sparse(bytes.parse().unwrap(), &block())),
                [path, "="] => write(root, path, (block().join("\n") + "\n").as_bytes()),
                [path, "=", ..] => {
                    let text = line.split_once(" = ").unwrap().1;
                    write(root, path, format!("{text}\n").as_bytes());
                }
                _ => panic!("no form of line: {line}"),
            }
        }
        link_devices(root, &root.join("sys/devices"));
        machine
    }
}

fn sparse(bytes: usize, block: &[String]) -> Vec<u8> {
    let mut content = vec![0; bytes];
    for line in block {
        let (offset, data) = line.split_once(':').expect("OFFSET: HEX");
        let offset: usize = offset.trim().parse().unwrap();
        let data: Vec<u8> = match data.trim().strip_prefix('"') {
            Some(text) => text.trim_end_matches('"').bytes().collect(),
            None => data.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
        };
        content[offset..offset + data.len()].copy_from_slice(&data);
    }
    content
}

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let file = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn link(path: &Path, target: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Two disks at one controller both name its driver.
    if fs::read_link(path).is_ok_and(|there| there == target) {
        return;
    }
    symlink(target, path).unwrap();
}

fn link_devices(root: &Path, folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if let (Ok(number), true) = (fs::read_to_string(path.join("dev")), path.join("size").exists()) {
            link(&root.join("sys/class/block").join(path.file_name().unwrap()), &path);
            link(&root.join("sys/dev/block").join(number.trim()), &path);
        }
        link_devices(root, &path);
    }
}

impl MachineQuery for Machine {
    fn query(&self, device: &str, question: Question<'_>) -> Result<Vec<u8>, Refusal> {
        let word = match question {
            Question::Nvme(NvmeCommand::Controller) => "controller".to_owned(),
            Question::Nvme(NvmeCommand::Namespace) => "namespace".to_owned(),
            Question::Nvme(NvmeCommand::Namespaces) => "namespaces".to_owned(),
            Question::Nvme(NvmeCommand::Log(page, _)) => format!("log-{page:02x}"),
            Question::Nvme(NvmeCommand::Feature(feature)) => format!("feature-{feature:02x}"),
            Question::AtaIdentify => "identify".to_owned(),
            Question::Ata(AtaCommand::SmartData) => "smart".to_owned(),
            Question::Ata(AtaCommand::SmartThresholds) => "thresholds".to_owned(),
            Question::Ata(AtaCommand::Log(log, page)) => format!("log-{log:02x}-{page:02x}"),
            Question::Smartctl(None) => "smartctl".to_owned(),
            Question::Smartctl(Some(device_type)) => format!("smartctl:{device_type}"),
            Question::SmartctlScan => "scan".to_owned(),
            Question::MapperTable => "table".to_owned(),
            Question::KernelLog => "log".to_owned(),
        };
        let device = if device.is_empty() { "kernel" } else { device };
        match self.answers.get(&(device.to_owned(), word)) {
            Some(answer) => Ok(answer.clone()),
            None if self.is_root => Err(Refusal::Other(wording::NO_ANSWER.to_owned())),
            None => Err(Refusal::Rights),
        }
    }

    fn smartctl_device(&self, device: &BlockDevice) -> Fact<String> {
        let device_type = self.device_types.get(&device.name());
        device_type.map_or(Fact::NotQueried, |device_type| {
            Fact::new(device_type.clone(), "remembered since 2026-11-29")
        })
    }

    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal> {
        self.spaces.get(path).copied().ok_or_else(|| Refusal::Other(wording::NO_ANSWER.to_owned()))
    }

    fn is_root(&self) -> bool {
        self.is_root
    }

    fn now_s(&self) -> i64 {
        self.now_s
    }

    fn pause_s(&self) -> f64 {
        0.2
    }
}

/// Regular files below a folder; no link is followed.
pub(super) fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

// Entry points of this crate for fuzzers.

/// Most mounts of a machine whose facts are collected.
const MOUNTS_MAX: usize = 8;

/// A machine made from files, whose contents and answers can be replaced.
pub struct FuzzMachine {
    root: PathBuf,
    machine: Machine,
    /// The files, with their current contents.
    files: Vec<(PathBuf, Vec<u8>)>,
    queries: Vec<(String, String)>,
}

impl FuzzMachine {
    /// Writes the files of a machine into an empty folder.
    pub fn unpack(text: &str, root: &Path) -> Self {
        let machine = Machine::unpack(text, root);
        let mut files = Vec::new();
        files_below(root, &mut files);
        files.sort();
        let mut queries: Vec<_> = machine.answers.keys().cloned().collect();
        queries.sort();
        let files = files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap_or_default()));
        Self { root: root.to_owned(), files: files.collect(), machine, queries }
    }

    /// The contents of the machine's files, then the answers of its drives.
    pub fn parts(&self) -> Vec<Vec<u8>> {
        let files = self.files.iter().map(|(_, bytes)| bytes.clone());
        files.chain(self.queries.iter().map(|question| self.machine.answers[question].clone())).collect()
    }

    /// Collects all facts with these contents and answers instead. Returns whether any drive was found.
    ///
    /// # Panics
    /// A fact is neither known nor unknown for a reason, or does not read back.
    pub fn collect(&mut self, parts: &[Vec<u8>]) -> bool {
        let (contents, answers) = parts.split_at(self.files.len().min(parts.len()));
        for ((path, held), bytes) in self.files.iter_mut().zip(contents) {
            if held != bytes && fs::write(&*path, bytes).is_ok() {
                held.clone_from(bytes);
            }
        }
        for (question, bytes) in self.queries.iter().zip(answers) {
            self.machine.answers.insert(question.clone(), bytes.clone());
        }
        let roots = Roots::at(&self.root);
        let collector = Collector { roots: &roots, queries: &self.machine };
        let names = roots.names("/sys/class/block");
        let devices: Vec<_> = names.iter().filter_map(|name| roots.device(name)).collect();
        let facts = collector.of_devices(&devices);
        let mounts = roots.text("/proc/self/mountinfo");
        let mounts = mounts.value().map(String::as_str).unwrap_or_default();
        for mount in mounts.lines().filter_map(Mount::parse).take(MOUNTS_MAX) {
            whole(&collector.of_mount(&mount));
        }
        whole(&facts);
        !facts.drives.is_empty()
    }
}

fn whole(facts: &Facts) {
    let rows = facts.rows();
    for row in &rows {
        assert!(row.unknown.is_some() == row.value.is_null(), "{row:?}");
    }
    let text = serde_json::to_string(facts).expect("facts are plain values");
    let again: Facts = serde_json::from_str(&text).expect("facts read back");
    assert_eq!(again.rows().len(), rows.len(), "facts read back whole");
}
