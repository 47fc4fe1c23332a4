//! Every sentence of a check.

pub(super) mod workload_names;

use likenew_core::answer::{Action, Answer, Standing};
use likenew_core::io::Op;
use likenew_core::overview::OverviewTable;
use likenew_core::quantity::{Factor, Number, Rate, Share, Size, digits, range};
use likenew_core::units::Nanos;
use likenew_diagnosis::{FoundCause, Measured, Metric, Origin, Reference, Symptom};
use likenew_procedure_support::wording::{capitalize, lowercase_first};

// What it is for, and what it writes

pub(super) const QUESTION: &str = "Is it slow, why, and what fixes it?";
pub(super) const WRITES: &str = "writes at most 2 GiB (--bytes changes that, 0 writes nothing); in a folder only temporary files, always deleted";

/// The name of a drive without a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A disk that a hypervisor or a cloud provides.
    VirtualDisk,
    /// Any other drive.
    Drive,
}

impl Subject {
    fn words(self) -> &'static str {
        match self {
            Self::VirtualDisk => "this virtual disk",
            Self::Drive => "this drive",
        }
    }
}

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
            Share(self.share.value),
            self.reference.origin.words(),
            self.metric.format_value(self.reference.value)
        )
    }
}

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

const SLOW: &str = "slow";
const HEALTHY: &str = "healthy";
const UNDECIDED: &str = "undecided";
const SPEED: &str = "Speed";

pub(super) fn metric_is_slow(of: &Shortfall) -> (String, Answer) {
    let kind = if of.metric.op() == Op::Read { "Reads" } else { "Writes" };
    let (subject, compared) = (of.metric.plural(), of.compared());
    let answer = Answer::problem(SLOW, SPEED, format!("{subject} run at {compared}"));
    (format!("{kind} are slow: {subject} run at {compared}."), with_share(answer, of.share))
}

pub(super) fn metric_is_slow_by_design(of: &Shortfall) -> (String, Answer) {
    let (subject, compared) = (of.metric.plural(), of.compared());
    let answer = Answer::info(SLOW, SPEED, format!("by design, {subject} run at {compared}"));
    (format!("Slow by design: {subject} run at {compared}."), with_share(answer, of.share))
}

fn with_share(answer: Answer, share: Measured) -> Answer {
    answer.estimate(share.value, share.low, share.high, "share")
}

/// Size of a symptom that no metric shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Magnitude {
    /// Latency of reads after a pause over that of others.
    AfterPause(f64),
    /// Share of the time in stalls.
    Stalled(f64),
    /// The fastest reads over the speed of the link.
    OverLink(f64),
    /// Sectors that read back wrong.
    WrongSectors(u64),
}

impl Magnitude {
    fn words(self) -> String {
        match self {
            Self::AfterPause(ratio) => {
                format!("reads after a pause take {} as long as others", Factor(ratio))
            }
            Self::Stalled(share) => {
                format!("the drive stalls: it answers nothing for {} of the time", Share(share))
            }
            Self::OverLink(ratio) => {
                format!("some reads reach {} the link's limit, so a cache served them", Factor(ratio))
            }
            Self::WrongSectors(sectors) => {
                format!("{} sectors did not read back as they were written", Number(sectors as f64))
            }
        }
    }
}

pub(super) fn symptom_is_a_problem(symptom: Symptom, magnitude: Option<Magnitude>) -> (String, Answer) {
    let words = magnitude.map_or_else(|| symptom.words(), Magnitude::words);
    (format!("{}.", capitalize(&words)), Answer::problem(SLOW, SPEED, words))
}

pub(super) fn symptom_is_by_design(symptom: Symptom) -> (String, Answer) {
    let words = symptom.words();
    (format!("By design, {words}."), Answer::info(SLOW, SPEED, format!("by design, {words}")))
}

/// `origin` is the reference of all metrics, if they have the same one.
pub(super) fn healthy(origin: Option<Origin>, tested: Speeds) -> (String, Answer) {
    let verdict = match origin {
        Some(Origin::Baseline) => "as fast as its baseline",
        Some(Origin::Simulated) => "as fast as new",
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
    (format!("{}.", capitalize(&text)), Answer::good(HEALTHY, SPEED, text))
}

pub(super) fn only_baseline_is_known() -> &'static str {
    "Whether the baseline was as fast as it should be is unknown. Rated speeds would tell: \
     --advertised read=550MB/s,write=520MB/s."
}

