//! Why a drive is slower than it could be, from its parameters and situations: the true answer for a
//! diagnosis.

use crate::explain;
use crate::flash::policies::PageMapParameters;
use crate::model::{FlashModel, Layer, Mechanism, Model};
use crate::situations::link_standard::Bus;
use crate::spec::{Spec, faults, past, with_trim};
use crate::state::State;

/// Filled share from which a drive has too little free space. Chosen: a drive this full garbage-collects with
/// little more than its over-provisioning.
const NEARLY_FULL: f64 = 0.9;
/// Filled share from which random overwrites leave no empty blocks. Chosen: at a half, greedy garbage
/// collection copies a fifth of a page for each page written (P. Desnoyers, "Analytic Models of SSD Write
/// Performance", ACM Transactions on Storage 10 (2014)).
const SCATTERED_SHARE: f64 = 0.5;
/// Share of a disk before the partition, from which sequential I/O in it is slower than at 84% of the outer edge: the
/// square root of 1 - 0.75 × 0.4 where the inner tracks are half as long.
const INNER_TRACKS_SHARE: f64 = 0.4;
/// Share of the rated life from which wear slows flash down. Chosen: the simulator then needs one retry per
/// page.
const WORN_OUT_SHARE: f64 = 0.5;

/// Names of the causes at work on a spec's drive, in alphabetical order; none for a drive as good as new.
/// Leaves out causes without effect on this drive, such as a fragmented file on flash, or a slower link that
/// is still fast enough.
pub fn causes(spec: &Spec, own: &Model) -> Vec<&'static str> {
    let model = &spec.in_situation(own);
    let met = &model.situations;
    let mut causes = outside(spec, own, model);
    match &model.mechanism {
        Mechanism::Flash(flash) => causes.extend(of_flash(spec, flash)),
        Mechanism::Disk(disk) => {
            let bad_places = model
                .faults
                .as_ref()
                .is_some_and(|faults| !faults.slow.is_empty() || !faults.unreadable.is_empty());
            let off = spec.cache == Some(false) && disk.cache.write_cache_bytes > 0;
            causes.extend(bad_places.then_some("slow_region"));
            causes.extend(off.then_some("write_cache_off"));
            causes.extend(disk.shingles.map(|_| "shingled"));
            causes.extend(met.fragment_bytes.map(|_| "fragmentation"));
            let starts_inward = met.partition_start.filter(|share| *share >= INNER_TRACKS_SHARE);
            causes.extend(starts_inward.map(|_| "inner_tracks"));
        }
        Mechanism::Volume(volume) => {
            let bursts = volume.credits.burst_iops > volume.credits.baseline_iops;
            causes.extend((bursts && spec.state == State::Used).then_some("token_bucket"));
            causes.extend((met.from_snapshot == Some(true)).then_some("lazy_volume"));
        }
    }
    if is_misaligned(model) {
        causes.push("misalignment");
    }
    if met.host_memory_bytes.is_some() && map_cache(model) < map_cache(own) {
        causes.push("host_memory");
    }
    causes.sort_unstable();
    causes
}

/// Whether a flash drive keeps deleted data that slows it down: TRIM never reached it, and its history
/// overwrote too much.
pub(crate) fn trims_nothing(spec: &Spec, flash: &FlashModel) -> bool {
    let keeps_deleted = spec.deleted > 0.0 || !with_trim(spec, flash.parameters).firmware.trim.works();
    keeps_deleted && is_overwritten(spec, flash)
}

/// Whether random overwrites force garbage collection to copy valid data. A page map is affected if it has
/// too little free space, log blocks always.
fn is_overwritten(spec: &Spec, flash: &FlashModel) -> bool {
    let costs = match flash.layer {
        Layer::Page(_) | Layer::Compressing(_) => spec.filled_share() >= SCATTERED_SHARE,
        Layer::Bast(_) | Layer::Fast(_) => true,
        // A block map keeps every page at its place.
        Layer::Block(_) => false,
    };
    spec.state == State::Used && costs
}

/// Causes outside of the drive, and those that hide what it is.
fn outside(spec: &Spec, own: &Model, model: &Model) -> Vec<&'static str> {
    let met = &model.situations;
    let faults = faults(spec, model).unwrap_or_default();
    let mut causes = Vec::new();
    causes.extend(faults.neighbor.map(|_| "background_io"));
    // A volume has no temperature; its provider throttles it.
    let is_volume = matches!(model.mechanism, Mechanism::Volume(_));
    causes.extend(faults.throttle.filter(|_| !is_volume).map(|_| "heat"));
    causes.extend(faults.real_capacity_bytes.map(|_| "counterfeit"));
    causes.extend(met.crypt.map(|_| "encryption"));
    causes.extend(met.wake.map(|_| "power_saving"));
    causes.extend(met.damaged_every_ios.map(|_| "link_errors"));
    causes.extend(met.firmware.map(|_| "firmware"));
    causes.extend(met.read_cache_bytes.map(|_| "read_cache"));
    causes.extend(met.array_bytes_per_s.map(|_| "degraded_array"));
    if let Some(link) = met.link {
        let (before, now) = (own.mechanism.link(), model.mechanism.link());
        let own_rate = explain::sequential_read_bytes_per_s(spec, own);
        let is_narrow =
            (now.bytes_per_s as f64) < own_rate || now.command_slots < before.command_slots.min(4);
        let name = if link.bus == Bus::Usb { "slow_usb" } else { "narrow_link" };
        causes.extend(is_narrow.then_some(name));
    }
    causes
}

