//! The input of a diagnosis, and the symptoms that it shows.

use likenew_core::drive;
use likenew_core::facts::{Drive, DriveDelta, DriveKind, Facts, Layer, LayerKind};

use super::{Indicator, Measured, Measurements, Metric, Origin, Reference, Site, Symptom};

/// Shortest random read, in nanoseconds, that waits for a seek: the fastest disks turn at 15,000 rpm, half a
/// revolution of which takes 2 ms (Seagate, Cheetah 15K.7 product manual: 3.4 ms seek and 2.0 ms latency),
/// and no healthy flash takes a millisecond.
pub const ARM_NS: f64 = 2.5e6;
/// Share of a file in holes, in 0..1, from which reads show them. Chosen: one of the 24 regions that are read is more.
const HOLES_SHOW: f64 = 0.02;

/// Ratio from which users notice a difference. Chosen: 30%.
const NOTICEABLE: f64 = 1.3;
/// Ratio for symptoms that scatter on healthy drives, such as old data and regions. Chosen: a fault makes a
/// larger difference.
const STRIKING: f64 = 1.5;
/// Share of their reference from which reads count as fast. Chosen: the scatter of checks.
const FULL_SPEED: f64 = 0.85;
/// Share of a link's rate that protocols leave to data, at least (PCIe with 128-byte payloads 82%, SATA 91%,
/// USB 3.0 bulk 80%: headers over payloads by the standards).
pub(crate) const LINK_FULL: f64 = 0.7;
/// Share of the time that other I/O may take. Chosen: less is not noticed.
pub(crate) const BACKGROUND_SHARE_MAX: f64 = 0.05;
const STALLED_SHARE_MIN: f64 = 0.05;
/// Standard deviation over mean of the rate in windows of sequential reads from which it is uneven; on a
/// healthy drive it is a few percent.
const UNEVEN: f64 = 0.25;
/// Probability, in 0..1, with which a symptom must be present. Chosen: the same as for naming a cause.
const SURE: f64 = 0.9;

/// Measurements, facts and references of one target.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What was measured.
    pub measurements: &'a Measurements,
    /// What the system knew at the end of the run; absent if it could not be queried.
    pub facts: Option<&'a Facts>,
    /// What changed at the drive during the run, if there is a single drive.
    pub delta: Option<&'a DriveDelta>,
    /// The references of metrics.
    pub references: &'a [Reference],
    /// The normal values of its indicators, from a simulated new drive or its baseline; empty if unknown.
    pub normal: &'a [(Indicator, f64)],
    /// How its firmware version is known to endanger data: a clause without a full stop.
    pub firmware_fault: Option<&'a str>,
    /// The site that fixes would be applied to; absent if no fixes are needed.
    pub site: Option<Site<'a>>,
}

/// Whether a value is certainly below what a reference calls healthy.
fn is_certainly_below(measured: Measured, reference: &Reference) -> bool {
    let share = measured.divide_by(Measured::with_interval(reference.value, 0.0));
    share.chance_above(reference.share_least()) <= 1.0 - SURE
}