pub(super) fn no_reference(subject: Subject, speeds: Speeds) -> (String, Answer) {
    let (subject, speeds) = (subject.words(), speeds.words());
    (
        format!("{}. No reference for {subject}, so it can't be called slow or fast.", capitalize(&speeds)),
        Answer::unknown(UNDECIDED, SPEED, format!("{speeds}; no reference to compare with")),
    )
}

pub(super) fn only_model_is_known(speeds: Speeds) -> (String, Answer) {
    let speeds = speeds.words();
    (
        format!(
            "{}. That is at least half of a simulated new drive of its model; no closer reference is known.",
            capitalize(&speeds)
        ),
        Answer::unknown(
            UNDECIDED,
            SPEED,
            format!("{speeds}; at least half of a simulated new drive of its model"),
        ),
    )
}

pub(super) fn run_again_later(command: &str) -> Action {
    Action::new("check_again", "Run it again later: a saved run is the baseline of the next ones")
        .command(command)
}

pub(super) fn give_rated_speeds() -> Action {
    Action::new("give_rated", "Or give its rated speeds: --advertised read=550MB/s,write=520MB/s")
}

/// `compared` is whether every metric reached its reference.
pub(super) fn worth_a_look_headline(
    symptoms: &[Symptom],
    compared: bool,
    speeds: Speeds,
) -> (String, Answer) {
    let things = match symptoms.len() {
        1 => "one thing is".to_owned(),
        count => format!("{count} things are"),
    };
    let titles = titles(symptoms);
    let speeds = speeds.words();
    let summary = if compared {
        format!("No metric is slow, but {things} worth a look: {titles}.")
    } else {
        format!(
            "{}. No reference, so neither slow nor fast; {things} worth a look: {titles}.",
            capitalize(&speeds)
        )
    };
    (summary, Answer::unknown(UNDECIDED, SPEED, format!("{speeds}; {titles}")))
}

/// A cause that endangers the drive: said after a speed problem, or first if there is none.
pub(super) fn with_danger(found: &FoundCause, summary: &str, is_slow: bool) -> String {
    let statement = &found.statement;
    if is_slow {
        format!("{summary} Also: {statement}.")
    } else {
        format!("{}: {statement}. {summary}", capitalize(found.descriptor.title))
    }
}

pub(super) fn old_data(pieces: usize, files: u64, days: (u64, u64), speed: f64) -> String {
    format!(
        "{} pieces of {} files that are {} days old are read {} as fast as new data.",
        Number(pieces as f64),
        Number(files as f64),
        range(days.0, days.1),
        Factor(speed)
    )
}

pub(super) fn old_data_unknown(reason: &str) -> String {
    format!("How old data is read is unknown: {reason}.")
}

pub(super) fn writes_not_tested(reason: &str) -> String {
    format!("Writes were not tested: {reason}.")
}

pub(super) fn read_only() -> String {
    "the target is open for reading only; give a folder on it to test writes".into()
}

pub(super) fn too_small(area: u64, least: u64) -> String {
    format!("{} is too little to test writes; they need {}", Size(area), Size(least))
}

pub(super) fn virtual_disk(provider: &str) -> String {
    format!("This is a virtual disk ({provider}): nothing can be said of the medium behind it.")
}

// Causes

/// `is_only` is whether no other cause was found, so that none competes with it.
pub(super) fn cause(found: &FoundCause, standing: Standing, is_only: bool) -> Answer {
    let text = format!("{} ({} likely)", found.statement, Share(found.chance));
    let question = match found.explains.first().filter(|_| !is_only) {
        Some(symptom) => format!("Cause of {}", symptom.title()),
        None => "Cause".to_owned(),
    };
    Answer::new(cause_id(found), question, text, standing)
}

pub(super) fn cause_id(found: &FoundCause) -> String {
    format!("{}{}", Answer::CAUSE_PREFIX, found.descriptor.name)
}

pub(super) fn never_faster() -> &'static str {
    "It was so on its first day: nothing is broken."
}

pub(super) fn also_explains(symptoms: &[Symptom]) -> String {
    format!("It also explains: {}.", titles(symptoms))
}

pub(super) fn evidence_against(sentence: &str) -> String {
    format!("Evidence against: {sentence}")
}

