//! The list of all procedures and their commands. It makes a procedure from a plan, and completes the findings of every
//! run.

use clap::{ArgMatches, Command};
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::procedure::{Descriptor, Evidence, Plan, Procedure};
use likenew_procedure_support::fit::{Fitting, Options, Unfit};
use likenew_procedure_support::{device_counters, failures, wording};
use toml::Table;

use crate::{
    age, apps, bench, cache, check, data, endure, facts, fill, model, recondition, replay, run, suits,
    surface, sweep, trim, verify, xray,
};

/// Makes a procedure from the options of a plan.
type FromOptions = fn(&Table) -> Result<Box<dyn Procedure>, String>;

fn boxed(procedure: Result<impl Procedure + 'static, String>) -> Result<Box<dyn Procedure>, String> {
    Ok(Box::new(procedure?))
}

/// A procedure and its command. A new procedure is a module and one of these rows.
pub struct ProcedureRow {
    /// What it measures and what it costs.
    pub descriptor: &'static Descriptor,
    from_options: FromOptions,
    /// The title under which help lists its command; `None` if that command takes more than one target and options.
    pub group: Option<&'static str>,
    /// Ways to use its command.
    pub examples: &'static [&'static str],
    /// The options of its command; `None` if the command has a type of its own.
    pub options: Option<OptionsParser>,
}

impl ProcedureRow {
    const fn examples(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }
}

/// A procedure whose command takes one target and these options.
const fn row<O: Options + 'static>(group: &'static str, from_options: FromOptions) -> ProcedureRow {
    let options = Some(OptionsParser { declare: O::augment_args, parse: parse::<O> });
    ProcedureRow { options, ..own(O::DESCRIPTOR, group, from_options) }
}

/// A procedure whose command takes one target and options of its own, from which it makes those of the plan.
const fn own(
    descriptor: &'static Descriptor,
    group: &'static str,
    from_options: FromOptions,
) -> ProcedureRow {
    ProcedureRow { group: Some(group), ..unlisted(descriptor, from_options) }
}

/// A procedure whose command takes more than a target and options. Help lists that command by its own row.
const fn unlisted(descriptor: &'static Descriptor, from_options: FromOptions) -> ProcedureRow {
    ProcedureRow { descriptor, from_options, group: None, examples: &[], options: None }
}

/// How the options of a procedure are declared and parsed, whatever their type is.
#[derive(Clone, Copy)]
pub struct OptionsParser {
    /// Adds them to a command, with its text in `--help`.
    pub declare: fn(Command) -> Command,
    /// Parses what was typed. The function says which options were.
    pub parse: ParseOptions,
}

type ParseOptions = fn(&ArgMatches, &dyn Fn(&str) -> bool) -> Result<TypedOptions, clap::Error>;

/// The options of a procedure as they were typed.
pub struct TypedOptions {
    /// Whether the run has to write ([`Options::writes`]).
    pub writes: bool,
    /// Whether each run on a real drive needs its own seed ([`Options::needs_new_seed`]).
    pub needs_new_seed: bool,
    /// Fits them to a target ([`Options::fit`]), and gives the options of a plan.
    pub fit: FitOptions,
}

type FitOptions = Box<dyn Fn(&mut Fitting<'_>) -> Result<Table, Unfit>>;

impl TypedOptions {
    /// From options, and a function that says which of them were typed.
    pub fn new<O: Options + 'static>(options: O, is_chosen: &dyn Fn(&str) -> bool) -> Self {
        Self {
            writes: options.writes(is_chosen),
            needs_new_seed: options.needs_new_seed(),
            fit: Box::new(move |fitting| {
                let mut fitted = options.clone();
                fitted.fit(fitting)?;
                Ok(Table::try_from(fitted).expect("options are plain values"))
            }),
        }
    }
}

fn parse<O: Options + 'static>(
    matches: &ArgMatches,
    is_chosen: &dyn Fn(&str) -> bool,
) -> Result<TypedOptions, clap::Error> {
    Ok(TypedOptions::new(O::from_arg_matches(matches)?, is_chosen))
}

