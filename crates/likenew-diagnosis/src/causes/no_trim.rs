//! A drive that receives no TRIM.

use super::shared::*;

/// Speed of a second pass over that of the end of the first, below which nothing was gained. Chosen: above the
/// scatter of a check; on a large drive a short pass frees few blocks.
const FASTER: f64 = 1.1;

/// Speed of writes after TRIM over that before, from which TRIM helps. Chosen: the smallest drop that counts as a write cliff.
const TRIM_HELPS: f64 = 1.3;

pub(super) static CAUSE: Cause = Cause {
    name: "no_trim",
    title: "no TRIM",
    summary: "the drive receives no TRIM, so garbage collection keeps copying deleted data",
    manual: include_str!("no_trim.md"),
    kind: CauseKind::Drive,
    prior: -1.0,
    explains: &[&[RewrittenFaster, WriteCliff], SLOW_WRITES, &[Stalls]],
    evidence: &[
        // Addresses that were restored by writing them again cannot become faster by TRIM.
        measured("trim_helps", 4.0, -0.5, TRIM_HELPS, |case| {
            let gains = |ratio: Measured| ratio.chance_above(TRIM_HELPS) > 0.5;
            let is_restored = case.measurements.rewritten_over_first.is_some_and(gains);
            let trimmed = case.measurements.trimmed_over_rested?;
            (!is_restored || gains(trimmed)).then(|| trim_helps(trimmed))?
        })
        .hint(TRIM_AND_WRITE),
        fact("trim_blocked", 2.5, -0.3, |case| {
            let blocking = case.facts?.trim_blocked_by();
            let text = match blocking {
                Some(layer) => format!("{} ({}) blocks TRIM.", layer.name, layer.kind.words()),
                None => "Every layer that reports it passes TRIM.".into(),
            };
            Some((blocking.is_some(), text))
        })
        .hint(SHOW_LAYERS)
        .in_group("arrival"),
        fact("trim_sent", -3.0, 5.0, |case| {
            let is_sent = is_sent(case)?;
            if case.ignores_trim() {
                return Some((is_sent, "The drive does not support TRIM.".into()));
            }
            either(is_sent, "TRIM is sent for this file system.", "Nothing sends TRIM for this file system.")
        })
        .hint(SHOW_TIMER)
        .in_group("arrival"),
        // Counts if writes are slow or lack a reference: writing an address again removes the deleted data
        // that the drive keeps there.
        measured("rewritten_faster", 0.5, -2.0, FASTER, |case| {
            let is_slow = slowest_writes(case).is_none_or(|share| share.value < WRITES_BELOW);
            rewritten_faster(case.measurements.rewritten_over_first.filter(|_| is_slow)?)
        })
        .hint(WRITE_TWICE),
        cache_trimmed(-5.0),
        other_io(-2.0).in_group("disturbance"),
        link_errors_during_check(-3.0, 0.0).in_group("disturbance"),
        hard_disk(-8.0, 0.5),
        virtual_disk(-3.0),
        writes_below_reads(-0.5, 2.0),
    ],
    fixed_by: &[
        ActionKind::Fstrim,
        ActionKind::DiscardFree,
        ActionKind::OverwriteFree,
        ActionKind::Rewrite,
        ActionKind::Discard,
        ActionKind::Overwrite,
        ActionKind::NvmeFormat,
    ],
    actions: |case| {
        let through = case.facts.and_then(pass_trim);
        through.into_iter().chain(steps(case, CAUSE.fixed_by)).chain(weekly_trim(case)).collect()
    },
    costs: &[
        ("enable_trim_passthrough", "behind encryption, free blocks become visible"),
        ("force_trim_passthrough", "a setting"),
        ("enable_fstrim_timer", "seconds a week"),
    ],
    statement: Some(statement),
    ..Cause::BLANK
};

fn is_sent(case: &Case<'_>) -> Option<bool> {
    case.facts?.file_system.as_ref()?.trimming.is_sent()
}

