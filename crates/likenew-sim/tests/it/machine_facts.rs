//! A simulated drive reports what a machine with such a drive would show, and no more.

use crate::closed_loop::{Load, open, run};
use likenew_core::drive::Drive as _;
use likenew_core::facts::{Facts, LayerKind};
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_sim::SimDrive;

fn ask(drive: &mut SimDrive) -> Facts {
    match drive.probe(&Probe::Facts).unwrap() {
        ProbeResult::Facts(facts) => *facts,
        other => panic!("{other:?}"),
    }
}

fn facts(spec: &str) -> Facts {
    ask(&mut open(&format!("sim:{spec}")))
}

#[test]
fn a_link_below_its_best_shows_and_one_at_its_best_does_not() {
    let slow = &facts("tlc-nvme-1tb?link=pcie3x2").drives[0].link;
    assert_eq!((slow.hops[0].lanes.get(), slow.hops[0].lanes_max.get()), (Some(2), Some(4)));
    assert_eq!(slow.ceiling_bytes_per_s.get(), Some(1_969_230_769));
    assert!(slow.possible_bytes_per_s.get() > slow.ceiling_bytes_per_s.get());
    let own = &facts("tlc-nvme-1tb").drives[0].link;
    assert_eq!(own.possible_bytes_per_s, own.ceiling_bytes_per_s);
    assert_eq!(own.bus.value().map(String::as_str), Some("PCIe"));
    let bridge = facts("tiny-flash?link=usb2");
    let link = &bridge.drives[0].link;
    assert_eq!(link.driver.value().map(String::as_str), Some("usb-storage"));
    assert_eq!((link.queue_depth.get(), link.possible_bytes_per_s.get()), (Some(1), Some(500_000_000)));
    assert!(bridge.drives[0].health.failing.reason().is_some(), "a bridge passes no health on");
    assert!(
        facts("tlc-sata-500gb?link=usb3.0").drives[0]
            .link
            .driver
            .value()
            .is_some_and(|driver| driver == "uas")
    );
}

#[test]
fn the_stack_has_what_lies_above_the_drive() {
    let facts = facts("disk-2tb?crypt=300MB/s&shift=512");
    let kinds: Vec<LayerKind> = facts.stack.iter().map(|layer| layer.kind).collect();
    assert_eq!(kinds, [LayerKind::Crypt, LayerKind::Partition, LayerKind::Disk]);
    let [crypt, partition, disk] = &facts.stack[..] else { panic!("three layers") };
    assert_eq!((&*crypt.on, &*partition.on), (&["drive1".to_owned()][..], &["drive".to_owned()][..]));
    assert_eq!(
        (partition.misaligned_by(4096), partition.alignment_offset_bytes.get()),
        (Some(512), Some(3584))
    );
    assert_eq!((disk.logical_block_bytes.get(), disk.physical_block_bytes.get()), (Some(512), Some(4096)));
    assert!(crypt.takes_trim.get() == Some(false), "the disk below takes none");
    let mut drive = open("sim:disk-2tb?part=0.6&fill=0.8");
    let facts = ask(&mut drive);
    let [partition, disk] = &facts.stack[..] else { panic!("two layers") };
    let (start, bytes) = (partition.start_bytes.get().unwrap(), drive.geometry().capacity);
    assert_eq!((partition.kind, partition.capacity_bytes.get()), (LayerKind::Partition, Some(bytes)));
    assert_eq!(Some(start + bytes), disk.capacity_bytes.get());
    let used = facts.file_system.unwrap().used_percent.get().unwrap();
    assert!((used - 50.0).abs() < 0.01, "files lie up to 80% of the disk: {used}");
}

#[test]
fn a_hidden_truth_stays_hidden() {
    let fake = open("sim:fake-stick-512gb").geometry().capacity;
    assert_eq!(facts("fake-stick-512gb").drives[0].identity.capacity_bytes.get(), Some(fake));
    let shingled = facts("seagate-archive-8tb");
    assert_eq!(shingled.drives[0].space.zones.model.value().map(String::as_str), Some("none"));
    assert_eq!(shingled.drives[0].database.shingled.get(), None);
    let silent = open("sim:tiny-flash?facts=off&link=usb2").probe(&Probe::Facts).unwrap();
    assert!(matches!(silent, ProbeResult::Unknown(reason) if reason.contains("container")));
}