pub(super) fn not_possible_now(why: &str, reason: &str) -> String {
    format!("Would help, but is not possible now: {why} ({reason}).")
}

pub(super) fn to_confirm(action: &Action) -> String {
    match &action.command {
        Some(command) => format!("Not confirmed; to confirm it, run {command}"),
        None => format!("Not confirmed; to confirm it, {}.", lowercase_first(&action.why)),
    }
}

pub(super) fn latent(found: &FoundCause) -> Answer {
    let id = cause_id(found);
    if found.is_problem() {
        Answer::problem(id, "Other problem", format!("{}; no effect on speed yet", found.statement))
    } else {
        Answer::info(id, "Also found", format!("{}; no effect on speed now", found.statement))
    }
}

/// A cause that would slow writes down, of which so many bytes showed nothing.
pub(super) fn latent_for_writes(found: &FoundCause, written: u64) -> Answer {
    let written = Size(written);
    let answer = format!("{}; no effect on the first {written} of writes", found.statement);
    Answer::info(cause_id(found), "Also found", answer).caveat(format!(
        "An SLC cache larger than {written} would hide the effect; likenew check --thorough writes past it."
    ))
}

pub(super) fn by_design(found: &FoundCause) -> Answer {
    Answer::info(cause_id(found), "By design", found.statement.clone())
}

// Open symptoms

pub(super) const CAUSE_UNDECIDED: &str = "cause_undecided";
pub(super) const WORTH_A_LOOK: &str = "worth_a_look";

pub(super) fn also_slow(of: &Shortfall) -> Answer {
    let answer =
        Answer::problem(Symptom::Below(of.metric).name(), capitalize(of.metric.words()), of.compared());
    with_share(answer, of.share)
}

