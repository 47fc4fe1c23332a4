//! Other I/O on the drive.

use super::shared::*;

/// How long the I/O of other programs is recorded: periodic I/O shows within a minute.
const RECORDING: Nanos = Nanos::from_secs(60);

pub(super) static CAUSE: Cause = Cause {
    name: "background_io",
    title: "other I/O on the drive",
    summary: "something else uses the drive at the same time",
    manual: include_str!("background_io.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.0,
    explains: &[&[BackgroundIo, Stalls, RewrittenFaster, SlowRegions, SlowWhenAligned, Uneven], SLOW],
    evidence: &[
        measured("background_io", 5.0, -5.0, BACKGROUND_SHARE_MAX, |case| {
            let busy = case.measurements.background_share?;
            let text = if busy.value >= 1.0 {
                "While nothing was measured, other I/O kept the drive busy all the time.".into()
            } else {
                let share = share(Measured::new(busy.value, busy.low, busy.high.min(1.0)));
                format!("While nothing was measured, other I/O kept the drive busy for {share} of the time.")
            };
            Some((busy, text))
        })
        .hint(Hint::watch("Count I/O of other programs meanwhile")),
        fact("array_busy", -4.0, 0.0, |case| {
            let text = "The array below it is rebuilding, checking or reshaping, which causes that I/O.";
            only_if(case.array_is_busy(), text)
        }),
        measured("uneven_reads", 1.5, -0.5, 0.15, |case| {
            let scatter = case.measurements.read_scatter?;
            let share = share(scatter);
            Some((scatter, format!("The speed of sequential reads varies by {share} from moment to moment.")))
        }),
    ],
    actions: |case| {
        let text = "Find the programs that use the drive, stop them, and check again";
        let action = Action::new("find_other_io", text);
        // Programs can only be recorded on a real drive.
        let site = case
            .site
            .filter(|site| !matches!(site.kind, drive::TargetKind::Simulated | drive::TargetKind::Nop));
        let Some(site) = site else { return vec![action] };
        let target = shell_quote(site.target);
        let command = format!("sudo likenew record {target} --out /dev/shm/io.csv.zst --time 60s");
        vec![action.command(command).time(RECORDING)]
    },
    ..Cause::BLANK
};
