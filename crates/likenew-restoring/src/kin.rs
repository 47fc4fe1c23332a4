//! What is known of drives like this one: its model's rated speeds, what new drives of its class reach, and the limits of a cloud
//! volume of its size. All of it follows from facts alone, so earlier runs are judged by what is known today.

use likenew_core::facts::{Drive, Facts};
use likenew_diagnosis::{Metric, Origin, Reference};
use likenew_rated::{
    Class, Figure, FirmwareFault, LimitKind, Limits, Rated, Usual, of_drive, usual, usual_for, volumes,
};

use crate::facts::{faults_met, firmware_fault};

/// Share of its rated speed from which a hard disk is healthy. Its outer tracks are rated, and the inner ones
/// hold half as much; less than half, because files are not in one piece.
const INNER_TRACKS: f64 = 0.4;

/// Number of models from which the slowest one stands for its class. Chosen: rated figures of SSDs and hard
/// disks come from whole product lines, and a class has dozens of these.
const MODELS_OF_A_CLASS: usize = 30;

/// Distance from a limit, as a share, up to which a value counts as held by it. Chosen: limits are kept to a few percent.
const AT_LIMIT: f64 = 0.07;

/// Usual sequential reads of the classes that are sold today for computers, at about this capacity.
pub(crate) fn classes_to_buy(capacity_bytes: u64) -> Vec<Usual> {
    let nvme = |generation| Class::Nvme { generation, lanes: 4 };
    let classes = [Class::SataSsd { gbit: 6 }, nvme(3), nvme(4), nvme(5)];
    classes.into_iter().filter_map(|class| usual(class, Some(capacity_bytes), Figure::Read)).collect()
}

/// Share of its speed class's rate from which a card is healthy. The class promises a minimum, but a check is
/// no test of the SD Association.
const PROMISE_KEPT: f64 = 0.9;

/// What is known of drives like this one.
#[derive(Debug, Default)]
pub(crate) struct Kin {
    /// The speed classes of a card, and the bytes a second that they promise for sequential writes.
    pub(crate) speed_classes: Option<(String, f64)>,
    /// Rated figures of the model.
    pub(crate) rated: Option<Rated>,
    /// Values of new drives of its class.
    pub(crate) usual: Vec<(Metric, Usual)>,
    /// Limits of the types that it may be, if it is a cloud volume.
    pub(crate) volumes: Vec<Limits>,
    /// A known fault of its firmware, and the sentence about it.
    pub(crate) fault: Option<(&'static FirmwareFault, String)>,
}

const FIGURES: [(Metric, Figure); 4] = [
    (Metric::SequentialRead, Figure::Read),
    (Metric::SequentialWrite, Figure::Write),
    (Metric::RandomRead, Figure::SmallRead),
    (Metric::RandomWrite, Figure::SmallWrite),
];

impl Kin {
    /// From facts of the one drive below the target; empty if something hides that drive's own speed.
    pub(crate) fn new(facts: Option<&Facts>) -> Self {
        let Some(facts) = facts else { return Self::default() };
        if let [Drive { cloud: Some(_), identity, .. }] = facts.drives.as_slice() {
            let volumes = identity.model.value().zip(identity.capacity_bytes.get());
            let volumes = volumes.map_or_else(Vec::new, |(model, bytes)| self::volumes(model, bytes));
            return Self { volumes, ..Self::default() };
        }
        let Some(drive) = facts.plain_drive() else { return Self::default() };
        let usual_of = |(metric, figure)| Some((metric, usual_for(facts, figure)?));
        Self {
            speed_classes: drive.card.as_ref().and_then(|card| {
                Some((card.speed_classes.value()?.clone(), card.promised_bytes_per_s.get()? as f64))
            }),
            rated: of_drive(drive),
            usual: FIGURES.into_iter().filter_map(usual_of).collect(),
            volumes: Vec::new(),
            fault: faults_met(drive).next().map(|fault| {
                let version = drive.identity.firmware.value().map_or("", String::as_str);
                (fault, firmware_fault(fault, version, fault.hours.and(drive.counts.power_on_hours.get())))
            }),
        }
    }

    /// For a hard disk, the share of another disk's speed from which it is healthy: both may be measured on different tracks.
    pub(crate) fn share_of_other_place(&self) -> Option<f64> {
        let rotates = self.rated.as_ref().is_some_and(|rated| rated.product.rpm.is_some());
        let is_disk = |(_, usual): &(Metric, Usual)| matches!(usual.class, Class::Disk { .. });
        (rotates || self.usual.iter().any(is_disk)).then_some(INNER_TRACKS)
    }

    /// Rated speeds, and what the slowest new drive of the class reaches.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let rated = self.rated.into_iter().flat_map(|rated| {
            let is_disk = rated.product.rpm.is_some();
            let read = rated.drive.read;
            let write = rated.drive.write.or(read.filter(|_| is_disk));
            [(Metric::SequentialRead, read), (Metric::SequentialWrite, write)].into_iter().filter_map(
                move |(metric, mb)| {
                    let least = is_disk.then_some(INNER_TRACKS);
                    Some(Reference { least, ..Reference::new(metric, Origin::Advertised, mb? * 1e6) })
                },
            )
        });
        let promised =
            self.speed_classes.iter().filter(|_| self.rated.is_none()).map(|(_, per_s)| Reference {
                least: Some(PROMISE_KEPT),
                ..Reference::new(Metric::SequentialWrite, Origin::Advertised, *per_s)
            });
        // A few models, such as the sticks of one review, do not stand for a class.
        let whole = self.usual.iter().filter(|(_, usual)| usual.values.len() >= MODELS_OF_A_CLASS);
        let of_class = whole.filter_map(|(metric, usual)| {
            let is_disk = matches!(usual.class, Class::Disk { .. });
            let slowest = usual.least * if is_disk { INNER_TRACKS } else { 1.0 };
            let is_sequential = matches!(metric, Metric::SequentialRead | Metric::SequentialWrite);
            let median = usual.median();
            let reference =
                Reference { least: Some(slowest / median), ..Reference::new(*metric, Origin::Class, median) };
            is_sequential.then_some(reference)
        });
        rated.chain(promised).chain(of_class).collect()
    }

    /// Types of cloud volumes that fit the highest measured rates, which reach one limit and exceed none.
    pub(crate) fn held_by(&self, iops: Option<f64>, bytes_per_s: Option<f64>) -> Vec<&'static str> {
        let over = |measured: Option<f64>, limit: Option<f64>| Some(measured? / limit?);
        let holds = |limits: &&Limits| {
            let ios = [over(iops, limits.iops), over(iops, limits.burst_iops)];
            let bytes = [over(bytes_per_s, limits.bytes_per_s), over(bytes_per_s, limits.burst_bytes_per_s)];
            let is_at = |ratio: &f64| (ratio - 1.0).abs() <= AT_LIMIT;
            let is_beyond = |ratios: [Option<f64>; 2]| {
                ratios.into_iter().flatten().reduce(f64::min).is_some_and(|ratio| ratio > 1.0 + AT_LIMIT)
            };
            let reaches = ios.iter().chain(&bytes).flatten().any(is_at);
            limits.kind != LimitKind::Most && reaches && !is_beyond(ios) && !is_beyond(bytes)
        };
        self.volumes.iter().filter(holds).map(|volume| volume.name).collect()
    }

    /// What new drives of its class reach in a metric.
    pub(crate) fn usual(&self, metric: Metric) -> Option<&Usual> {
        self.usual.iter().find(|(known, _)| *known == metric).map(|(_, usual)| usual)
    }
}
