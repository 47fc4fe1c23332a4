//! Every sentence of a check.

use std::fmt::Display;

use likenew_core::findings::{Action, Answer, OverviewTable, Standing};
use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Iops, Rate, Share, Size, count, range, with_range};
use likenew_core::shell::shell_quote;
use likenew_core::units::{Nanos, Number, digits};
use likenew_diagnosis::{FoundCause, Indicator, Measured, Metric, Origin, Reference, Symptom};
use likenew_measuring::commits::Commits;
use likenew_procedure_support::wording::{capitalize, list, lowercase_first};
use likenew_rated::{Class, LimitKind, Limits, Usual};
use likenew_stats::peers::AmongPeers;

// What it is for, and what it writes

pub(super) const QUESTION: &str = "Is it slow, why, and what fixes it?";
pub(super) const WRITES: &str = "writes at most 2 GiB (--bytes changes that, 0 writes nothing); in a folder only temporary files, always deleted";

/// A disk that a hypervisor or a cloud provides; memory used as a disk; any other drive.
pub(super) const THIS_VIRTUAL_DISK: &str = "this virtual disk";
pub(super) const THIS_MEMORY: &str = "this memory";
pub(super) const THIS_DRIVE: &str = "this drive";

/// A metric below its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shortfall {
    pub(super) metric: Metric,
    /// The measured value.
    pub(super) value: f64,
    /// Share of the reference.
    pub(super) share: Measured,
    pub(super) reference: Reference,
}

impl Shortfall {
    /// `19.8 MB/s, 26% of new (77.2 MB/s)`.
    fn compared(&self) -> String {
        format!(
            "{}, {} of {} ({})",
            self.metric.format_value(self.value),
            share_text(self.share),
            self.reference.origin.words(),
            self.metric.format_value(self.reference.value)
        )
    }
}

/// Half-width of a share's interval over the share, from which the value alone would mislead. Chosen: readers
/// compare values that differ by a quarter.
const WIDE: f64 = 0.25;

/// Whether the interval of a share is so wide that its value alone would mislead.
pub(super) fn is_wide(share: Measured) -> bool {
    share.high > share.value * (1.0 + WIDE) || share.low < share.value * (1.0 - WIDE)
}

/// `26%`; `about 30%` where more digits would claim too much.
fn share_text(share: Measured) -> String {
    if !is_wide(share) || share.value <= 0.0 {
        return Share(share.value).to_string();
    }
    let digit = 10_f64.powf(share.value.log10().floor());
    format!("about {}", Share((share.value / digit).round() * digit))
}

/// The name of the answer about a known fault.
pub(super) const FIRMWARE: &str = "firmware_fault";

/// The command that checks outputs of programs.
pub(super) const CHECK_OUTPUTS: &str = "likenew check --from FILES";

/// Sequential speeds, as far as they were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Speeds {
    pub(super) read: Option<f64>,
    pub(super) write: Option<f64>,
}

impl Speeds {
    fn words(self) -> String {
        match (self.read, self.write) {
            (Some(read), Some(write)) => format!("{} read, {} write", Rate(read), Rate(write)),
            (Some(read), None) => format!("{} read, writes not tested", Rate(read)),
            (None, Some(write)) => format!("{} write, reads not tested", Rate(write)),
            (None, None) => "no sequential speed was measured".into(),
        }
    }
}

// The headline: its summary and its answer

/// An answer that is the summary, too.
fn headline(answer: Answer) -> (String, Answer) {
    (format!("{}.", capitalize(&answer.answer)), answer)
}

pub(super) const SLOW: &str = "slow";
const HEALTHY: &str = "healthy";
const UNDECIDED: &str = "undecided";
const SPEED: &str = "Speed";
/// Share of a reference, as a ratio, from which a metric counts as fast as it. Chosen: checks repeat to a few percent.
pub(super) const AS_FAST: f64 = 0.95;

/// The question that a symptom answers; most symptoms are about speed.
fn question(symptom: Symptom) -> &'static str {
    match symptom {
        Symptom::WrongData => "Data integrity",
        Symptom::Errors => "Failed I/Os",
        Symptom::Stalls => "Stalls",
        Symptom::SlowAfterIdle => "Latency after idle",
        Symptom::FasterThanLink | Symptom::RepeatReadFaster => "Cache",
        Symptom::BackgroundIo => "Other I/O",
        _ => SPEED,
    }
}

pub(super) fn metric_is_slow(shortfall: &Shortfall) -> (String, Answer) {
    let kind = if shortfall.metric.op() == Op::Read { "Reads" } else { "Writes" };
    let (subject, compared) = (shortfall.metric.plural(), shortfall.compared());
    let answer = Answer::problem(SLOW, SPEED, format!("{subject} run at {compared}"));
    (format!("{kind} are slow: {subject} run at {compared}."), with_share(answer, shortfall.share))
}

pub(super) fn metric_is_slow_by_design(shortfall: &Shortfall) -> (String, Answer) {
    let (subject, compared) = (shortfall.metric.plural(), shortfall.compared());
    let answer = Answer::info(SLOW, SPEED, format!("by design, {subject} run at {compared}"));
    (format!("Slow by design: {subject} run at {compared}."), with_share(answer, shortfall.share))
}

fn with_share(answer: Answer, share: Measured) -> Answer {
    answer.estimate(share.value, share.low, share.high, "share")
}

// Symptoms that no metric shows, with their sizes

likenew_core::sentences! {
    /// Latency of reads after a pause over that of others.
    pub(super) fn slow_after_pause(ratio: f64) = "reads after a pause take {} as long as others", Factor(ratio);
    /// Speed of the first and of the second write to the same addresses, in bytes a second.
    pub(super) fn rewritten_faster(first: f64, again: f64) =
        "writes are slow: {} where a place is written first, {} when it is written again",
        Rate(first), Rate(again);
    /// The fastest reads over the speed of the link.
    pub(super) fn over_link(ratio: f64) =
        "some reads reach {} the link's limit, so a cache served them", Factor(ratio);
    pub(super) fn wrong_sectors(sectors: u64) = "{} did not read back as written", count(sectors, "sector");
}

/// Share of the time in stalls, and the longest of them.
pub(super) fn stalled(share: f64, longest: Option<Nanos>) -> String {
    let share = Share(share);
    match longest {
        Some(longest) => {
            format!("the drive stalls: it does not respond {share} of the time (longest stall {longest})")
        }
        None => format!("the drive stalls: it does not respond {share} of the time"),
    }
}

/// `words` name the symptom with its size, if that is known.
pub(super) fn symptom_is_a_problem(symptom: Symptom, words: Option<String>) -> (String, Answer) {
    let words = words.unwrap_or_else(|| symptom.words());
    headline(Answer::problem(SLOW, question(symptom), words))
}

pub(super) fn symptom_is_by_design(symptom: Symptom) -> (String, Answer) {
    let words = symptom.words();
    (format!("By design, {words}."), Answer::info(SLOW, question(symptom), format!("by design, {words}")))
}

