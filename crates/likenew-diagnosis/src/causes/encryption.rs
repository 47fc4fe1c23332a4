//! Encryption that takes longer than the drive.

use super::shared::*;

/// Bytes of a small I/O: those of the metrics for random I/O.
const SMALL_BYTES: f64 = 4096.0;
/// Share of one CPU core from which it is busy; without encryption the kernel needs far less for sequential
/// reads. Chosen: a single busy thread reaches it.
const ONE_PROCESSOR: f64 = 0.8;
/// Ratio of two rates below which one cipher limits both. Chosen: a cipher is steadier than that.
const ALIKE: f64 = 1.3;
/// Ratio of two delays up to which a layer adds the same to every I/O. Chosen: reads and writes of a drive differ by more.
const SAME_DELAY: f64 = 1.6;
/// Speed over its reference below which a delay is more than scatter. Chosen: the scatter of checks.
const SLOWER: f64 = 0.9;
/// Half the interval of a ratio of delays, as a share. Assumed: each is a difference of two times.
const DELAY_ERROR: f64 = 0.2;

pub(super) static CAUSE: Cause = Cause {
    name: "encryption",
    title: "encryption",
    summary: "encryption is slower than the drive",
    manual: include_str!("encryption.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.0,
    explains: &[&[
        Below(Metric::SequentialRead),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
        Below(Metric::RandomReadQd32),
        Below(Metric::RandomRead),
        Below(Metric::RandomWrite),
    ]],
    evidence: &[
        encrypted(2.0, -8.0).hint(SHOW_LAYERS),
        measured("processor_busy", 4.0, -1.5, ONE_PROCESSOR, |case| {
            let cores = case.measurements.kernel_processors?;
            let used = Share(cores.value);
            Some((cores, format!("The kernel used {used} of one CPU core during sequential reads.")))
        })
        .hint(Hint::machine("Watch the CPU during sequential reads")),
        // A cipher is as fast for random I/O as for sequential I/O; a drive is not. If CPU use shows that
        // encryption is not the limit, queues that count I/Os may be.
        measured("alike_visible", 0.0, 2.0, ALIKE, |case| {
            case.measurements.kernel_processors?;
            alike(case)
        }),
        measured("alike_hidden", -2.0, 4.0, ALIKE, |case| {
            case.measurements.kernel_processors.is_none().then(|| alike(case))?
        }),
        measured("same_delay", -0.5, 4.0, SAME_DELAY, |case| {
            let ratio = delay_ratio(case).filter(|_| is_encrypted(case) == Some(true))?;
            let times = times(ratio);
            let text = if ratio.value < SAME_DELAY {
                format!("4K random reads and writes are delayed by the same time, within {times}.")
            } else {
                format!("4K random reads and writes are delayed by different times: {times}.")
            };
            Some((ratio, text))
        }),
        measured("reads_below_writes", 1.2, 0.0, READS_BELOW, |case| {
            writes_against_reads(writes_over_reads(case).filter(|_| is_encrypted(case) == Some(true))?)
        }),
    ],
    actions: |case| {
        let flags = ["--perf-no_read_workqueue", "--perf-no_write_workqueue"];
        let [does, undoes] = refresh_encryption(case.facts, &flags);
        let bypass_queues = Action::new(
            "bypass_crypt_queues",
            "Bypass dm-crypt's work queues, which shortens latency unless the CPU is the limit",
        );
        let choose_cipher = Action::new(
            "choose_cipher",
            "Find a cipher that this CPU accelerates; changing it takes hours (cryptsetup reencrypt)",
        );
        let mut actions =
            vec![bypass_queues.command(does).undo(undoes), choose_cipher.command("cryptsetup benchmark")];
        // Without the queues, the cipher still runs on the busy CPU core.
        if case.measurements.kernel_processors.is_some_and(|cores| cores.value >= ONE_PROCESSOR) {
            actions.reverse();
        }
        actions
    },
    costs: &[("choose_cipher", "hours to re-encrypt everything")],
    ..Cause::BLANK
};

/// Bytes a second of sequential reads over those of small reads at QD32, or the reverse if that is larger.
fn alike(case: &Case<'_>) -> Option<(Measured, String)> {
    let deep = case.measurements.metric(Metric::RandomReadQd32)?.scale_by(SMALL_BYTES);
    let read = case.measurements.metric(Metric::SequentialRead)?;
    let ratio = read.divide_by(deep);
    let ratio = if ratio.value < 1.0 { deep.divide_by(read) } else { ratio };
    let times = times(ratio);
    let text = if ratio.value < ALIKE {
        format!("In MB/s, sequential reads and 4K random reads at QD32 differ by only {times}.")
    } else {
        format!("In MB/s, sequential reads and 4K random reads at QD32 differ by {times}.")
    };
    Some((ratio, text))
}

/// Extra time of a 4K random read against its reference, over that of a write, or the reverse if that is
/// larger. `None` if one of them is not slower.
fn delay_ratio(case: &Case<'_>) -> Option<Measured> {
    let delay_ns = |metric: Metric| {
        let (share, reference) = case.shortfall(metric).filter(|(share, _)| share.value < SLOWER)?;
        Some(1e9 / reference.value * (1.0 / share.value - 1.0))
    };
    let (read, write) = (delay_ns(Metric::RandomRead)?, delay_ns(Metric::RandomWrite)?);
    let ratio = read.max(write) / read.min(write);
    Some(Measured::new(ratio, (ratio * (1.0 - DELAY_ERROR)).max(1.0), ratio * (1.0 + DELAY_ERROR)))
}