/// Every procedure, in the order in which help lists its command.
pub const PROCEDURES: &[ProcedureRow] = &[
    own(&check::DESCRIPTOR, "Answer", |table| boxed(check::Check::from_options(table))).examples(&[
        "likenew check ~/data",
        "likenew check /dev/sda --advertised read=550MB/s,write=520MB/s",
        "likenew check 'sim:intel-x25-m-80gb?state=used&trim=off' --details",
    ]),
    own(&recondition::DESCRIPTOR, "Answer", |table| boxed(recondition::Recondition::from_options(table)))
        .examples(&[
            "likenew recondition ~/data --dry-run",
            "likenew recondition ~/data",
            "likenew recondition 'sim:intel-x25-m-80gb?state=used&fill=0.5'",
        ]),
    row::<verify::VerifyOptions>("Answer", |table| boxed(verify::Verify::from_options(table))).examples(&[
        "likenew verify /media/stick",
        "likenew verify sim:fake-stick-512gb --quick",
        "likenew verify /dev/sdb --consent ID",
    ]),
    row::<trim::TrimOptions>("Answer", |table| boxed(trim::Trim::from_options(table))).examples(&[
        "likenew trim ~/data",
        "likenew trim ~/data --no-worth",
        "likenew trim 'sim:tlc-nvme-1tb?state=used'",
    ]),
    row::<bench::BenchOptions>("Measure", |table| boxed(bench::Bench::from_options(table))).examples(&[
        "likenew bench ~/data",
        "likenew bench /dev/nvme0n1 --op read --json bench.json",
        "likenew bench ~/data --rwmixread 70 --runtime 10s -o bench.html",
    ]),
    row::<sweep::SweepOptions>("Measure", |table| boxed(sweep::Sweep::from_options(table))).examples(&[
        "likenew sweep ~/data",
        "likenew sweep ~/data --bs 512..1M --iodepth 1..256 --pattern random",
        "likenew sweep sim:tlc-nvme-1tb --op read -o sweep.html",
    ]),
    row::<suits::SuitsOptions>("Measure", |table| boxed(suits::Suits::from_options(table))).examples(&[
        "likenew suits /var/lib/etcd --for etcd",
        "likenew suits ~/data",
        "likenew suits sim:tlc-enterprise-1920gb --for etcd-heavy,postgres",
    ]),
    row::<surface::SurfaceOptions>("Measure", |table| boxed(surface::Surface::from_options(table))).examples(
        &[
            "likenew surface /dev/sda",
            "likenew surface /dev/sda --whole",
            "likenew surface sim:wd6400aaks --points 200 --details",
        ],
    ),
    row::<fill::FillOptions>("Measure", |table| boxed(fill::Fill::from_options(table))).examples(&[
        "likenew fill ~/data",
        "likenew fill ~/data --one-file --read-back",
        "likenew fill sim:tlc-nvme-1tb --passes until-steady",
    ]),
    own(&endure::DESCRIPTOR, "Measure", |table| boxed(endure::Endure::from_options(table))).examples(&[
        "likenew endure ~/data --span 25%",
        "likenew endure sim:intel-x25-m-80gb --test snia-wsat",
        "likenew endure sim:tiny-flash --op write --fills 4",
    ]),
    row::<age::AgeOptions>("Measure", |table| boxed(age::Age::from_options(table))).examples(&[
        "likenew age sim:intel-x25-m-80gb",
        "likenew age ~/data --recipe overwrite --span 20GiB",
        "likenew age sim:tiny-flash --recipe churn --idle 10min",
    ]),
    own(&data::DESCRIPTOR, "Measure", |table| boxed(data::Data::from_options(table))).examples(&[
        "likenew data ~/data",
        "likenew data ~/data --files ~/Documents",
        "likenew data ~/data --files ~/Documents --scan-only",
    ]),
    row::<cache::CacheOptions>("Measure", |table| boxed(cache::Cache::from_options(table))).examples(&[
        "likenew cache ~/data",
        "likenew cache ~/data --pattern random --bs 4k --iodepth 1",
        "likenew cache sim:wd6400aaks --details",
    ]),
    own(&apps::DESCRIPTOR, "Measure", |table| boxed(apps::Apps::from_options(table))).examples(&[
        "likenew apps ~/data",
        "likenew apps sim:tlc-nvme-1tb --app pcmark8 --passes 1",
        "likenew apps sim:intel-x25-m-80gb --consistency --minutes 0.1",
    ]),
    row::<xray::XrayOptions>("Explain", |table| boxed(xray::Xray::from_options(table))).examples(&[
        "likenew xray ~/data",
        "likenew xray 'sim:intel-x25-m-80gb?state=used'",
        "likenew xray sim:generated-17 --only medium,mapping",
    ]),
    own(&model::DESCRIPTOR, "Explain", |table| boxed(model::Model::from_options(table))).examples(&[
        "likenew model /dev/sda",
        "likenew model ~/data --op read --runtime 2min",
        "likenew model sim:wd6400aaks --details",
    ]),
    unlisted(&facts::DESCRIPTOR, |table| boxed(facts::Facts::from_options(table))),
    unlisted(&replay::DESCRIPTOR, |table| boxed(replay::Replay::from_options(table))),
    unlisted(&run::DESCRIPTOR, |table| boxed(run::Run::from_options(table))),
];