/// `is_headline` is whether this is the metric of the headline.
pub(super) fn cause_of_shortfall(
    metric: Metric,
    rivals: &[(&'static str, f64)],
    is_headline: bool,
) -> Answer {
    let text = match list_rivals(rivals) {
        Some(rivals) => format!("unknown; candidates: {rivals}"),
        None => "unknown; no known cause fits".into(),
    };
    let question =
        if is_headline { "Cause".to_owned() } else { format!("Cause of slow {}", metric.plural()) };
    let id = if is_headline {
        CAUSE_UNDECIDED.to_owned()
    } else {
        format!("{CAUSE_UNDECIDED}_{}", metric.words().replace(' ', "_").replace("4K_", "").to_lowercase())
    };
    Answer::unknown(id, question, text)
}

pub(super) fn open_symptom(symptom: Symptom, rivals: &[(&'static str, f64)]) -> Answer {
    let text = match list_rivals(rivals) {
        Some(rivals) => format!("cause unknown; candidates: {rivals}"),
        None => "no known cause fits".into(),
    };
    Answer::unknown(symptom.name(), capitalize(symptom.title()), text)
}

pub(super) fn worth_a_look(symptoms: &[Symptom]) -> Answer {
    let titles = titles(symptoms);
    Answer::unknown(WORTH_A_LOOK, format!("{} things worth a look", symptoms.len()), titles)
}

fn list_rivals(rivals: &[(&'static str, f64)]) -> Option<String> {
    let each: Vec<String> =
        rivals.iter().map(|(title, chance)| format!("{title} ({})", Share(*chance))).collect();
    (!each.is_empty()).then(|| each.join(", "))
}

// References

/// The source of references of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    Baseline { date: Option<&'a str> },
    Simulated,
    Given,
    Catalog { model: &'a str, entry: &'a str, by: &'a str },
    SimulatedModel { model: &'a str, entry: &'a str },
    UnnamedModel,
    Link,
}

impl Source<'_> {
    fn words(self) -> String {
        match self {
            Self::Baseline { date: Some(date) } => format!("its baseline, first checked on {date}"),
            Self::Baseline { date: None } => "its baseline".into(),
            Self::Simulated => "the same simulated drive when new".into(),
            Self::Given => "rated speeds".into(),
            Self::Catalog { model, entry, by } => {
                format!("rated speeds of {model} (catalog entry {entry}, from {by})")
            }
            Self::SimulatedModel { model, entry } => {
                format!("a simulated new {model} (catalog entry {entry})")
            }
            Self::UnnamedModel => "a simulated new drive of its model".into(),
            Self::Link => "the limit of its link".into(),
        }
    }
}

pub(super) const COMPARED_WITH: &str = "compared_with";

pub(super) fn compared_with(sources: &[Source<'_>]) -> Answer {
    let words: Vec<String> = sources.iter().map(|source| source.words()).collect();
    Answer::info(COMPARED_WITH, "Compared with", words.join("; "))
}

pub(super) fn checks_vary(factor: f64) -> String {
    format!(
        "From check to check its results vary by a factor of about {factor:.1}, so smaller differences are no drop."
    )
}

/// `heading` names the references, if there are any.
pub(super) fn table(heading: Option<&str>) -> OverviewTable {
    OverviewTable::new(["", "now"].into_iter().chain(heading))
}

pub(super) const MIXED_REFERENCES: &str = "reference";

pub(super) fn reference_cell(metric: Metric, reference: &Reference, names_origin: bool) -> String {
    let value = metric.format_value(reference.value);
    if names_origin { format!("{value} ({})", reference.origin.heading()) } else { value }
}

// Share of the rated speed

/// A metric beside its rated speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rated {
    pub(super) metric: Metric,
    pub(super) now: f64,
    pub(super) advertised: f64,
}

/// The result of the check, then that of the upgrade.
pub(super) fn upgrade_summary(check: &str, upgrade: &str) -> String {
    format!("{check} Upgrade: {upgrade}.")
}

pub(super) fn rated_share(of: &[Rated]) -> Answer {
    let each = of.iter().map(|Rated { metric, now, advertised }| {
        format!(
            "{} {} ({} of {})",
            metric.words(),
            Share(now / advertised),
            metric.format_value(*now),
            metric.format_value(*advertised)
        )
    });
    Answer::info("rated_share", "Share of rated speed", each.collect::<Vec<_>>().join(", "))
}

/// `zeros` is the speed of zeros; `yours` how far the user's files compress, and their speed.
pub(super) fn lost_to_data(metric: Metric, lost: f64, zeros: f64, yours: Option<(f64, f64)>) -> String {
    let (name, zeros) = (capitalize(metric.words()), metric.format_value(zeros));
    match yours {
        Some((compresses_to, speed)) => format!(
            "{name}: random data costs {}, as zeros get {zeros}; your files compress to {} and get about {}.",
            Share(lost),
            Share(compresses_to),
            metric.format_value(speed)
        ),
        None => format!(
            "{name}: random data, like pictures and archives, costs {}, as zeros get {zeros}.",
            Share(lost)
        ),
    }
}

pub(super) fn lost_to_use(metric: Metric, lost: f64, origin: Origin, new: f64) -> String {
    let since = if origin == Origin::Baseline { "its baseline" } else { "new" };
    format!(
        "{}: {} lost since {since} ({}).",
        capitalize(metric.words()),
        Share(lost),
        metric.format_value(new)
    )
}

pub(super) fn use_costs_nothing(metric: Metric) -> String {
    format!("{}: nothing lost since new.", capitalize(metric.words()))
}

pub(super) fn lost_to_link(metric: Metric, lost: f64, link: f64) -> String {
    format!(
        "{}: the link costs {}, as it carries {} at most.",
        capitalize(metric.words()),
        Share(lost),
        metric.format_value(link)
    )
}

/// `new_is_known` is whether the speed of a new drive is known.
pub(super) fn unexplained(metric: Metric, lost: f64, new_is_known: bool) -> String {
    let (name, lost) = (capitalize(metric.words()), Share(lost));
    if new_is_known {
        format!("{name}: {lost} is unexplained; a new one does not reach its rated speed here either.")
    } else {
        format!("{name}: {lost} is unexplained; use may be part of it, as its speed when new is unknown.")
    }
}

// Is a new drive worth it?

/// The work that waiting is compared on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work<'a> {
    /// A recorded day of this length.
    Recording(Nanos),
    /// Published I/O of these applications.
    Applications(&'a str),
    /// The same work, without a name.
    Same,
}

impl Work<'_> {
    fn words(self) -> String {
        match self {
            Self::Recording(elapsed) => format!("in the recorded {elapsed}"),
            Self::Applications(names) => format!("in the published I/O of {names}"),
            Self::Same => "in the same work".into(),
        }
    }
}

/// Whether a drive is worth its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    Yes,
    No,
    Undecided,
}

pub(super) fn upgrade(drive: &str, worth: Worth, saved_ns: f64, work: Work<'_>) -> Answer {
    let (span, work) = (Nanos(saved_ns.abs().round() as u64), work.words());
    let change =
        if saved_ns >= 0.0 { format!("saves {span} of waiting") } else { format!("adds {span} of waiting") };
    match worth {
        Worth::Yes => Answer::info(UPGRADE, "Upgrade", format!("{drive} pays off: it {change} {work}")),
        Worth::No => {
            Answer::info(UPGRADE, "Upgrade", format!("{drive} does not pay off: it {change} {work}"))
        }
        Worth::Undecided => {
            Answer::unknown(UPGRADE, "Upgrade", format!("{drive} {change} {work}; too uncertain to call"))
        }
    }
}

pub(super) const UPGRADE: &str = "upgrade";

pub(super) fn upgrade_unknown(drive: &str) -> Answer {
    Answer::unknown(
        UPGRADE,
        "Upgrade",
        format!("can't tell whether {drive} pays off: how long programs waited for this drive is unknown"),
    )
}

pub(super) fn applications_unfinished() -> &'static str {
    "The applications did not finish on this drive."
}

pub(super) fn recording_without_latencies() -> &'static str {
    "The recording does not say how long its I/Os took."
}

/// `busy_ns` is given if writes add to the waiting.
pub(super) fn waited_now(work: Work<'_>, blocking_ns: f64, busy_ns: Option<f64>) -> String {
    format!("This drive {}: {}.", work.words(), waiting(blocking_ns, busy_ns))
}

pub(super) fn waited_with(drive: &str, blocking_ns: f64, busy_ns: Option<f64>) -> String {
    format!("With {drive}: {}.", waiting(blocking_ns, busy_ns))
}

fn waiting(blocking_ns: f64, busy_ns: Option<f64>) -> String {
    let surely = Nanos(blocking_ns.round() as u64);
    match busy_ns {
        Some(busy) => {
            format!(
                "{surely} of waiting for reads and flushes, {} with all writes",
                Nanos(busy.round() as u64)
            )
        }
        None => format!("{surely} of waiting for reads and flushes"),
    }
}

pub(super) fn saved_share(low: f64, high: f64, worth: f64) -> String {
    format!(
        "That saves {} of the recorded time; from {} on it pays off.",
        range(Share(low), Share(high)),
        Share(worth)
    )
}

pub(super) fn remaining_share(low: f64, high: f64, most: f64) -> String {
    format!(
        "{} of the waiting remains. A drive counts as paying off at {} or less, because the share of this work in a day is unknown.",
        range(Share(low), Share(high)),
        Share(most)
    )
}

pub(super) fn slowest_ios(p99: (u64, u64), max: (u64, u64)) -> String {
    format!(
        "The p99 latency goes from {} to {}, the max from {} to {}.",
        Nanos(p99.0),
        Nanos(p99.1),
        Nanos(max.0),
        Nanos(max.1)
    )
}

pub(super) fn cheaper_fix(drive: &str, fix: &str, saved_ns: f64, beyond_ns: f64) -> String {
    let more = if beyond_ns >= 0.0 { "more" } else { "less" };
    format!(
        "A fix is cheaper and saves up to {} ({fix}); {drive} saves {} {more} than that, which decides.",
        Nanos(saved_ns.abs().round() as u64),
        Nanos(beyond_ns.abs().round() as u64)
    )
}

pub(super) fn candidate_is_simulated(drive: &str, fill_percent: Option<f64>) -> String {
    let full = match fill_percent {
        Some(percent) => format!("{} full", Share(percent / 100.0)),
        None => "empty but for this data".to_owned(),
    };
    format!("{drive} is simulated as new and {full}; CPU time between I/Os is taken as it was.")
}

pub(super) fn recording_without_ends() -> &'static str {
    "The recording has no ends of I/Os, so each program is taken to do one I/O after the other."
}

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

