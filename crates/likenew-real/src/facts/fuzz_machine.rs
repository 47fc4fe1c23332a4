//! Entry points of this crate for fuzzers.

use std::fs;
use std::path::{Path, PathBuf};

use likenew_core::facts::{Fact, Facts};

use super::collector::Collector;
use super::machine_file::{Machine, files_below};
use super::roots::Roots;
use super::smartctl::Smartctl;
use super::{drive_database, kernel_log};
use crate::mounts::Mount;

/// Mounts whose facts are collected of one machine.
const MOUNTS_MAX: usize = 8;

/// A machine made from files, whose contents and answers can be replaced.
pub struct FuzzMachine {
    root: PathBuf,
    machine: Machine,
    /// With what is in them now.
    files: Vec<(PathBuf, Vec<u8>)>,
    queries: Vec<(String, String)>,
}

impl FuzzMachine {
    /// Puts the files of a machine under an empty folder.
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

    /// What its files hold, and what its drives answer.
    pub fn parts(&self) -> Vec<Vec<u8>> {
        let files = self.files.iter().map(|(_, bytes)| bytes.clone());
        files.chain(self.queries.iter().map(|question| self.machine.answers[question].clone())).collect()
    }

    /// Collects all facts of a machine whose files and answers are these instead; whether any drive was found.
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

/// Everything that is made of an answer of smartctl; whether it is one.
pub(crate) fn smartctl(answer: Fact<Vec<u8>>) -> bool {
    let answer = Smartctl::read(answer);
    let _ = (answer.health(), answer.counts());
    answer.reason().is_none()
}

/// Reads a database of drives, and looks a drive up in it.
pub(crate) fn drive_database(text: &str) -> bool {
    drive_database::finds(text, "M4-CT128M4SSD1", "0002")
}

/// Reads a kernel's log.
pub(crate) fn kernel_log(bytes: &[u8]) -> bool {
    kernel_log::records(bytes).iter().any(|record| kernel_log::kind(&record.text).is_some())
}