/// The procedure that a plan names, with its options.
///
/// # Errors
/// A sentence, if the plan has a newer schema, names an unknown procedure, or has wrong options.
pub fn from_plan(plan: &Plan) -> Result<Box<dyn Procedure>, String> {
    if plan.schema != 1 {
        return Err(wording::other_plan_schema(plan.schema));
    }
    match PROCEDURES.iter().find(|row| row.descriptor.name == plan.procedure) {
        Some(row) => (row.from_options)(&plan.options),
        None => {
            let names: Vec<&str> = PROCEDURES.iter().map(|row| row.descriptor.name).collect();
            Err(wording::unknown_name("procedure", &plan.procedure, &names))
        }
    }
}

/// The findings of a run: the procedure's own, failed tests, and whether the I/O reached the device. A stored run can
/// be judged again.
pub fn judge(procedure: &dyn Procedure, evidence: &Evidence) -> Findings {
    let mut findings = procedure.judge(evidence);
    let segments = &evidence.segments;
    lead_with_errors(&mut findings);
    if let Some(answer) = failures::unmeasured_workloads(segments) {
        let mut tests = segments.iter().filter(|segment| !segment.workload.is_rest());
        // If every test failed, that leads; otherwise it follows the main answer.
        let is_all = tests.all(|segment| segment.measurement_error().is_some());
        if is_all {
            findings.summary = wording::nothing_was_measured(failures::tests_run(segments));
        }
        let place = if is_all { 0 } else { 1 };
        show(&mut findings, &answer, place);
        findings.answers.insert(place.min(findings.answers.len()), answer);
    }
    for answer in device_counters::answers(segments) {
        show(&mut findings, &answer, usize::MAX);
        findings.answers.push(answer);
    }
    if findings.summary.is_empty() {
        let first = findings.answers.first();
        findings.summary = first.map_or_else(wording::nothing_measured_yet, wording::answer_as_summary);
    }
    findings
}

/// Puts errors of the drive first, unless the procedure's own first answer is a problem.
fn lead_with_errors(findings: &mut Findings) {
    let is_error = |answer: &Answer| {
        answer.standing == Standing::Problem && ["io_errors", "job_errors"].contains(&answer.id.as_str())
    };
    if findings.answers.first().is_none_or(|first| first.standing == Standing::Problem) {
        return;
    }
    let Some(place) = findings.answers.iter().position(is_error) else { return };
    let answer = findings.answers.remove(place);
    findings.summary =
        format!("{} {}", wording::answer_as_summary(&answer), findings.summary).trim_end().into();
    findings.answers.insert(0, answer);
}

/// Adds an answer to those of the first screen, if the procedure chose any.
fn show(findings: &mut Findings, answer: &Answer, place: usize) {
    let shown = &mut findings.overview.answers;
    if !shown.is_empty() || findings.overview.table.is_some() {
        shown.insert(place.min(shown.len()), answer.id.clone());
    }
}