pub(super) fn best_upgrade(drive: &str, next: &str, worth: Worth, low_ns: f64, high_ns: f64) -> Answer {
    let saved = range(Nanos(low_ns.max(0.0).round() as u64), Nanos(high_ns.max(0.0).round() as u64));
    match worth {
        Worth::Yes => {
            Answer::info("best_upgrade", "Best upgrade", format!("{drive}, saves {saved} more than {next}"))
        }
        Worth::No => Answer::info(
            "best_upgrade",
            "Best upgrade",
            format!("the cheaper of {drive} and {next}; they differ by {saved}"),
        ),
        Worth::Undecided => Answer::unknown(
            "best_upgrade",
            "Best upgrade",
            format!("{drive} may save {saved} more than {next}; too uncertain to call"),
        ),
    }
}

// Settings that make no sense

pub(in crate::check) mod error {
    use super::{Nanos, Size, digits};

    pub(crate) fn above_zero(setting: &str, value: f64) -> String {
        format!("{setting} = {value} must be above 0")
    }

    pub(crate) fn not_negative(setting: &str, value: f64) -> String {
        format!("{setting} = {value} must be 0 or more")
    }

    pub(crate) fn no_candidate() -> String {
        "upgrade.drive names no drive with role = \"candidate\"; name at least one".into()
    }