impl<'a> Case<'a> {
    /// The drive below the target; `None` if it is unknown or there are several.
    pub fn drive(&self) -> Option<&'a Drive> {
        match self.facts?.drives.as_slice() {
            [drive] => Some(drive),
            _ => None,
        }
    }

    /// A metric over its most telling reference. If the drive was slow at its baseline already, that is
    /// another reference, which shows it.
    pub fn shortfall(&self, metric: Metric) -> Option<(Measured, Reference)> {
        let measured = self.measurements.metric(metric)?;
        let preferred = |is_baseline: bool| {
            let candidates = self
                .references
                .iter()
                .filter(move |reference| {
                    reference.metric == metric && (reference.origin == Origin::Baseline) == is_baseline
                })
                .filter(|reference| {
                    reference.origin != Origin::Class || is_certainly_below(measured, reference)
                });
            candidates.min_by_key(|reference| reference.origin)
        };
        let least = |reference: &Reference| reference.value * reference.share_least();
        let best = match (preferred(true), preferred(false)) {
            (Some(first), Some(other)) if other.origin.is_of_this_drive() && least(other) > least(first) => {
                other
            }
            (first, other) => first.or(other)?,
        };
        // Both values come from single checks.
        let deviation = best.repeatability * std::f64::consts::SQRT_2;
        Some((measured.divide_by(Measured::with_interval(best.value, 0.0)).with_scatter(deviation), *best))
    }

    /// An indicator over its normal value: above 1 it is worse. For a share, which may be 0 on a healthy
    /// drive, it is the excess over the normal value.
    pub fn beyond_normal(&self, indicator: Indicator) -> Option<Measured> {
        let measurement = indicator.value_in(self.measurements)?;
        let normal = self
            .normal
            .iter()
            .find(|(known, _)| *known == indicator)
            .map_or(indicator.least(), |(_, value)| *value);
        if indicator.least() > 0.0 {
            return Some(measurement.divide_by(Measured::with_interval(normal.max(indicator.least()), 0.0)));
        }
        let beyond = measurement.value - normal;
        (beyond > 0.0).then(|| measurement.scale_by(beyond / measurement.value))
    }

    /// Whether a reference can show that nothing is slow. Links, classes and simulated models only show that something is.
    pub fn is_compared(&self) -> bool {
        self.references.iter().any(|reference| {
            reference.origin.is_of_this_drive()
                && reference.origin != Origin::SimulatedModel
                && self.measurements.metric(reference.metric).is_some()
        })
    }

    /// Whether a metric is below its reference, with the share that it reaches; `None` without a reference.
    pub fn is_below(&self, metric: Metric) -> Option<Measured> {
        self.shortfall(metric).map(|(share, _)| share)
    }

    /// The fastest sequential reads over the speed of the link.
    pub fn fastest_over_link(&self) -> Option<Measured> {
        let link = |reference: &&Reference| {
            reference.metric == Metric::SequentialRead && reference.origin == Origin::Link
        };
        let link = self.references.iter().find(link)?.value;
        let reads = [self.measurements.fastest_read, self.measurements.metric(Metric::SequentialRead)];
        let fastest = reads.into_iter().flatten().max_by(|one, other| one.value.total_cmp(&other.value))?;
        Some(fastest.divide_by(Measured::with_interval(link, 0.0)))
    }

    /// Whether first sequential reads are as fast as their reference; `None` without one.
    pub fn reads_at_full_speed(&self) -> Option<bool> {
        self.is_below(Metric::SequentialRead).map(|share| share.value >= FULL_SPEED)
    }

    /// Whether sequential reads are as fast as the link carries data.
    pub fn reads_fill_link(&self) -> bool {
        self.reads_over_link().is_some_and(|share| share.value >= LINK_FULL)
    }

    /// Sequential reads over the speed of the link, if a reference shows that this drive reads faster: on
    /// another link, or by its data sheet.
    pub fn reads_held_by_link(&self) -> Option<Measured> {
        let (share, reference) = self.shortfall(Metric::SequentialRead)?;
        let is_slow = share.value < reference.share_least();
        self.reads_over_link().filter(|_| is_slow && reference.origin.is_of_this_drive())
    }

    /// Sequential reads over what the link carries.
    pub fn reads_over_link(&self) -> Option<Measured> {
        let ceiling = self.drive()?.link.ceiling_bytes_per_s.get().filter(|ceiling| *ceiling > 0)? as f64;
        let reads = self.measurements.metric(Metric::SequentialRead)?;
        Some(reads.divide_by(Measured::with_interval(ceiling, 0.0)))
    }

    /// Whether link errors were counted during the check.
    pub fn had_link_errors(&self) -> Option<bool> {
        let counts = &self.delta?.counts;
        let each = [
            &counts.crc_errors,
            &counts.pcie_corrected_errors,
            &counts.log_link_errors,
            &counts.log_resets,
            &counts.link_downshifts,
        ];
        each.into_iter()
            .filter_map(|count| count.get())
            .reduce(|one, other| one + other)
            .map(|count| count > 0)
    }

    /// Whether TRIM is sent for its free space and reaches the drive; `None` if either is unknown.
    pub fn receives_trim(&self) -> Option<bool> {
        let facts = self.facts?;
        if self.ignores_trim() || facts.trim_blocked_by().is_some() {
            return Some(false);
        }
        facts.file_system.as_ref()?.trimming.is_sent()
    }

    /// Whether the drive is known not to support TRIM.
    pub fn ignores_trim(&self) -> bool {
        self.drive().is_some_and(|drive| drive.identity.knows_trim.get() == Some(false))
            || self.site.is_some_and(|site| site.kind == drive::TargetKind::Simulated && !site.trims)
    }

    /// Whether its counters of throttling went up during the run; `None` if it has none.
    pub fn throttled(&self) -> Option<bool> {
        let counts = &self.delta?.counts;
        let each = [
            &counts.throttled_light_s,
            &counts.throttled_heavy_s,
            &counts.throttled_light_times,
            &counts.throttled_heavy_times,
        ];
        let sum = each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other);
        sum.map(|count| count > 0)
    }

    /// Whether an array below the target is rebuilding, checking or reshaping itself.
    pub fn array_is_busy(&self) -> bool {
        let is_busy = |layer: &Layer| layer.busy_with.value().is_some_and(|with| with != "idle");
        self.facts.is_some_and(|facts| facts.layers_of(LayerKind::Array).any(is_busy))
    }

    /// Whether it is a hard disk, by access time, unless the drive itself reports no rotation: other I/O can
    /// make flash as slow as an arm. Of a virtual drive, a host may report anything.
    pub fn is_disk(&self) -> bool {
        let rpm = self.drive().and_then(|drive| drive.identity.rotation_rpm.get());
        match self.measurements.access_ns {
            Some(access) => access.value > ARM_NS && (rpm != Some(0) || self.virtual_by().is_some()),
            None => rpm.is_some_and(|turns| turns > 0),
        }
    }

    /// Whether the drive is connected by USB, from its kind or its link.
    pub fn is_usb(&self) -> Option<bool> {
        let drive = self.drive()?;
        let bus = drive.link.bus.value().map(|bus| bus.contains("USB"));
        if drive.kind == DriveKind::Usb { Some(true) } else { bus }
    }

    /// Whether there is no drive at all.
    pub fn is_memory(&self) -> bool {
        self.facts.is_some_and(Facts::is_memory)
    }

    /// The hypervisor or cloud that provides the drive, if any.
    pub fn virtual_by(&self) -> Option<&'a str> {
        self.drive()?.identity.virtual_by.value()?.as_deref()
    }

    /// Share, in 0..1, of a file or loop device that lies in holes, if reads of them hide how fast the drive
    /// is. `None` in a folder, where only written data is read.
    pub fn holes(&self) -> Option<f64> {
        let is_folder = self.site.as_ref().is_none_or(|site| site.kind == drive::TargetKind::Folder);
        self.facts?.hole_share().filter(|share| *share >= HOLES_SHOW && !is_folder)
    }

    /// Everything that needs an explanation, the metrics first.
    pub fn symptoms(&self) -> Vec<Symptom> {
        let measurements = self.measurements;
        let exceeds = |measurement: Option<Measured>, threshold: f64| {
            measurement.is_some_and(|measurement| measurement.chance_above(threshold) >= SURE)
        };
        let shows = |indicator: Indicator, threshold: f64| exceeds(self.beyond_normal(indicator), threshold);
        let mut symptoms: Vec<Symptom> = Metric::ALL
            .into_iter()
            .filter(|metric| {
                self.shortfall(*metric).is_some_and(|(share, reference)| {
                    share.chance_above(reference.share_least()) <= 1.0 - SURE
                })
            })
            .map(Symptom::Below)
            .collect();
        symptoms.extend(
            [
                (shows(Indicator::NewOverOldData, STRIKING), Symptom::NewDataFaster),
                (shows(Indicator::NewOverOldDataRandom, STRIKING), Symptom::NewDataFaster),
                (shows(Indicator::MedianOverSlowest, STRIKING), Symptom::SlowRegions),
                (shows(Indicator::RepeatOverFirst, STRIKING), Symptom::RepeatReadFaster),
                (shows(Indicator::WriteCliff, NOTICEABLE), Symptom::WriteCliff),
                (exceeds(measurements.gain_by_writing(), NOTICEABLE), Symptom::RewrittenFaster),
                (shows(Indicator::RestedOverLoaded, NOTICEABLE), Symptom::SlowsUnderLoad),
                (shows(Indicator::WideOverNarrow, STRIKING) && !self.is_disk(), Symptom::SlowOverWideSpan),
                (shows(Indicator::IdleOverBusy, STRIKING), Symptom::SlowAfterIdle),
                (shows(Indicator::AlignedOverShifted, NOTICEABLE), Symptom::SlowWhenAligned),
                (shows(Indicator::BurstOverFlat, NOTICEABLE), Symptom::FlatAfterBurst),
                (exceeds(measurements.background_share, BACKGROUND_SHARE_MAX), Symptom::BackgroundIo),
                (shows(Indicator::StalledShare, STALLED_SHARE_MIN), Symptom::Stalls),
                (shows(Indicator::ReadScatter, UNEVEN), Symptom::Uneven),
                (measurements.errors > 0, Symptom::Errors),
                (measurements.wrong_sectors > 0, Symptom::WrongData),
                (exceeds(self.fastest_over_link(), 1.05), Symptom::FasterThanLink),
            ]
            .into_iter()
            .filter_map(|(is_there, symptom)| is_there.then_some(symptom)),
        );
        symptoms.dedup();
        // The speed of memory or of a hole says nothing of a drive.
        let is_unreal = self.is_memory() || self.holes().is_some();
        symptoms.retain(|symptom| !is_unreal || matches!(symptom, Symptom::Errors | Symptom::WrongData));
        symptoms
    }
}