fn statement(case: &Case<'_>) -> String {
    if case.ignores_trim() {
        let is_full = case
            .site
            .is_some_and(|site| site.kind == drive::TargetKind::Simulated && site.free_bytes.is_none());
        return if is_full {
            "no TRIM (this drive ignores it), so garbage collection copies data before every write".into()
        } else {
            "no TRIM (this drive ignores it), so garbage collection copies deleted data before every write"
                .into()
        };
    }
    if let Some(layer) = case.facts.and_then(|facts| facts.trim_blocked_by()) {
        let (name, kind) = (&layer.name, layer.kind.words());
        return format!(
            "no TRIM ({name}, {kind}, blocks it), so garbage collection copies deleted data before every write"
        );
    }
    match is_sent(case) {
        Some(false) => {
            "no TRIM (nothing sends it), so garbage collection copies deleted data before every write".into()
        }
        _ => "no TRIM, so garbage collection copies deleted data before every write".into(),
    }
}

/// Lets TRIM pass the layer that blocks it, if a setting does that and the drive supports TRIM.
pub fn pass_trim(facts: &Facts) -> Option<Action> {
    let layer = facts.trim_blocked_by()?;
    let is_of_no_use = matches!(&facts.drives[..], [drive] if drive.identity.knows_trim.get() == Some(false));
    let ([does, undoes], is_data_at_stake) = passthrough(facts, layer).filter(|_| !is_of_no_use)?;
    let (name, kind) = (&layer.name, layer.kind.words());
    let action = if is_data_at_stake {
        Action::new(
            "force_trim_passthrough",
            format!(
                "Enable TRIM passthrough in {name} ({kind}); back up first, as a device that handles TRIM wrongly loses data"
            ),
        )
    } else {
        Action::new("enable_trim_passthrough", format!("Enable TRIM passthrough in {name} ({kind})"))
    };
    Some(action.command(does).undo(undoes))
}

/// The command that lets TRIM pass a layer, the one that undoes it, and whether data is at stake; `None` if no command does it.
fn passthrough(facts: &Facts, layer: &Layer) -> Option<([String; 2], bool)> {
    match layer.kind {
        LayerKind::Crypt => Some((refresh_encryption(Some(facts), &["--allow-discards"]), false)),
        // Array members that do not read zeros after TRIM would make parity wrong
        // (Documentation/admin-guide/md.rst of the Linux sources).
        LayerKind::Array
            if matches!(layer.level.value().map(String::as_str), Some("raid4" | "raid5" | "raid6")) =>
        {
            let file = "/sys/module/raid456/parameters/devices_handle_discard_safely";
            Some((["Y", "N"].map(|value| format!("echo {value} > {file}")), true))
        }
        // The administrator of the host runs it there, with the guest's name for the disk.
        LayerKind::VirtualDisk => {
            let name = shell_quote(&layer.name);
            let edit = |discard: &str| {
                format!("virt-xml DOMAIN --edit target={name} --disk driver.discard={discard}")
            };
            Some((["unmap", "ignore"].map(edit), false))
        }
        // A bridge may support TRIM without announcing it; one that does not know UNMAP could take it for something else.
        LayerKind::Disk | LayerKind::UsbDisk => {
            let (does, undoes) = layer.unmap_commands()?;
            Some(([does, undoes], true))
        }
        _ => None,
    }
}

/// Sends TRIM regularly, if it passes and nothing sends it yet.
fn weekly_trim(case: &Case<'_>) -> Option<Action> {
    let site = case.site.filter(|site| site.kind == drive::TargetKind::Folder)?;
    let trimming = &case.facts?.file_system.as_ref()?.trimming;
    let is_done = trimming.is_sent() == Some(true) || trimming.timer_enabled.get() == Some(true);
    (!is_done && site.possibility(ActionKind::Fstrim) == Possibility::Yes).then(enable_timer)
}

/// Has the system send TRIM.
pub fn enable_timer() -> Action {
    Action::new("enable_fstrim_timer", "Send TRIM every week")
        .command("systemctl enable --now fstrim.timer")
        .undo("systemctl disable --now fstrim.timer")
}
