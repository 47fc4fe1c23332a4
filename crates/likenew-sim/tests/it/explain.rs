//! A drive behaves as its description says.

use std::path::Path;

use crate::closed_loop::{Load, open, run};
use likenew_core::io::Op;
use likenew_sim::explain::{Ceiling, Explanation, Value};
use likenew_sim::{Spec, catalog};

const GIB: u64 = 1 << 30;

fn explain(spec: &str) -> Explanation {
    Spec::parse(spec).unwrap().explain(|_: &Path| unreachable!("no file is named")).unwrap()
}

fn ceiling<'d>(drive: &'d Explanation, rate_name: &str) -> &'d Ceiling {
    drive.ceilings.iter().find(|ceiling| ceiling.rate_name == rate_name).unwrap()
}

fn time(drive: &Explanation, name: &str) -> f64 {
    let time = drive.times.iter().find(|time| time.name.starts_with(name)).unwrap();
    time.value.number().unwrap()
}

#[test]
fn every_drive_is_explained_with_all_its_parameters() {
    for entry in catalog() {
        for state in ["new", "used"] {
            let drive = explain(&format!("sim:{}?state={state}", entry.name));
            assert_eq!(drive.sources, entry.model.sources);
            assert!(drive.layers.len() >= 4 && drive.state.starts_with(state), "{}", entry.name);
            assert!(
                drive.layers.iter().all(|layer| !layer.facts.is_empty() && !layer.description.is_empty())
            );
            for ceiling in &drive.ceilings {
                let limit = ceiling.limit().value.number().unwrap();
                assert!(limit > 0.0 && limit.is_finite(), "{}: {ceiling:?}", entry.name);
            }
        }
    }
}

#[test]
fn no_new_drive_is_faster_than_its_ceilings_and_most_come_near() {
    for entry in catalog() {
        let name = format!("sim:{}?state=new", entry.name);
        let drive = explain(&name);
        for (rate_name, op) in [("sequential read", Op::Read), ("sequential write", Op::Write)] {
            let load = Load { op, random: false, length: 1 << 17, depth: 32, start: 0, span: GIB, ios: 4096 };
            let mut made = open(&name);
            if op == Op::Read {
                run(&mut made, Load { op: Op::Write, ..load });
            }
            let (rate, limit) = (run(&mut made, load).bytes_per_s, ceiling(&drive, rate_name).limit());
            let share = rate / limit.value.number().unwrap();
            // Data still in buffers and caches when the last write is acknowledged has cost no time yet. A
            // drive that takes one command at a time cannot do two things at once.
            let slots = drive.layers[0].facts.iter().find(|fact| fact.name == "queue depth");
            let least = if slots.is_some_and(|slots| slots.value == Value::Count(1)) { 0.3 } else { 0.75 };
            let most = if op == Op::Write { 1.2 } else { 1.01 };
            assert!((least..most).contains(&share), "{name} {rate_name}: {rate} of {limit:?}");
        }
    }
}

#[test]
fn a_lone_io_takes_as_long_as_was_reported() {
    let alone = |name: &str, op| {
        let mut drive = open(name);
        let load = Load { op, random: true, length: 4096, depth: 1, start: 0, span: GIB, ios: 300 };
        if op == Op::Read {
            run(&mut drive, Load { op: Op::Write, random: false, depth: 8, ios: 262_144, ..load });
            // The last writes are programmed while these wait.
            run(&mut drive, load);
        }
        run(&mut drive, load).latency_ns_mean
    };
    for name in ["sim:tiny-flash", "sim:intel-x25-m-80gb"] {
        let estimate = time(&explain(name), "a 4 KiB read at QD1");
        let elapsed = alone(name, Op::Read);
        assert!((elapsed / estimate - 1.0).abs() < 0.02, "{name}: {elapsed} {estimate}");
    }
    let estimate = time(&explain("sim:tlc-nvme-1tb"), "a 4 KiB write at QD1");
    assert!((alone("sim:tlc-nvme-1tb", Op::Write) / estimate - 1.0).abs() < 0.01);
}

#[test]
fn advertised_figures_stand_beside_the_ceilings() {
    let drive = explain("sim:intel-x25-m-80gb");
    let write = ceiling(&drive, "sequential write");
    assert_eq!(write.advertised, Some(Value::BytesPerSecond(70e6)));
    assert!((write.advertised_share().unwrap() - 70.0 / 73.4).abs() < 0.01);
    assert_eq!(ceiling(&drive, "random 4 KiB read").advertised_share(), None);
}

#[test]
fn a_page_map_says_which_block_it_collects() {
    for (name, says) in [
        ("sim:tiny-flash", "garbage-collects its emptiest block"),
        ("sim:generated-853", "the emptiest of 9 random blocks"),
        ("sim:generated-801", "the block with the best cost-benefit of age and emptiness"),
    ] {
        let drive = explain(name);
        let layer = drive.layers.iter().find(|layer| layer.name.starts_with("translation layer")).unwrap();
        assert!(layer.description.contains(says), "{name}: {}", layer.description);
    }
}

#[test]
fn collecting_a_block_takes_reads_moves_programs_and_an_erasure() {
    let drive = explain("sim:tiny-flash");
    let layer = drive.layers.iter().find(|layer| layer.name.starts_with("translation layer")).unwrap();
    let fact =
        |name: &str| layer.facts.iter().find(|fact| fact.name == name).unwrap().value.number().unwrap();
    // 64 of 128 pages: tR of 50 µs, 4314 bytes twice over 80 MB/s, tPROG of 900 µs; and tBERS of 3.5 ms.
    let transfer = 4314.0 / 80e6 * 1e9;
    let expected = 64.0 * (50e3 + 2.0 * transfer + 900e3) + 3.5e6;
    assert!((fact("garbage-collecting a half-valid block") / expected - 1.0).abs() < 1e-4);
    assert_eq!(fact("erasing an empty block"), 3.5e6);
}

#[test]
fn the_bucket_of_a_volume_decides_its_ceilings() {
    let limit = |state: &str, rate_name: &str| {
        let drive = explain(&format!("sim:cloud-gp2-100gib?state={state}"));
        let limit = ceiling(&drive, rate_name).limit().clone();
        (limit.bottleneck, limit.value.number().unwrap())
    };
    assert_eq!(limit("new", "random 4 KiB write"), ("credits".into(), 3000.0));
    assert_eq!(limit("used", "random 4 KiB write"), ("credits".into(), 300.0));
    assert_eq!(limit("new", "sequential read"), ("throughput limit".into(), 134_217_728.0));
    assert_eq!(limit("used", "sequential read"), ("credits".into(), 300.0 * 262_144.0));
    let drive = explain("sim:cloud-gp2-100gib");
    assert_eq!(time(&drive, "full credits last"), 2000e9);
    assert_eq!(time(&drive, "empty credits refill"), 18_000e9);
}