    pub(crate) fn recording_or_mix() -> String {
        "upgrade needs either a recording or a mix, not both".into()
    }

    pub(crate) fn mix_needs_space(available: u64, least: u64) -> String {
        format!(
            "{} is too little to play applications in; they need at least {}",
            Size(available),
            Size(least)
        )
    }

    pub(crate) fn mix_only_writes() -> String {
        "these applications only write, and this target is open for reading only".into()
    }

    pub(crate) fn mix_scale(scale: f64) -> String {
        format!("upgrade.mix.scale = {} must be above 0 and at most 1,000", digits(scale))
    }

    pub(crate) fn mix_span(bytes: u64) -> String {
        format!("upgrade.mix.span = {bytes} must be a multiple of 8 MiB")
    }

    pub(crate) fn mix_time(time: Nanos) -> String {
        format!("upgrade.mix.time = {time} must be between 1 ms and 24 h")
    }

    pub(crate) fn rated_metric(text: &str) -> String {
        format!(
            "\"{text}\" is not a rated speed; write read=550MB/s, write=520MB/s, sustained_write=450MB/s, \
             random_read=10000, random_write=40000 or random_read_qd32=95000 (the last three in IOPS)"
        )
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
        let reference = Reference {
            metric: Metric::SustainedWrite,
            origin: Origin::Simulated,
            value: 77.2e6,
            repeatability: 0.0,
        };
        let share = Measured::with_interval(0.2565, 0.1);
        Shortfall { metric: Metric::SustainedWrite, value: 19.8e6, share, reference }
    }

    #[test]
    fn headlines_read_as_written() {
        assert_eq!(
            metric_is_slow(&fallen()).0,
            "Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s)."
        );
        let speeds = Speeds { read: Some(987e6), write: Some(387e6) };
        assert_eq!(
            no_reference(Subject::VirtualDisk, speeds).0,
            "987 MB/s read, 387 MB/s write. No reference for this virtual disk, so it can't be called slow or fast."
        );
        assert_eq!(
            healthy(Some(Origin::Simulated), speeds).0,
            "As fast as new: 987 MB/s read, 387 MB/s write."
        );
        assert_eq!(
            worth_a_look_headline(&[Symptom::WriteCliff, Symptom::Stalls], true, speeds).0,
            "No metric is slow, but 2 things are worth a look: write cliff, stalls."
        );
    }

    #[test]
    fn answers_read_as_written() {
        let answer = |answer: Answer| format!("{}: {}", answer.question, answer.answer);
        assert_eq!(answer(also_slow(&fallen())), "Sustained write: 19.8 MB/s, 26% of new (77.2 MB/s)");
        let rivals = [("power saving", 0.41), ("thermal throttling", 0.12)];
        assert_eq!(
            answer(open_symptom(Symptom::Stalls, &rivals)),
            "Stalls: cause unknown; candidates: power saving (41%), thermal throttling (12%)"
        );
        assert_eq!(
            answer(upgrade("fast", Worth::Yes, 2340e9, Work::Recording(Nanos::from_secs(8 * 3600)))),
            "Upgrade: fast pays off: it saves 39 min of waiting in the recorded 8 h"
        );
        assert_eq!(
            old_data(24, 20, (30, 300), 0.52),
            "24 pieces of 20 files that are 30–300 days old are read 0.520× as fast as new data."
        );
    }
}
