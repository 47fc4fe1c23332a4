//! Which jobs are one workload: copies of a job, and the streams of a workload that we exported.

use super::ImportError;
use super::node::Node;
use super::options::Options;
use super::wording::expected;
use crate::job_name::{Part, decode};

/// The jobs of one workload.
pub(super) struct Group<'a> {
    /// Its name.
    pub(super) name: String,
    /// The streams that ran side by side.
    pub(super) streams: Vec<Jobs<'a>>,
    /// Jobs of one number run side by side, those of the next after them.
    pub(super) turn: (String, u64),
    part: Option<Part>,
}

/// All copies of one job.
pub(super) struct Jobs<'a> {
    /// One for each copy, or one for all where fio has joined them.
    pub(super) copies: Vec<Node<'a>>,
    /// The options of these jobs.
    pub(super) options: Options,
}

impl Group<'_> {
    /// Whether it is a rest that we exported.
    pub(super) fn is_rest(&self) -> bool {
        self.part.is_some_and(|part| part.stream == 0)
    }
}

/// The jobs of a document by workload, in the order of the document.
pub(super) fn groups<'a>(root: &Node<'a>) -> Result<Vec<Group<'a>>, ImportError> {
    let jobs = match (root.get("jobs"), root.get("client_stats")) {
        (Some(jobs), _) => jobs,
        (None, Some(clients)) => clients,
        (None, None) => root.need("jobs", expected::JOBS)?,
    };
    let mut groups: Vec<Group<'a>> = Vec::new();
    for job in jobs.list()? {
        let name = job.need("jobname", expected::JOB_NAME)?.text()?;
        let host = job.get("hostname").map(|host| host.text().map(str::to_owned)).transpose()?;
        // The sum of all clients, which are listed themselves.
        if host.is_some() && name == "All clients" {
            continue;
        }
        let options = Options::from_job(root, &job)?;
        let turn = (host.clone().unwrap_or_default(), job.need("groupid", expected::GROUP_NUMBER)?.count()?);
        let part = options.text("description").and_then(Part::read);
        let name = part.map_or_else(|| name.to_owned(), |_| decode(name));
        let name = host.map_or(name.clone(), |host| format!("{name} on {host}"));
        add(&mut groups, name, turn, part, Jobs { copies: vec![job], options });
    }
    if groups.is_empty() {
        return Err(jobs.unexpected_error(expected::ONE_JOB));
    }
    tell_apart(&mut groups);
    Ok(groups)
}

fn add<'a>(
    groups: &mut Vec<Group<'a>>,
    name: String,
    turn: (String, u64),
    part: Option<Part>,
    jobs: Jobs<'a>,
) {
    if let Some(last) = groups.last_mut().filter(|last| last.name == name && last.turn == turn) {
        let stream = last.streams.last_mut().expect("a group has a job");
        if stream.options.repeats(&jobs.options, stream.copies.len()) {
            stream.copies.extend(jobs.copies);
            return;
        }
        let same_workload = |a: Part, b: Part| a.workload == b.workload;
        if last.part.zip(part).is_some_and(|(a, b)| same_workload(a, b)) {
            last.streams.push(jobs);
            return;
        }
    }
    groups.push(Group { name, streams: vec![jobs], turn, part });
}

/// Gives each group a unique workload name, as rows of a table are identified by it.
fn tell_apart(groups: &mut [Group<'_>]) {
    for index in 1..groups.len() {
        let (before, group) = groups.split_at_mut(index);
        let (base, mut number) = (group[0].name.clone(), 1);
        while !group[0].is_rest() && before.iter().any(|other| other.name == group[0].name) {
            number += 1;
            group[0].name = format!("{base} ({number})");
        }
    }
}