#[test]
fn state_wear_and_habits_are_reported() {
    let worn = facts("tlc-sata-500gb?wear=0.9&fill=0.01&age=30d");
    let health = &worn.drives[0].health;
    assert_eq!((health.used_percent.get(), health.spare_percent.get()), (Some(90.0), Some(32.0)));
    let files = worn.files.as_ref().unwrap();
    assert_eq!(files.content_age_s_p50.get(), Some(30 * 86_400));
    let system = worn.file_system.as_ref().unwrap();
    assert!((system.used_percent.get().unwrap() - 1.0).abs() < 0.01);
    let pieces = facts("disk-2tb?fragments=64KiB&slow_region=0.01&cache=off");
    assert!((pieces.files.unwrap().extents_per_mib.get().unwrap() - 16.0).abs() < 0.01);
    assert_eq!(pieces.stack[0].write_cache.value().map(String::as_str), Some("write through"));
    let (health, counts) = (&pieces.drives[0].health, &pieces.drives[0].counts);
    assert!(health.pending_sectors.get() > Some(100) && counts.reallocated_sectors.get() > Some(50));
    let refused = facts("qlc-nvme-1tb?hmb=off").drives[0].host_memory.clone().unwrap();
    assert_eq!((refused.is_refused(), refused.given_bytes.get()), (Some(true), Some(0)));
    assert_eq!(facts("qlc-nvme-1tb").drives[0].host_memory.clone().unwrap().is_refused(), Some(false));
    assert_eq!(facts("tlc-nvme-1tb?wake=5ms").drives[0].power.wake_us_max.get(), Some(5000));
    let used = facts("tiny-flash?state=used&trim=off");
    assert!(used.file_system.as_ref().unwrap().used_bytes.reason().is_some());
    assert_eq!(used.trim_blocked_by().map(|layer| &*layer.name), Some("drive"));
}

#[test]
fn counters_grow_with_what_was_done_and_by_whom() {
    let load =
        Load { op: Op::Read, random: true, length: 1 << 20, depth: 8, start: 0, span: 1 << 30, ios: 1000 };
    let mut drive = open("sim:tiny-flash?state=used&busy=500");
    let before = ask(&mut drive);
    run(&mut drive, load);
    let since = ask(&mut drive).since(&before);
    let counts = &since.drives[0].counts;
    assert!(counts.bytes_read.get() > Some(1000 << 20), "the neighbor's count, too");
    assert!(counts.bytes_written.get() > Some(0));
    let quiet = &facts("tiny-flash").drives[0];
    assert_eq!(
        (quiet.others_read_bytes_per_s.get(), quiet.others_write_bytes_per_s.get()),
        (Some(0), Some(0))
    );
    // 300 reads and 200 writes of 16 KiB a second.
    let rate = before.drives[0].others_read_bytes_per_s.get().unwrap() as f64 / (300.0 * 16_384.0);
    assert!((0.6..1.4).contains(&rate), "{rate}");

    let mut volume = open("sim:cloud-gp2-100gib?state=used");
    let before = ask(&mut volume);
    run(&mut volume, Load { length: 4096, ios: 2000, depth: 32, ..load });
    let counts = &ask(&mut volume).since(&before).drives[0].counts;
    assert!(counts.volume_iops_exceeded_us.get() > Some(4_000_000), "{counts:?}");
    assert_eq!(counts.volume_throughput_exceeded_us.get(), Some(0));

    let mut loose = open("sim:tiny-flash?crc=100&firmware=100ms&array=10MB/s");
    let before = ask(&mut loose);
    run(&mut loose, load);
    let after = ask(&mut loose);
    let counts = &after.since(&before).drives[0].counts;
    assert!((2..30).contains(&counts.crc_errors.get().unwrap()), "{counts:?}");
    assert_eq!(counts.log_link_errors.get(), counts.crc_errors.get());
    assert!(after.drives[0].database.warning.value().unwrap().as_ref().unwrap().contains("update"));
    let array = after.layers_of(LayerKind::Array).next().unwrap();
    assert_eq!(array.members_missing.get(), Some(1));
    assert_eq!(array.busy_with.value().map(String::as_str), Some("recover"));

    let mut hot = open("sim:tiny-flash?throttle=0.2");
    let before = ask(&mut hot);
    run(&mut hot, Load { ios: 4000, ..load });
    assert!(ask(&mut hot).since(&before).drives[0].counts.throttled_light_s.get() >= Some(1));
}
