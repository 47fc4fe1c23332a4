//! A small run to keep.

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::instrument::{AddedLatency, Calibration, Instrument};
use likenew_core::io::{DataClass, Op, Outcome, Sample};
use likenew_core::procedure::Plan;
use likenew_core::segment::{Recorder as _, Segment, SegmentRecorder, Stop};
use likenew_core::target::{Clock, Geometry, Health};
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, Stream, Until, Workload};

use likenew_archive::Machine;

pub(crate) fn plan() -> Plan {
    let options = "files = 100\nsizes = ['4k', '1M']\nshare = 0.1".parse().unwrap();
    Plan::new("fill", Some("/mnt/my photos".into()), 7, options)
}

pub(crate) fn machine() -> Machine {
    let identity = Identity {
        name: "/mnt/my photos".into(),
        kind: TargetKind::Folder,
        model: Some("INTEL SSDSA2M080".into()),
        engine: "io_uring".into(),
        capacity_bytes: 80_026_361_856,
        block_bytes: 4096,
        facts: vec![("file system".into(), "ext4".into())],
        caveats: vec!["a \"quoted\" caveat\nof two lines".into()],
        accounting: None,
    };
    let geometry = Geometry {
        capacity: 80_026_361_856,
        block: 4096,
        boundary: Some(1 << 20),
        writable: true,
        trims: true,
        carries_data: true,
        clock: Clock::Wall,
    };
    let calibration = Calibration {
        timer_step_ns: 1,
        nop_iops: 2_345_678.901_234_5,
        overhead_ns_per_io: 0.1 + 0.2,
        random_data_bytes_per_s: 1e10 / 3.0,
        ratio_data_bytes_per_s: f64::MIN_POSITIVE,
        added_latency: Some(AddedLatency { call_ns: 1, wake_ns_p50: 2, wake_ns_p99: 3 }),
    };
    let instrument = Instrument {
        version: "0.1.0".into(),
        clock: Clock::Wall,
        engine: "io_uring".into(),
        system: Some("Debian GNU/Linux 13, Linux 6.12.9".into()),
        calibration: Some(calibration),
    };
    Machine::new("2026-03-14T15:09:26Z", identity, geometry, instrument)
}

/// The mixing step of SplitMix64 (Steele, Lea and Flood 2014): incompressible, like random I/O.
fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

pub(crate) fn sample(number: u64) -> Sample {
    Sample {
        stream: 0,
        op: Op::ALL[(number % 4) as usize],
        outcome: match number % 50 {
            13 => Outcome::Short(512),
            14 => Outcome::Error(5),
            _ => Outcome::Done,
        },
        length: 4096,
        offset: scattered(number) >> 24 << 12,
        due: Nanos(number * 1_000),
        sent: Nanos(number * 1_000 + number % 7),
        done: Nanos(number * 1_000 + 80_000 + number * number % 9_973),
    }
}

pub(crate) fn segment(number: u64) -> Segment {
    let stream = Stream::new(
        "mix:70".parse().unwrap(),
        "4k".parse().unwrap(),
        likenew_core::workload::AccessPattern::Random("whole".parse().unwrap()),
        Arrival::Closed { depth: 4 },
        DataClass::Ratio(0.3),
    );
    let name = format!("file {number} “ä”");
    let workload = Workload { seed: number, ..Workload::new(name, Until::ops(40), vec![stream]) };
    let mut recorder = SegmentRecorder::default();
    recorder.begin(&workload, Nanos(number * 40_000));
    let samples: Vec<Sample> = (number * 40..number * 40 + 40).map(sample).collect();
    assert!(recorder.record(&samples).is_continue());
    recorder.end(Nanos(number * 40_000 + 200_000));
    let mut segment = SegmentRecorder::join(vec![recorder], &workload, Stop::Reached);
    segment.health_after = Health {
        temperature_c: Some(36.6 + number as f64 / 3.0),
        wear_percent: None,
        throttling: Some(false),
    };
    segment.accounting = Some(FlashCounters {
        host_bytes_written: number,
        flash_bytes_programmed: 2 * number,
        erases: 1,
        write_amplification: 2.0 / 3.0,
        free_blocks: 9,
        wear: None,
    });
    segment
}