/// `origin` is the reference of all metrics, if they share one; `least` is the one farthest below its reference, if any.
pub(super) fn healthy(origin: Option<Origin>, least: Option<&Shortfall>, tested: Speeds) -> (String, Answer) {
    if let Some(least) = least {
        let (speeds, metric) = (tested.words(), least.metric.plural());
        let (share, reference) = (Share(least.share.value), least.reference.origin.words());
        let text = format!("not slow: {speeds}; {metric} at {share} of {reference}");
        return headline(Answer::good(HEALTHY, SPEED, text));
    }
    let verdict = match origin {
        Some(Origin::Baseline) => "as fast as its baseline",
        Some(Origin::Simulated) => "as fast as new",
        Some(Origin::OtherDrive) => "as fast as another drive of its model",
        Some(Origin::Peers) => "as fast as others of its model",
        Some(Origin::Advertised) => "as fast as rated",
        _ => "as fast as it should be",
    };
    let text = match tested {
        Speeds { read: Some(read), write: None } => {
            format!("reads are {verdict}: {}; writes were not tested", Rate(read))
        }
        Speeds { read: None, write: Some(write) } => {
            format!("writes are {verdict}: {}; reads were not tested", Rate(write))
        }
        both => format!("{verdict}: {}", both.words()),
    };
    headline(Answer::good(HEALTHY, SPEED, text))
}

/// For a metric below its healthy share, where that proves nothing: the target is memory, or the share is too uncertain.
pub(super) fn perhaps_slow(least: &Shortfall, is_memory: bool, tested: Speeds) -> (String, Answer) {
    let (speeds, metric) = (tested.words(), least.metric.plural());
    let (share, reference) = (share_text(least.share), least.reference.origin.words());
    let doubt = if is_memory {
        "; this is memory, which says nothing of a drive"
    } else {
        ", too uncertain to call slow"
    };
    let text = format!("{speeds}; {metric} at {share} of {reference}{doubt}");
    headline(with_share(Answer::unknown(UNDECIDED, SPEED, text), least.share))
}

pub(super) const ONLY_BASELINE_IS_KNOWN: &str =
    "Whether the baseline was as fast as it should be is unknown; --advertised compares with rated speeds.";

pub(super) fn no_reference(subject: &str, speeds: Speeds) -> (String, Answer) {
    let speeds = speeds.words();
    (
        format!("{}. No reference for {subject}, so it can't be called slow or fast.", capitalize(&speeds)),
        Answer::unknown(UNDECIDED, SPEED, format!("{speeds}; no reference to compare with")),
    )
}

/// How fast something is among new drives of its class.
pub(super) struct PlaceInClass<'a> {
    pub(super) metric: Metric,
    pub(super) value: f64,
    pub(super) usual: &'a Usual,
}

/// Share of a class's models that are faster, from which the answer says so. Chosen: as for what is usual.
const FEW_SLOWER: f64 = 0.9;

impl PlaceInClass<'_> {
    /// `2.10–3.50 GB/s read`.
    fn words(&self) -> String {
        let name = if self.metric.op() == Op::Read { "read" } else { "write" };
        format!("{} {name}", self.usual)
    }
}