fn of_flash(spec: &Spec, flash: &FlashModel) -> Vec<&'static str> {
    let past = past(spec, flash);
    let parameters = &flash.parameters;
    let mut causes = Vec::new();
    if spec.fill.is_some() && spec.in_use() >= NEARLY_FULL {
        causes.push("nearly_full");
    }
    causes.extend(trims_nothing(spec, flash).then_some("no_trim"));
    causes.extend((spec.deleted == 0.0 && is_overwritten(spec, flash)).then_some("scattered_data"));
    let is_old = parameters
        .aging
        .is_some_and(|aging| past.fill > 0.0 && aging.senses((past.age.0 / 1_000_000_000) as i64) > 1);
    causes.extend(is_old.then_some("old_data"));
    let heats_up = parameters.thermal.is_some_and(|thermal| {
        let power_w = thermal.idle_w + parameters.link.bytes_per_s as f64 * thermal.read_nj_per_byte * 1e-9;
        thermal.ambient_c + power_w * thermal.resistance_k_per_w > thermal.throttle_c
    });
    causes.extend(heats_up.then_some("heat"));
    match flash.layer {
        Layer::Page(PageMapParameters { slc_cache: Some(_), .. }) => causes.push("slc_cache"),
        Layer::Compressing(_) => causes.push("compression"),
        _ => {}
    }
    causes.extend(
        parameters
            .wear_retries
            .filter(|wear_retries| wear_retries.share >= WORN_OUT_SHARE)
            .map(|_| "worn_out"),
    );
    causes
}

/// Whether a multiple of 4 KiB on the host is not aligned on the medium.
fn is_misaligned(model: &Model) -> bool {
    let Some(shift) = model.situations.shift_bytes else { return false };
    let unit = match &model.mechanism {
        Mechanism::Flash(flash) => u64::from(flash.parameters.page_bytes),
        Mechanism::Disk(disk) if disk.shingles.is_none() => {
            disk.physical_sectors * u64::from(model.sector_bytes)
        }
        Mechanism::Disk(_) | Mechanism::Volume(_) => 1,
    };
    !shift.is_multiple_of(unit)
}

fn map_cache(model: &Model) -> u64 {
    match &model.mechanism {
        Mechanism::Flash(flash) => flash.parameters.map_cache.map_or(0, |cache| cache.bytes),
        Mechanism::Disk(_) | Mechanism::Volume(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes_of(text: &str) -> String {
        let spec = Spec::parse(&format!("sim:{text}")).expect(text);
        let model = spec.model(|_| unreachable!("no file is named")).expect(text);
        causes(&spec, &model).join(" ")
    }

    #[test]
    fn each_situation_is_named_where_it_is_at_work() {
        for (target, expected) in [
            ("tiny-flash", ""),
            ("tiny-flash?fill=0.5", ""),
            ("tiny-flash?state=used&fill=0.3", ""),
            ("tiny-flash?state=used&fill=0.5", "scattered_data"),
            ("tiny-flash?state=used", "scattered_data"),
            ("tiny-flash?state=used&trim=off", "no_trim scattered_data"),
            ("tiny-flash?state=used&fill=1", "nearly_full scattered_data"),
            ("tiny-flash?fill=0.95", "nearly_full"),
            ("tiny-flash?state=used&fill=0.95&deleted=0.4", "no_trim"),
            ("tiny-flash?state=used&fill=0.7", "scattered_data"),
            ("tiny-flash?state=used&fill=0.7&deleted=0.4", "no_trim"),
            ("intel-x25-m-80gb?state=used&fill=1", "nearly_full no_trim scattered_data"),
            ("samsung-slc?state=used&fill=0.5", "no_trim scattered_data"),
            ("tiny-flash?link=sata1.5g", "narrow_link"),
            ("tiny-flash?link=sata6g", ""),
            ("tiny-flash?link=usb2", "slow_usb"),
            ("tiny-flash?crypt=100MB/s&wake=1ms", "encryption power_saving"),
            ("tiny-flash?shift=512", "misalignment"),
            ("tiny-flash?shift=4096", ""),
            ("tiny-flash?fragments=4KiB", ""),
            ("tiny-flash?wear=0.9&busy=100", "background_io worn_out"),
            ("tiny-flash?wear=0.1", ""),
            ("tiny-flash?throttle=0.2", "heat"),
            ("qlc-nvme-1tb?hmb=off", "host_memory slc_cache"),
            ("qlc-nvme-1tb?hmb=64MiB", "slc_cache"),
            ("cloud-gp2-100gib", ""),
            ("cloud-gp2-100gib?lazy=on", "lazy_volume"),
            ("cloud-gp2-100gib?throttle=0.2", ""),
            ("cloud-gp2-100gib?state=used", "token_bucket"),
            ("tiny-flash?crc=500&firmware=500ms", "firmware link_errors"),
            ("tiny-flash?readcache=1GiB&array=10MB/s", "degraded_array read_cache"),
            ("disk-2tb", ""),
            (
                "disk-2tb?fragments=64KiB&slow_region=0.01&cache=off&shift=512",
                "fragmentation misalignment slow_region write_cache_off",
            ),
            ("wd6400aaks?shift=512", ""),
            ("wd6400aaks?link=sata1.5g", ""),
            ("disk-2tb?part=0.2", ""),
            ("disk-2tb?part=0.6", "inner_tracks"),
            ("tiny-flash?part=0.6", ""),
            ("seagate-archive-8tb", "shingled"),
            ("fake-stick-512gb", "counterfeit"),
            ("intel-520-120gb", "compression"),
        ] {
            assert_eq!(causes_of(target), expected, "{target}");
        }
    }
}
