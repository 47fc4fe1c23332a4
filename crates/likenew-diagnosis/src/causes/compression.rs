//! A controller that compresses.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use likenew_core::drive;

use super::shell_quote;
use super::{hard_disk_evidence, scale_by};

/// The controller is fast with compressible data only.
pub(super) struct Compression;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "compression",
    summary: "its controller compresses, and was measured by its maker with data that compresses well",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("compression.md"),
};

impl Cause for Compression {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "zeros_faster",
            case.measurements.zeros_over_random,
            1.4,
            |ratio| format!("zeros are written {} as fast as random data", scale_by(ratio)),
            Hint::of_writing("write zeros and random data").with_command("likenew data {}"),
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact(
            "virtual",
            shown,
            |_| "a hypervisor or a cloud shows it, which may store no zeros".into(),
            "",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let folder =
            case.site.filter(|site| site.kind == drive::Kind::Folder).map(|site| shell_quote(site.target));
        vec![Fix {
            description: "none is needed: your own files tell what it gives you".into(),
            command: folder.map(|folder| format!("likenew data --files {folder} {folder}")),
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "the answer",
            action: None,
        }]
    }
}