/// For a drive without any reference but its class; `places` is not empty.
pub(super) fn among_its_class(places: &[PlaceInClass<'_>], speeds: Speeds) -> (String, Answer) {
    let speeds = speeds.words();
    let usual = places.iter().map(PlaceInClass::words).collect::<Vec<_>>().join(", ");
    let class = places[0].usual.class;
    // The files of a folder may lie anywhere on a disk.
    let is_disk = matches!(class, Class::Disk { .. });
    let class = class.words() + if is_disk { " on its outer tracks" } else { "" };
    let slow = places.iter().find(|place| !is_disk && place.usual.share_faster(place.value) >= FEW_SLOWER);
    let place = match slow {
        Some(slow) => {
            let faster = Share(slow.usual.share_faster(slow.value));
            let models = slow.usual.values.len();
            let metric = slow.metric.plural();
            format!("; {metric} are slower than {faster} of {models} models")
        }
        None => String::new(),
    };
    let text = format!("{speeds}; usual for {class}: {usual}{place}");
    (
        format!("{}. Usual for {class}: {usual}{place}.", capitalize(&speeds)),
        Answer::unknown(UNDECIDED, SPEED, text),
    )
}

/// For a cloud volume as fast as the limits of these types. Which type was bought is not known.
pub(super) fn at_volume_limit(types: &[&str], speeds: Speeds) -> (String, Answer) {
    let text = format!("{}: as fast as {} of this size may be", speeds.words(), types.join(" or "));
    headline(Answer::unknown(UNDECIDED, SPEED, text))
}

/// For an image with holes; `holes` is their share.
pub(super) fn sparse(holes: f64, speeds: Speeds) -> (String, Answer) {
    let text =
        format!("{} of it is holes, which are read without the drive: {}", Share(holes), speeds.words());
    headline(Answer::unknown(HEALTHY, SPEED, text))
}

pub(super) fn only_model_is_known(speeds: Speeds) -> (String, Answer) {
    let speeds = speeds.words();
    let text = format!("{speeds}: at least 50% of a simulated new drive of this model; no closer reference");
    headline(Answer::unknown(UNDECIDED, SPEED, text))
}

/// For a real drive, whose checks are kept.
pub(super) fn run_again_later(command: &str) -> Action {
    Action::new("check_again", "Saved as the baseline: run the same check again later to see a change")
        .command(command)
}

/// For a real drive whose checks cannot be found by it, such as memory or an array. `command` ends before the run's name.
pub(super) fn name_this_run_later(command: &str) -> Action {
    Action::new("check_again", "Run the same check again later, and name this run, to see a change")
        .command(format!("{command} --baseline …"))
}

/// `command` ends before the speeds, which only the owner knows. `typical` is a sequential speed of such
/// drives, as a data sheet prints it.
pub(super) fn give_rated_speeds(model: Option<&str>, typical: &str, command: &str) -> Action {
    let sheet =
        model.map_or_else(|| "its data sheet".to_owned(), |model| format!("the data sheet of {model}"));
    Action::new("give_rated", format!("Compare with the rated speeds on {sheet}, such as {typical}"))
        .command(format!("{command} --advertised read=…,write=…"))
}

/// `compared` is whether every metric reached its reference.
pub(super) fn worth_a_look_headline(
    symptoms: &[Symptom],
    compared: bool,
    speeds: Speeds,
) -> (String, Answer) {
    let titles = titles(symptoms);
    if compared {
        return headline(Answer::unknown(UNDECIDED, SPEED, format!("not slow, but worth a look: {titles}")));
    }
    let speeds = speeds.words();
    (
        format!("{}; no reference to compare with. Worth a look: {titles}.", capitalize(&speeds)),
        Answer::unknown(UNDECIDED, SPEED, format!("{speeds}; no reference to compare with; {titles}")),
    )
}

/// A drive that sleeps in pauses, which costs nothing under load. The latencies are medians.
pub(super) fn power_saving(found_cause: &FoundCause, ratio: f64, after_pause: Nanos, busy: Nanos) -> Answer {
    let answer = format!(
        "a read after a pause takes {after_pause} instead of {busy} ({}); normal, and under load nothing sleeps",
        Factor(ratio)
    );
    Answer::info(cause_id(found_cause), "Power saving", answer)
}

likenew_core::sentences! {
    /// A cause that endangers the drive, after a speed problem.
    pub(super) fn slow_and_in_danger(danger: &FoundCause, summary: &str) =
        "{summary} Also: {}.", danger.statement;
    /// The same where nothing says how fast the drive should be.
    pub(super) fn in_danger(danger: &FoundCause, summary: &str) =
        "{}: {}. {summary}", capitalize(danger.cause.title), danger.statement;
    /// The same on a drive that is not slow.
    pub(super) fn fast_but_in_danger(danger: &FoundCause) =
        "{}: {}. No metric is slow.", capitalize(danger.cause.title), danger.statement;
    /// Before everything else: a speed can wait, a backup cannot.
    pub(super) fn with_failing_drives(failing: &Answer, summary: &str) =
        "Back up now: {}. {summary}", failing.answer;
    /// `days` are the ages of the youngest and the oldest.
    pub(super) fn old_data(pieces: usize, files: u64, days: [u64; 2], speed: f64) =
        "{} from {}, {} days old, read at {} of the speed of new data.",
        count(pieces as u64, "piece"), count(files, "file"), range(days[0], days[1]), Share(speed);
    pub(super) fn old_data_unknown(reason: &str) = "How old data is read is unknown: {reason}.";
    pub(super) fn writes_not_tested(reason: &str) = "Writes were not tested: {reason}.";
    /// After all the writes that a quick check may make.
    pub(super) fn sustained_writes_open(rate: Measured) =
        "Sustained writes are only known to run at {}; --thorough writes for longer.",
        range(Rate(rate.low), Rate(rate.high));
    pub(super) fn read_only() = "the target is open for reading only; give a folder on it to test writes";
    pub(super) fn too_small(area: u64, least: u64) =
        "{} is too little to test writes; they need {}", Size(area), Size(least);
    pub(super) fn virtual_disk(provider: &str) =
        "This is a virtual disk ({provider}); its medium is unknown.";
}

// Causes

pub(super) fn cause(found_cause: &FoundCause, standing: Standing, question: String) -> Answer {
    let text = format!("{} ({} likely)", found_cause.statement, Share(found_cause.chance));
    Answer::new(cause_id(found_cause), question, text, standing)
}

/// The question about the symptom of the headline, and about a second cause of it.
pub(super) const CAUSE: &str = "Cause";
pub(super) const ANOTHER_CAUSE: &str = "Another cause";

likenew_core::sentences! {
    pub(super) fn cause_of(symptom: Symptom) = "Cause of {}", symptom.title();
    pub(super) fn cause_id(found_cause: &FoundCause) = "{}{}", Answer::CAUSE_PREFIX, found_cause.cause.name;
    pub(super) fn also_explains(symptoms: &[Symptom]) = "It also explains: {}.", titles(symptoms);
    pub(super) fn evidence_against(sentence: &str) = "Evidence against: {sentence}";
    pub(super) fn not_possible_now(why: &str, reason: &str) = "{why} would help, but not now: {reason}.";
}

pub(super) const NEVER_FASTER: &str = "New drives do this, too.";

/// Names the command without its target, because prose may break a line in it.
pub(super) fn to_confirm(action: &Action, target: &str) -> String {
    let why = lowercase_first(&action.why);
    match &action.command {
        Some(command) => {
            let target = format!(" {}", shell_quote(target));
            // Only a whole word is the target: the target m is not in trim.
            let is_word =
                |at: &usize| command[at + target.len()..].chars().next().is_none_or(|next| next == ' ');
            let at = command.match_indices(&target).map(|(at, _)| at).find(is_word);
            let command = at.map_or_else(
                || command.clone(),
                |at| format!("{} TARGET{}", &command[..at], &command[at + target.len()..]),
            );
            format!("Not confirmed; to confirm it, {why} ({command}).")
        }
        None => format!("Not confirmed; to confirm it, {why}."),
    }
}

pub(super) fn latent(found_cause: &FoundCause) -> Answer {
    let id = cause_id(found_cause);
    // What was measured of a cause is an effect, even if no metric is slow.
    let shows = found_cause.evidence_for.iter().any(|item| item.is_measured);
    let statement = &found_cause.statement;
    match (found_cause.is_problem(), shows) {
        (true, true) => Answer::problem(id, OTHER_PROBLEM, statement),
        (true, false) => Answer::problem(id, OTHER_PROBLEM, format!("{statement}; no effect on speed yet")),
        (false, true) => Answer::info(id, ALSO_FOUND, format!("{statement}; no metric is slow")),
        (false, false) => Answer::info(id, ALSO_FOUND, format!("{statement}; no effect on speed now")),
    }
}

const OTHER_PROBLEM: &str = "Other problem";
const ALSO_FOUND: &str = "Also found";

/// A cause that would slow writes down, but did not within `written` bytes.
pub(super) fn latent_for_writes(found_cause: &FoundCause, written: u64) -> Answer {
    let written = Size(written);
    let answer = format!("{}; no effect on the first {written} of writes", found_cause.statement);
    Answer::info(cause_id(found_cause), ALSO_FOUND, answer).caveat(format!(
        "An SLC cache larger than {written} would hide the effect; likenew check --thorough writes past it."
    ))
}

pub(super) fn by_design(found_cause: &FoundCause) -> Answer {
    Answer::info(cause_id(found_cause), "By design", found_cause.statement.clone())
}

// Open symptoms

pub(super) const CAUSE_UNDECIDED: &str = "cause_undecided";
pub(super) const WORTH_A_LOOK: &str = "worth_a_look";

pub(super) fn also_slow(shortfall: &Shortfall) -> Answer {
    let answer = Answer::problem(
        Symptom::Below(shortfall.metric).name(),
        capitalize(shortfall.metric.words()),
        shortfall.compared(),
    );
    with_share(answer, shortfall.share)
}

/// `is_headline` is whether this is the metric of the headline.
pub(super) fn cause_of_shortfall(
    metric: Metric,
    rivals: &[(&'static str, f64)],
    is_headline: bool,
    knows_facts: bool,
) -> Answer {
    let (text, possible) = likely_cause(rivals, knows_facts);
    let answer = if is_headline {
        Answer::unknown(CAUSE_UNDECIDED, CAUSE, text)
    } else {
        let name = metric.words().replace(' ', "_").replace("4K_", "").to_lowercase();
        let question = format!("Cause of slow {}", metric.plural());
        Answer::unknown(format!("{CAUSE_UNDECIDED}_{name}"), question, text)
    };
    possible.into_iter().fold(answer, Answer::with_evidence)
}

pub(super) fn open_symptom(symptom: Symptom, rivals: &[(&'static str, f64)]) -> Answer {
    let (text, possible) = match likely_cause(rivals, true) {
        (text, possible) if text.starts_with("unknown") => (format!("cause {text}"), possible),
        (text, possible) => (text, possible),
    };
    let answer = Answer::unknown(symptom.name(), capitalize(symptom.title()), text);
    possible.into_iter().fold(answer, Answer::with_evidence)
}

pub(super) fn worth_a_look(symptoms: &[Symptom]) -> Answer {
    let titles = titles(symptoms);
    Answer::unknown(WORTH_A_LOOK, format!("{} things worth a look", symptoms.len()), titles)
}

/// Probability from which one of several causes is called the likely one: more likely than all others together.
const PROBABLE: f64 = 0.5;

/// Probability from which an uncertain cause is named, and the sum of all named ones from which any is.
/// Chosen: with less, a first screen would frighten people with what their drive does not have.
const NAMED: (f64, f64) = (0.25, 0.4);

/// Names likely causes, and adds a sentence for those that are only possible. `rivals` have probabilities,
/// the most likely first. Without facts of the drive, only measurements speak for a cause.
fn likely_cause(rivals: &[(&'static str, f64)], knows_facts: bool) -> (String, Option<String>) {
    let unknown =
        if knows_facts { "unknown" } else { "unknown, as the system reports nothing about the drive" };
    let phrase = |(title, chance): &(&'static str, f64)| format!("{title} ({})", Share(*chance));
    let phrases = |causes: &[(&'static str, f64)]| causes.iter().map(phrase).collect::<Vec<_>>();
    let (named, possible) = rivals.split_at(rivals.partition_point(|(_, chance)| *chance >= NAMED.0));
    let is_likely = named.iter().map(|(_, chance)| chance).sum::<f64>() >= NAMED.1;
    let possible = if is_likely { possible } else { rivals };
    let text = match (rivals, named) {
        ([], _) => format!("{unknown}; no known cause fits"),
        ([(title, chance), ..], _) if *chance >= PROBABLE => {
            return (format!("probably {title} ({})", Share(*chance)), None);
        }
        (_, [only]) if is_likely => format!("{unknown}; maybe {}", phrases(&[*only])[0]),
        _ if is_likely => format!("{unknown}; {}", phrases(named).join(" or ")),
        _ => format!("{unknown}; nothing measured points to one"),
    };
    (text, (!possible.is_empty()).then(|| format!("Possible: {}.", phrases(possible).join(", "))))
}

// References

/// Where references come from.
pub(in crate::check) mod source {
    use super::count;

    likenew_core::sentences! {
        pub(crate) fn baseline() = "its baseline";
        pub(crate) fn baseline_of(date: &str) = "its baseline, first checked on {date}";
        pub(crate) fn simulated() = "the same simulated drive when new, just as full";
        pub(crate) fn other_drive() = "another drive of its model";
        pub(crate) fn other_drive_of(date: &str) = "another drive of its model, checked on {date}";
        pub(crate) fn peers(drives: usize) =
            "{} of its model in this history", count(drives as u64, "other drive");
        pub(crate) fn given() = "rated speeds";
        pub(crate) fn rated(name: &str, source: &str) = "rated speeds of {name} ({source})";
        pub(crate) fn rated_size(name: &str, gb: f64, source: &str) =
            "rated speeds of {name}, {gb} GB ({source})";
        /// `classes` as printed on a card.
        pub(crate) fn speed_classes(classes: &str) =
            "the least that its speed classes promise, {classes}";
        pub(crate) fn class(class: &str) = "new drives of its class, {class}: rated speeds and reviews";
        pub(crate) fn catalog_entry(model: &str, entry: &str) =
            "a simulated new {model}, just as full (catalog entry {entry})";
        pub(crate) fn unnamed_model() = "a simulated new drive of its model, just as full";
        pub(crate) fn link() = "the limit of its link";
    }
}

pub(super) const COMPARED_WITH: &str = "compared_with";

pub(super) fn compared_with(sources: &[String]) -> Answer {
    Answer::info(COMPARED_WITH, "Compared with", sources.join("; "))
}

/// The head of a file that says what a drive did.
pub(super) const BASELINE_FILE_HEAD: &str = "\
# What one drive did in a check, for other drives of its model: likenew check TARGET --baseline FILE
# Metrics are in bytes a second; those of 4K I/O in IOPS.

";

pub(super) const PEERS: &str = "peers";

/// Where this drive's metrics stand among those of others of its model, the slowest first.
pub(super) fn peers(places: &[(Metric, AmongPeers)]) -> Option<Answer> {
    let ((metric, among), more) = places.split_first()?;
    let line = |metric: &Metric, among: &AmongPeers| format!("{}: {}", metric.plural(), among_peers(among));
    let answer = Answer::info(PEERS, "Among its model", line(metric, among));
    Some(more.iter().fold(answer, |answer, (metric, among)| {
        answer.with_evidence(format!("{}.", capitalize(&line(metric, among))))
    }))
}

/// `slower than 46 of 47 others, 0.61× (0.55–0.68) of their median`.
pub fn among_peers(among_peers: &AmongPeers) -> String {
    let ratio = match among_peers.interval {
        Some((low, high)) => with_range(Factor(among_peers.ratio), Factor(low), Factor(high)),
        None => Factor(among_peers.ratio).to_string(),
    };
    let peers = Number(among_peers.peers as f64);
    match among_peers.least {
        None => format!("{ratio} of their median; {peers} others are too few to judge by"),
        Some(_) => {
            format!(
                "slower than {} of {peers} others, {ratio} of their median",
                Number(among_peers.higher as f64)
            )
        }
    }
}

pub(super) const VOLUME_LIMITS: &str = "volume_limits";
/// The limits of each type that a volume of this size may be.
pub(super) fn volume_limits(volumes: &[Limits]) -> Answer {
    let known = volumes.iter().filter(|volume| volume.iops.is_some() || volume.bytes_per_s.is_some());
    let text = "a volume of this size is limited by its type, which the system does not report";
    let answer = Answer::info(VOLUME_LIMITS, "Limits of the volume", text);
    known.map(limits_of_type).fold(answer, Answer::with_evidence)
}

/// `Amazon EBS gp2: 300 IOPS (3,000 IOPS with credits), 134 MB/s`.
fn limits_of_type(volume: &Limits) -> String {
    fn with_burst<T: Display>(limit: f64, burst: Option<f64>, quantity: fn(f64) -> T) -> String {
        let limit = quantity(limit);
        burst.map_or_else(|| limit.to_string(), |burst| format!("{limit} ({} with credits)", quantity(burst)))
    }
    let ios = volume.iops.map(|iops| with_burst(iops, volume.burst_iops, Iops));
    let bytes = volume.bytes_per_s.map(|rate| with_burst(rate, volume.burst_bytes_per_s, Rate));
    let limits = ios.into_iter().chain(bytes).collect::<Vec<_>>().join(", ");
    match volume.kind {
        LimitKind::OfSize => format!("{}: {limits}", volume.name),
        LimitKind::Least => format!("{}: {limits} unless more was bought", volume.name),
        LimitKind::Most => format!("{}: what was bought, up to {limits}", volume.name),
    }
}

pub(super) const MEASURED_AT: &str = "measured_at";

/// A hard disk is about twice as fast at its first addresses as at its last ones.
pub(super) fn places_of_disk(is_written: bool) -> Answer {
    let text = if is_written {
        "first third of its addresses for reads, their end for writes"
    } else {
        "first third of its addresses"
    };
    Answer::info(MEASURED_AT, "Measured at", text)
}

likenew_core::sentences! {
    pub(super) fn checks_vary(factor: f64) =
        "Earlier checks differ by about {factor:.1}×, so smaller changes do not count.";
}

/// `headings` name the references, if there are any.
pub(super) fn table<'a>(headings: impl Iterator<Item = &'a str>) -> OverviewTable {
    OverviewTable::new(["", "now"].into_iter().chain(headings))
}

/// A value, with its range if the value alone would mislead.
pub(super) fn value_cell(metric: Metric, measured: Measured, is_wide: bool) -> String {
    let text_of = |value: f64| metric.format_value(value);
    if is_wide {
        with_range(text_of(measured.value), text_of(measured.low), text_of(measured.high))
    } else {
        text_of(measured.value)
    }
}

/// The row of durable writes of one program.
pub(super) fn durable_cells(commit: &Commits) -> [String; 2] {
    ["8K durable write".to_owned(), Iops(commit.rate.value).to_string()]
}

/// Durable writes of one program, and of several.
pub(super) fn durable_writes(commits: &[Commits]) -> Option<Answer> {
    let rate = |commit: &Commits| Number(commit.rate.value.round()).to_string();
    let (single, several) = (commits.first()?, commits.last()?);
    let writers = count(several.test.writers.into(), "program");
    let text = format!("{}/s by one program, {}/s by {writers}", rate(single), rate(several));
    let evidence = commits.iter().map(|commit| {
        let [p50, p99, p999, max] = commit.latency_cells();
        let writers = count(commit.test.writers.into(), "program");
        let block = Size(commit.test.block.into());
        format!("Flush after a write of {block}, {writers}: p50 {p50}, p99 {p99}, p99.9 {p999}, max {max}.")
    });
    let answer = Answer::info("durable_writes", "Durable writes", text);
    Some(evidence.fold(answer, Answer::with_evidence))
}

pub(super) const MIXED_REFERENCES: &str = "reference";

pub(super) fn reference_cell(metric: Metric, reference: &Reference, names_origin: bool) -> String {
    let value = metric.format_value(reference.value);
    if names_origin { format!("{value} ({})", reference.origin.heading()) } else { value }
}

// Tables

/// Which way a piece of evidence with a weight of `bits` speaks.
pub(super) fn speaks(bits: f64) -> &'static str {
    if bits < 0.0 { "against" } else { "for" }
}

pub(super) fn indicator(indicator: Indicator) -> &'static str {
    match indicator {
        Indicator::NewOverOldData => "new vs old data, sequential reads",
        Indicator::NewOverOldDataRandom => "new vs old data, 4K random reads",
        Indicator::MedianOverSlowest => "median vs slowest region",
        Indicator::RepeatOverFirst => "second vs first read of slow regions",
        Indicator::WideOverNarrow => "4K read latency, whole drive vs a few MiB",
        Indicator::IdleOverBusy => "4K read latency, after a pause vs under load",
        Indicator::AlignedOverShifted => "4K write latency, aligned vs shifted",
        Indicator::WriteCliff => "write speed, before vs after the cliff",
        Indicator::RestedOverLoaded => "read speed, after a rest vs under load",
        Indicator::BurstOverFlat => "4K read rate, first burst vs flat end",
        Indicator::ReadScatter => "variation of sequential reads (std. dev. / mean)",
        Indicator::StalledShare => "share of the time in stalls",
    }
}

// Share of the rated speed

/// Compares this drive's `reads`, in bytes per second, with what new drives of each class reach.
pub(super) fn rated_classes(reads: f64, classes: &[Usual]) -> Option<Answer> {
    let class = |usual: &Usual| {
        let (low, high) = usual.range();
        let times = |value: f64| digits(value / reads);
        format!("{}: {usual}, {}× this drive", usual.class.words(), range(times(low), times(high)))
    };
    let reads = Rate(reads);
    let text = format!("sequential reads are {reads} here, and faster on new drives of other classes");
    let answer = Answer::info("rated_classes", "Rated drives", text);
    let faster = classes.iter().filter(|class| class.median() > reads.0).map(class);
    let answer = faster.fold(answer, Answer::with_evidence);
    (!answer.evidence.is_empty()).then(|| answer.caveat(RATED_CLASSES))
}

const RATED_CLASSES: &str = "Four of five models of about this size; the slot has to carry it, and waiting for small I/Os may not change as much.";

/// The result of the check, then that of the upgrade.
pub(super) fn upgrade_summary(check: &str, upgrade: &Answer) -> String {
    format!("{check} {}.", answer_as_sentence(upgrade)).trim_start().to_owned()
}

likenew_core::sentences! {
    /// `Upgrade to X: 96% less waiting`.
    fn answer_as_sentence(answer: &Answer) = "{}: {}", answer.question, answer.answer;
    pub(super) fn use_costs_nothing(metric: Metric) =
        "{}: nothing lost since new.", capitalize(metric.words());
}

/// A metric beside its rated speed. `zeros` is the speed of writing zeros, if data matters.
pub(super) fn beside_rated(metric: Metric, now: f64, rated: f64, zeros: Option<f64>) -> String {
    let (name, share) = (metric.words(), Share(now / rated));
    let (now, rated) = (metric.format_value(now), metric.format_value(rated));
    match zeros.map(|zeros| metric.format_value(zeros)) {
        Some(zeros) => format!("{name} {share} ({now} of {rated}; compressible data {zeros})"),
        None => format!("{name} {share} ({now} of {rated})"),
    }
}

pub(super) fn rated_share(metrics: &[String]) -> Answer {
    Answer::info("rated_share", "Share of rated speed", metrics.join(", "))
}

/// `zeros` is the speed of zeros; `yours` how far the user's files compress, and their speed.
pub(super) fn lost_to_data(metric: Metric, lost: f64, zeros: f64, yours: Option<(f64, f64)>) -> String {
    let (lost, zeros) = (Share(lost), metric.format_value(zeros));
    let verb = if metric.op() == Op::Read { "reads" } else { "writes" };
    match yours {
        Some((compresses_to, speed)) => format!(
            "Incompressible data {verb} {lost} slower than zeros ({zeros}); your files compress to {} and reach about {}.",
            Share(compresses_to),
            metric.format_value(speed)
        ),
        None => {
            format!("Incompressible data (photos, archives) {verb} {lost} slower than zeros ({zeros}).")
        }
    }
}

/// The speed that was lost since `origin`, whose value is `new`.
pub(super) fn lost_to_use(metric: Metric, lost: f64, origin: Origin, new: f64) -> String {
    let (name, lost, new) = (capitalize(metric.words()), Share(lost), metric.format_value(new));
    format!("{name}: {lost} below {} ({new}).", origin.words())
}

/// `without` is the speed that the drive reaches on a faster link, if known.
pub(super) fn limited_by_link(metric: Metric, link: f64, without: Option<f64>) -> String {
    let (name, link) = (capitalize(metric.words()), metric.format_value(link));
    match without.map(|without| metric.format_value(without)) {
        Some(without) => format!("{name}: limited by the link to {link}; {without} without it."),
        None => format!("{name}: limited by the link to {link}."),
    }
}

/// `new_is_known` is whether the speed of a new drive is known.
pub(super) fn unexplained(metric: Metric, lost: f64, new_is_known: bool) -> String {
    let (name, lost) = (capitalize(metric.words()), Share(lost));
    if new_is_known {
        format!(
            "{name}: {lost} of the rated speed is unexplained; a new drive does not reach it here either."
        )
    } else {
        format!("{name}: {lost} of the rated speed is unexplained; its speed when new is unknown.")
    }
}

// Is a new drive worth it?

/// The work that waiting is compared on: published I/O of these applications.
pub(super) fn in_applications(names: &[String]) -> String {
    /// Most applications that a sentence names.
    const NAMED_MAX: usize = 2;
    match names.len() {
        ..=NAMED_MAX => format!("in {}", list(names)),
        others => format!("in {}", count(others as u64, "application")),
    }
}

likenew_core::sentences! {
    /// The work that waiting is compared on: a recorded day of this length.
    pub(super) fn in_recording(elapsed: Nanos) = "in the recorded {elapsed}";
    /// What a drive that is not worth its price falls short of: the share of the recorded time that has to be saved.
    pub(super) fn below_time_saved(share: f64) = "saves under {} of the recorded time", Share(share);
    /// The same for the share of the waiting that has to go.
    pub(super) fn below_waiting_saved(share: f64) = "below {}", Share(share);
    pub(super) fn fix_saves_as_much() = "a fix of this drive saves about as much";
}

/// Whether a drive is worth its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Yes,
    No,
    Undecided,
}

/// `now_ns` and `with_ns` are the waiting on this drive and on the other one; `bar` is what it falls short of.
pub(super) fn upgrade(
    drive: &str,
    worth: Worth,
    bar: &str,
    (now_ns, with_ns): (f64, f64),
    work: &str,
) -> Answer {
    let saved = 1.0 - with_ns / now_ns.max(1.0);
    let change = match saved {
        saved if saved >= 0.0 => format!("{} less waiting", Share(saved)),
        saved if saved > -1.0 => format!("{} more waiting", Share(-saved)),
        saved => format!("{} as much waiting", Factor(1.0 - saved)),
    };
    let (now, with) = (time(now_ns), time(with_ns));
    let change = format!("{change} {work} ({now} → {with})");
    let question = upgrade_to(drive);
    match worth {
        Worth::Yes => Answer::info(UPGRADE, question, change),
        Worth::No if saved >= 0.0 => {
            Answer::info(UPGRADE, question, format!("{change}; not worth it ({bar})"))
        }
        Worth::No => Answer::info(UPGRADE, question, format!("{change}; not worth it")),
        Worth::Undecided => Answer::unknown(UPGRADE, question, format!("{change}; too uncertain to call")),
    }
}

pub(super) const UPGRADE: &str = "upgrade";

likenew_core::sentences! {
    fn upgrade_to(drive: &str) = "Upgrade to {drive}";
    /// `now_ns` and `with_ns` are the time with writes in flight on this drive and on the other one.
    pub(super) fn writes_took(drive: &str, now_ns: f64, with_ns: f64) =
        "Its writes, for which programs rarely wait, took {} here and {} on {drive}.",
        time(now_ns), time(with_ns);
    /// How much longer the second-best drive waits.
    pub(super) fn less_than_next(next: &str, low_ns: f64, high_ns: f64) =
        "It waits {} less than {next}.", range(time(low_ns), time(high_ns));
    /// `busy_ns` is given if writes add to the waiting.
    pub(super) fn waited_now(work: &str, blocking_ns: f64, busy_ns: Option<f64>) =
        "This drive {work}: {}.", waiting(blocking_ns, busy_ns);
    pub(super) fn waited_with(drive: &str, blocking_ns: f64, busy_ns: Option<f64>) =
        "With {drive}: {}.", waiting(blocking_ns, busy_ns);
    pub(super) fn saved_share(low: f64, high: f64, worth: f64) =
        "That saves {} of the recorded time; from {} on an upgrade counts as worth it.",
        range(Share(low), Share(high)), Share(worth);
    pub(super) fn remaining_share(low: f64, high: f64, most: f64) =
        "{} of the waiting remains; at {} or less an upgrade counts as worth it.",
        range(Share(low), Share(high)), Share(most);
    pub(super) fn slowest_ios(p99: (u64, u64), max: (u64, u64)) =
        "The p99 latency goes from {} to {}, the max from {} to {}.",
        Nanos(p99.0), Nanos(p99.1), Nanos(max.0), Nanos(max.1);
}

pub(super) const NOTHING_WAITED_FOR: &str =
    "the recording has neither reads nor flushes, which programs wait for";

/// `reason` is a clause.
pub(super) fn upgrade_unknown(drive: &str, reason: &str) -> Answer {
    Answer::unknown(UPGRADE, upgrade_to(drive), format!("unknown, because {reason}"))
}

pub(super) const APPLICATIONS_UNFINISHED: &str = "the applications did not finish on this drive";

pub(super) const RECORDING_WITHOUT_LATENCIES: &str = "the trace has no latencies";

fn waiting(blocking_ns: f64, busy_ns: Option<f64>) -> String {
    let surely = time(blocking_ns);
    match busy_ns.map(time) {
        Some(busy) => format!("{surely} of waiting for reads and flushes, {busy} with all writes"),
        None => format!("{surely} of waiting for reads and flushes"),
    }
}

fn time(ns: f64) -> Nanos {
    Nanos(ns.max(0.0).round() as u64)
}

/// What a fix of this drive saves, and what the other drive saves beyond that.
pub(super) fn cheaper_fix(drive: &str, fix: &str, worth: Worth, saved_ns: f64, beyond_ns: f64) -> String {
    let (saved, beyond) = (time(saved_ns.abs()), time(beyond_ns.abs()));
    match (worth, beyond_ns >= 0.0) {
        (Worth::Yes | Worth::Undecided, true) => {
            format!("A fix ({fix}) saves up to {saved}; {drive} saves another {beyond}.")
        }
        (Worth::No, true) => {
            format!("Fix it first: {fix} saves up to {saved}; {drive} would save only {beyond} more.")
        }
        (_, false) => format!("Fix it first: {fix} saves up to {saved}, {beyond} more than {drive}."),
    }
}

pub(super) fn candidate_is_simulated(drive: &str, fill_percent: Option<f64>) -> String {
    let full = match fill_percent {
        Some(percent) => format!("{} full", Share(percent / 100.0)),
        None => "empty but for this data".to_owned(),
    };
    format!("{drive} is simulated as new and {full}; CPU time between I/Os is taken as it was.")
}

pub(super) const RECORDING_WITHOUT_ENDS: &str =
    "The recording has no ends of I/Os, so each program is taken to do one I/O after the other.";

pub(super) fn part_of_mix(time: Nanos, span: u64, reads_only: bool) -> String {
    let played = if reads_only { "Only reads were played" } else { "Only a part was played" };
    format!(
        "{played}, {time} at most within {}, where seeks are short; the rest is extrapolated.",
        Size(span)
    )
}

pub(super) fn addresses_scaled(drive: &str, fit_is_known: bool) -> String {
    if fit_is_known {
        format!("{drive} is smaller than the recorded drive, so addresses were scaled down to fit.")
    } else {
        format!("{drive} is smaller than the recorded drive, so addresses were scaled; its data may not fit.")
    }
}

/// `is_worth_it` is whether the best drive is; `difference` whether it is worth more than the next one.
pub(super) fn best_upgrade(drive: &str, next: &str, is_worth_it: Worth, difference: Worth) -> Answer {
    let (standing, answer) = match (is_worth_it, difference) {
        (Worth::No, _) => (Standing::Info, format!("none is worth it; {drive} waits least")),
        (_, Worth::Yes) => (Standing::Info, drive.to_owned()),
        (_, Worth::No) => (
            Standing::Info,
            format!("{drive} or {next}, which differ too little to matter; take the cheaper"),
        ),
        (_, Worth::Undecided) => {
            (Standing::Unknown, format!("maybe {drive}; too uncertain to prefer it to {next}"))
        }
    };
    Answer::new("best_upgrade", "Best upgrade", answer, standing)
}

// Settings that make no sense

pub(in crate::check) mod error {
    use super::{Nanos, Size, digits};

    likenew_core::sentences! {
        pub(crate) fn above_zero(setting: &str, value: f64) = "{setting} = {value} must be above 0";
        pub(crate) fn not_negative(setting: &str, value: f64) = "{setting} = {value} must be 0 or more";
        pub(crate) fn baseline_of_no_check(procedure: &str) =
            "this is no finished check (of {procedure}); a baseline is what a whole check measured";
        pub(crate) fn baseline_of_slow_drive(summary: &str) =
            "this check found a problem, and a baseline is of a healthy drive: {summary}";
        pub(crate) fn baseline_of_unknown_model() =
            "the drive's model is not known to this run, so its figures are no baseline for another drive";
        pub(crate) fn baseline_file(line: usize, reason: &str) =
            "line {line}: {reason}; it should be as `likenew export --baseline` writes it";
        pub(crate) fn no_model_to_compare() =
            "this drive does not tell its own model, so it cannot be compared with another one";
        pub(crate) fn other_model(model: &str, bytes: Size, yours: &str, your_bytes: Size) =
            "it is of a {model} ({bytes}), and this drive is a {yours} ({your_bytes})";
        pub(crate) fn no_candidate() =
            "upgrade.drive names no drive with role = \"candidate\"; name at least one";
        pub(crate) fn recording_or_mix() = "upgrade needs either a recording or a mix, not both";
        pub(crate) fn mix_needs_space(available: Size, least: Size) =
            "{available} is too little to play applications in; they need at least {least}";
        pub(crate) fn mix_only_writes() =
            "these applications only write, and this target is open for reading only";
        pub(crate) fn mix_scale(scale: f64) =
            "upgrade.mix.scale = {} must be above 0 and at most 1,000", digits(scale);
        pub(crate) fn mix_span(bytes: u64) = "upgrade.mix.span = {bytes} must be a multiple of 8 MiB";
        pub(crate) fn mix_time(time: Nanos) = "upgrade.mix.time = {time} must be between 1 ms and 24 h";
        pub(crate) fn rated_without_unit(text: &str) =
            "\"{text}\" has no unit; write {text}MB/s, or GB/s";
        pub(crate) fn rated_twice(text: &str) = "\"{text}\" comes second; give one speed of a kind";
        pub(crate) fn rated_metric(text: &str) =
            "\"{text}\" is not a rated speed; write read=550MB/s, write=520MB/s, sustained_write=450MB/s, \
             random_read=10000, random_write=40000 or random_read_qd32=95000 (the last three in IOPS)";
    }

    pub(crate) fn rated_in_two_ways(text: &str, digits: &str) -> String {
        let (thousands, decimal) =
            (digits.replace('.', ""), digits.trim_end_matches('0').trim_end_matches('.'));
        format!("\"{text}\" can be read in two ways; write {thousands} or {decimal}")
    }

    pub(crate) fn rated_in_bits(text: &str, bytes_per_s: f64) -> String {
        let megabytes = bytes_per_s / 1e6;
        format!(
            "\"{text}\" can be read in two ways; write {megabytes}MB/s for bytes or {}MB/s for bits",
            megabytes / 8.0
        )
    }

    pub(crate) fn rated_beyond_all_drives(text: &str, is_bytes: bool) -> String {
        if is_bytes {
            format!(
                "\"{text}\" is more than any drive reads or writes, 100 GB/s; write it as in read=7450MB/s"
            )
        } else {
            format!(
                "\"{text}\" is more than any drive does, 100 million IOPS; write it as in random_read=95000"
            )
        }
    }
}

// Pictures

pub(super) const READS_TITLE: &str = "Sequential read speed over the drive's addresses";
pub(super) const FIRST_READ: &str = "first read";
pub(super) const SECOND_READ: &str = "second read";
pub(super) const WRITES_TITLE: &str = "Sequential write speed over bytes written";
pub(super) const UPGRADE_TITLE: &str = "Waiting for the same work on each drive";
pub(super) const WITHOUT_WRITES: &str = "reads and flushes";
pub(super) const WITH_WRITES: &str = "with all writes";

pub(super) fn as_new(drive: &str) -> String {
    format!("{drive} when new")
}

/// The titles of symptoms, with commas.
fn titles(symptoms: &[Symptom]) -> String {
    symptoms.iter().map(|symptom| symptom.title()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fallen() -> Shortfall {
        let reference = Reference::new(Metric::SustainedWrite, Origin::Simulated, 77.2e6);
        let share = Measured::with_interval(0.2565, 0.1);
        Shortfall { metric: Metric::SustainedWrite, value: 19.8e6, share, reference }
    }

    #[test]
    fn a_target_is_left_out_of_a_command_as_a_word() {
        let shown = |command: &str, target: &str| {
            let action = Action::new("look", "Look").command(command);
            let text = to_confirm(&action, target);
            text.split_once('(').unwrap().1.split_once(')').unwrap().0.to_owned()
        };
        assert_eq!(shown("likenew trim m", "m"), "likenew trim TARGET");
        assert_eq!(shown("likenew check e --time 1s", "e"), "likenew check TARGET --time 1s");
        assert_eq!(shown("likenew trim 'my disk'", "my disk"), "likenew trim TARGET");
        assert_eq!(shown("smartctl -a /dev/sda", "m"), "smartctl -a /dev/sda");
    }

    #[test]
    fn headlines_read_as_written() {
        assert_eq!(
            metric_is_slow(&fallen()).0,
            "Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s)."
        );
        let share = Measured::new(0.0107, 0.00544, 0.0209);
        assert_eq!(
            metric_is_slow(&Shortfall { share, ..fallen() }).0,
            "Writes are slow: sustained writes run at 19.8 MB/s, about 1% of new (77.2 MB/s)."
        );
        let speeds = Speeds { read: Some(987e6), write: Some(387e6) };
        assert_eq!(
            no_reference(THIS_VIRTUAL_DISK, speeds).0,
            "987 MB/s read, 387 MB/s write. No reference for this virtual disk, so it can't be called slow or fast."
        );
        assert_eq!(
            healthy(Some(Origin::Simulated), None, speeds).0,
            "As fast as new: 987 MB/s read, 387 MB/s write."
        );
        let almost = Measured::with_interval(0.86, 0.01);
        let least = Shortfall { share: almost, ..fallen() };
        assert_eq!(
            healthy(Some(Origin::Simulated), Some(&least), speeds).0,
            "Not slow: 987 MB/s read, 387 MB/s write; sustained writes at 86% of new."
        );
        let symptoms = [Symptom::WriteCliff, Symptom::Stalls];
        assert_eq!(
            worth_a_look_headline(&symptoms, true, speeds).0,
            "Not slow, but worth a look: write cliff, stalls."
        );
        assert_eq!(
            worth_a_look_headline(&symptoms, false, speeds).0,
            "987 MB/s read, 387 MB/s write; no reference to compare with. Worth a look: write cliff, stalls."
        );
        let stalled = stalled(0.12, Some(Nanos::from_millis(699)));
        let (summary, answer) = symptom_is_a_problem(Symptom::Stalls, Some(stalled));
        assert_eq!(
            (&*summary, &*answer.question),
            ("The drive stalls: it does not respond 12% of the time (longest stall 699 ms).", "Stalls")
        );
        let (summary, answer) = symptom_is_a_problem(Symptom::WrongData, Some(wrong_sectors(280)));
        assert_eq!(
            (&*summary, &*answer.question),
            ("280 sectors did not read back as written.", "Data integrity")
        );
    }

    #[test]
    fn answers_read_as_written() {
        let answer = |answer: Answer| format!("{}: {}", answer.question, answer.answer);
        assert_eq!(answer(also_slow(&fallen())), "Sustained write: 19.8 MB/s, 26% of new (77.2 MB/s)");
        let rivals = [("power saving", 0.41), ("thermal throttling", 0.12)];
        assert_eq!(
            answer(open_symptom(Symptom::Stalls, &rivals)),
            "Stalls: cause unknown; maybe power saving (41%)"
        );
        assert_eq!(
            answer(cause_of_shortfall(Metric::RandomReadQd32, &rivals, true, false)),
            "Cause: unknown, as the system reports nothing about the drive; maybe power saving (41%)"
        );
        assert_eq!(open_symptom(Symptom::Stalls, &rivals).evidence, ["Possible: thermal throttling (12%)."]);
        let rivals = [("power saving", 0.33), ("thermal throttling", 0.12)];
        assert_eq!(
            open_symptom(Symptom::Stalls, &rivals).evidence,
            ["Possible: power saving (33%), thermal throttling (12%)."]
        );
        let rivals = [("power saving", 0.41), ("thermal throttling", 0.29), ("slow link", 0.1)];
        assert_eq!(
            answer(open_symptom(Symptom::Stalls, &rivals)),
            "Stalls: cause unknown; power saving (41%) or thermal throttling (29%)"
        );
        let rivals = [("failing surface", 0.83), ("thermal throttling", 0.12)];
        assert_eq!(
            answer(open_symptom(Symptom::Errors, &rivals)),
            "Failed I/Os: probably failing surface (83%)"
        );
        let day = in_recording(Nanos::from_secs(8 * 3600));
        let bar = below_time_saved(0.01);
        assert_eq!(
            answer(upgrade("fast", Worth::Yes, &bar, (2400e9, 60e9), &day)),
            "Upgrade to fast: 98% less waiting in the recorded 8 h (40 min → 60.0 s)"
        );
        let names = ["Microsoft Word".to_owned(), "Adobe Illustrator".to_owned()];
        let work = in_applications(&names);
        assert_eq!(
            answer(upgrade("near", Worth::No, &below_waiting_saved(0.5), (100e9, 89e9), &work)),
            "Upgrade to near: 11% less waiting in Microsoft Word and Adobe Illustrator (100 s → 89.0 s); not worth it (below 50%)"
        );
        assert_eq!(
            answer(upgrade("slow", Worth::No, &bar, (100e9, 109e9), &work)),
            "Upgrade to slow: 9% more waiting in Microsoft Word and Adobe Illustrator (100 s → 109 s); not worth it"
        );
        assert_eq!(
            old_data(24, 20, [30, 300], 0.52),
            "24 pieces from 20 files, 30–300 days old, read at 52% of the speed of new data."
        );
    }
}

/// Names of the workloads of a check.
pub(super) mod workload_names {
    pub(in crate::check) const QUIET: &str = "idle before start";
    pub(in crate::check) const PLACE: &str = "region";
    pub(in crate::check) const PLACE_REPEAT: &str = "region again";
    pub(in crate::check) const OLD: &str = "old file";
    pub(in crate::check) const SMALL_READS: &str = "random reads";
    pub(in crate::check) const NEAR_READS: &str = "random reads, narrow span";
    pub(in crate::check) const DEEP_READS: &str = "random reads QD32";
    pub(in crate::check) const PAUSED_READS: &str = "random reads with pauses";
    pub(in crate::check) const LOAD: &str = "sustained reads";
    pub(in crate::check) const COOL: &str = "idle after reads";
    pub(in crate::check) const LOAD_AFTER_IDLE: &str = "sequential reads after idle";
    pub(in crate::check) const WRITES: &str = "sequential writes";
    pub(in crate::check) const CONTINUED_WRITES: &str = "sequential writes, continued";
    pub(in crate::check) const IDLE_BEFORE_READS: &str = "idle before reading new data";
    pub(in crate::check) const FRESH: &str = "reads of new data";
    pub(in crate::check) const FRESH_SMALL: &str = "random reads of new data";
    pub(in crate::check) const UNWRITTEN_READS: &str = "reads of old data";
    pub(in crate::check) const SMALL_WRITES: &str = "random writes";
    pub(in crate::check) const SHIFTED_WRITES: &str = "random writes shifted by";
    pub(in crate::check) const ALIGNED_REPEAT: &str = "0 again";
    pub(in crate::check) const IDLE_AFTER_WRITES: &str = "idle after writes";
    pub(in crate::check) const RESTED_WRITES: &str = "writes after idle";
    pub(in crate::check) const NEW_PLACES: &str = "writes of new places after idle";
    pub(in crate::check) const AFTER_TRIM: &str = "idle after TRIM";
    pub(in crate::check) const TRIMMED_WRITES: &str = "writes after TRIM";
    pub(in crate::check) const ZEROS: &str = "zeros";
    pub(in crate::check) const AFTER_ZEROS: &str = "writes after zeros";
    pub(in crate::check) const SLOW_WRITES: &str = "writes at half the rate";
}
