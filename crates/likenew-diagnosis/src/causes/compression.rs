//! A controller that compresses.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use likenew_core::drive;

use super::quoted;
use super::{arm, times};

/// The controller is fast with compressible data only.
pub(super) struct Compression;

const CARD: Card = Card {
    name: "compression",
    because: "its controller compresses, and was measured by its maker with data that compresses well",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::WriteAnywhere),
    ],
    manual: include_str!("compression.md"),
};

impl Cause for Compression {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "zeros_faster",
            case.signs.zeros_over_random,
            1.4,
            |ratio| format!("zeros are written {} as fast as random data", times(ratio)),
            Hint::of_writing("write zeros and random data").by("likenew data {}"),
        );
        arm(&mut scales, case);
        let shown = case.virtual_by().map(|_| true);
        scales.fact(
            "virtual",
            shown,
            |_| "a hypervisor or a cloud shows it, which may store no zeros".into(),
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let folder =
            case.site.filter(|site| site.kind == drive::Kind::Folder).map(|site| quoted(site.target));
        vec![Cure {
            what: "none is needed: your own files tell what it gives you".into(),
            command: folder.map(|folder| format!("likenew data --files {folder} {folder}")),
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "the answer",
            deed: None,
        }]
    }
}
