//! A drive that loses or changes data, such as one with less capacity than it claims.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "counterfeit",
    title: "data corruption",
    summary: "counterfeit or failing drive: it does not keep what is written to it",
    manual: include_str!("counterfeit.md"),
    kind: CauseKind::Drive,
    endangers: true,
    prior: -1.0,
    explains: &[&[WrongData, Errors]],
    evidence: &[fact("wrong_data", 7.0, -3.0, |case| {
        let text = match case.measurements.wrong_sectors {
            0 => "Everything read back as it was written.".into(),
            sectors => format!("{} sectors did not read back as they were written.", Number(sectors as f64)),
        };
        Some((case.measurements.wrong_sectors > 0, text))
    })],
    actions: |case| {
        let command = case.site.map(|site| format!("likenew verify {}", shell_quote(site.target)));
        let is_kept = case.site.is_some_and(|site| {
            matches!(site.kind, drive::TargetKind::Folder | drive::TargetKind::Simulated)
        });
        let loses = if is_kept { Loss::Nothing } else { Loss::Everything };
        vec![
            Action::new("return_drive", "Store nothing on it, and return it"),
            Action { command, loses, ..Action::new("verify_capacity", "Find its real capacity") },
        ]
    },
    costs: &[("verify_capacity", "one write of all of it")],
    ..Cause::BLANK
};
