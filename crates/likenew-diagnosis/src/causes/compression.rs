//! A controller that compresses, and is fast only with compressible data.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "compression",
    title: "compressing controller",
    summary: "the controller compresses data, and its rated speed is for data that compresses well",
    manual: include_str!("compression.md"),
    kind: CauseKind::ByDesign,
    prior: -2.0,
    explains: &[SLOW_WRITES],
    evidence: &[
        measured("zeros_faster", 6.0, -7.0, 1.4, |case| {
            let ratio = case.measurements.zeros_over_random?;
            Some((ratio, format!("Zeros are written {} as fast as random data.", times(ratio))))
        })
        .hint(Hint::data("Compare writes of zeros with writes of random data")),
        hard_disk(-6.0, 0.0),
        fact("virtual", -5.0, 0.0, |case| {
            only_if(case.virtual_by().is_some(), "This is a virtual disk, whose host may skip zeros.")
        }),
    ],
    actions: |case| {
        let folder = case.site.filter(|site| site.kind == drive::TargetKind::Folder);
        let folder = folder.map(|site| shell_quote(site.target));
        let text = "See what speed your own files get; nothing needs repair";
        let command = folder.map(|folder| format!("likenew data --files {folder} {folder}"));
        vec![Action { command, ..Action::new("test_your_files", text) }]
    },
    ..Cause::BLANK
};
