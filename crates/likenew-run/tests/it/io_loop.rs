//! The loop, on a drive in memory with known latencies.

use std::ops::ControlFlow;

use likenew_core::io::{Op, Sample};
use likenew_core::memory::Memory;
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::{Access, Workload};
use likenew_run::run::{RunError, run};

const SERVICE: Nanos = Nanos::from_micros(10);

fn workload(text: &str) -> Workload {
    toml::from_str(&format!("name = \"w\"\nseed = 1\n{text}")).unwrap()
}

fn reads(until: &str, depth: u32) -> Workload {
    workload(&format!(
        "until = {{ {until} }}\n[[stream]]\nop = \"read\"\nsize = \"4k\"\npattern.random = \"whole\"\narrival.closed.depth = {depth}"
    ))
}

fn drive(servers: usize) -> Memory {
    Memory::new(1 << 20, SERVICE, servers)
}

fn run_quietly(mut drive: Memory, workload: &Workload) -> Segment {
    let ran = run(&mut drive, workload, &mut || Box::new(())).unwrap();
    assert!(ran.target_error.is_none());
    ran.segment
}

#[test]
fn a_closed_pace_keeps_its_depth_in_flight() {
    // Little's law, exactly: depth 8 over 4 servers of 10 µs gives 400,000 IOPS at 20 µs each.
    let segment = run_quietly(drive(4), &reads("ops = 4000", 8));
    assert_eq!(segment.iops(), Some(400_000.0));
    let total = segment.total();
    assert_eq!(total.ios, 4000);
    assert!((total.latency_ns_mean() - 20_000.0).abs() < 50.0, "{}", total.latency_ns_mean());
    assert_eq!(segment.stop, Stop::Reached);
}

#[test]
fn zeros_are_written_even_where_a_read_has_just_filled_the_buffer() {
    let mut drive = drive(2);
    let mut run_here = |text: &str| {
        let ran = run(&mut drive, &workload(text), &mut || Box::new(())).unwrap();
        assert!(ran.target_error.is_none());
        drive.bytes().to_vec()
    };
    let written = run_here(
        "until = { bytes = '1M' }\n[[stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 4\ndata = 'random'",
    );
    let mixed = run_here(
        "until = { ops = 200 }\n[[stream]]\nop = 'mix:50'\nsize = '4k:1,8k:1'\npattern.random = 'whole'\narrival.closed.depth = 2\ndata = 'zero'",
    );
    let zero = [0; 512];
    let blocks = || mixed.chunks(zero.len()).zip(written.chunks(zero.len()));
    assert!(
        blocks().all(|(now, before)| now == zero || now == before),
        "a write brought what a read had read"
    );
    let zeros = blocks().filter(|(now, _)| *now == zero).count();
    assert!((500..2000).contains(&zeros), "{zeros} blocks of 2048 are zero");
}

#[test]
fn each_bound_ends_a_workload() {
    assert_eq!(run_quietly(drive(1), &reads("ops = 17", 4)).total().ios, 17);
    assert_eq!(run_quietly(drive(1), &reads("bytes = '64k'", 4)).total().bytes, 64 << 10);
    // 1 ms of 10 µs each; nothing is issued at the deadline, and what is in flight ends.
    let timed = run_quietly(drive(1), &reads("elapsed = '1ms'", 1));
    assert_eq!((timed.total().ios, timed.elapsed()), (100, Nanos::from_millis(1)));
    let first = run_quietly(drive(1), &reads("elapsed = '1s', ops = 5, bytes = '1M'", 1));
    assert_eq!(first.total().ios, 5);
}

#[test]
fn an_open_pace_is_kept_and_lateness_counts_as_latency() {
    let open = |per_second: u32| {
        workload(&format!(
            "until = {{ elapsed = '100ms' }}\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.open = {{ per_second = {per_second}.0, depth_max = 4 }}"
        ))
    };
    let calm = run_quietly(drive(1), &open(50_000));
    assert_eq!(calm.total().ios, 5_000);
    assert_eq!(calm.total().latency_ns_mean(), 10_000.0);
    // One server of 10 µs does 100,000 IOPS; 200,000 are due, so the queue grows by 1 ms every 2 ms: the last
    // I/O served within 100 ms was due after 50 ms.
    let swamped = run_quietly(drive(1), &open(200_000));
    assert!((swamped.total().latency.max().as_secs_f64() - 0.05).abs() < 0.001);
    assert!((swamped.total().latency_ns_mean() - 25e6).abs() < 0.5e6);
}

#[test]
fn poisson_arrivals_come_at_the_mean_rate_and_bunch() {
    let segment = run_quietly(
        drive(8),
        &workload(
            "until = { elapsed = '1s' }\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.open = { per_second = 50000.0, inter_arrival = 'poisson', depth_max = 64 }",
        ),
    );
    // The standard deviation of the count is √50,000 = 224.
    assert!((segment.total().ios as f64 - 50_000.0).abs() < 1_000.0, "{}", segment.total().ios);
}

#[test]
fn a_mix_and_several_sizes_come_in_their_shares() {
    let segment = run_quietly(
        drive(1),
        &workload(
            "until = { ops = 20000 }\n[[stream]]\nop = 'mix:70'\nsize = '4k:3,8k:1'\npattern.random = 'whole'\narrival.closed.depth = 4",
        ),
    );
    let reads = segment.ios(Op::Read) as f64 / 20_000.0;
    assert!((reads - 0.7).abs() < 0.015, "{reads}");
    let mean = segment.total().bytes as f64 / 20_000.0;
    assert!((mean - 5120.0).abs() < 60.0, "{mean}");
}

#[test]
fn a_rest_lasts_as_long_as_it_says() {
    let segment = run_quietly(drive(1), &workload("until = { elapsed = '10min' }"));
    assert_eq!((segment.elapsed(), segment.total().ios), (Nanos::from_secs(600), 0));
}

#[test]
fn copies_of_a_stream_share_one_lane_of_a_simulated_drive() {
    let mut four = reads("ops = 4000", 2);
    four.lanes = 4;
    let segment = run_quietly(drive(8), &four);
    assert_eq!(segment.total().ios, 4000);
    assert_eq!(segment.iops(), Some(800_000.0));
}

#[test]
fn equal_seeds_make_equal_records_and_others_do_not() {
    let text = |seed| {
        let mut workload = reads("ops = 1000", 4);
        workload.seed = seed;
        serde_json::to_string(&run_quietly(drive(3), &workload).slowest).unwrap()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn a_bad_place_is_counted_and_a_full_drive_ends_the_workload() {
    let medium = run_quietly(drive(1).with_bad(0..4096, 5), &reads("ops = 2000", 1));
    assert_eq!(medium.total().ios, 2000);
    assert!(medium.errors() > 0 && medium.refused_ios.iter().all(|sample| sample.offset == 0));
    const ENOSPC: i32 = 28;
    let full = workload(
        "until = { bytes = '1M' }\n[[stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 4",
    );
    let segment = run_quietly(drive(1).with_bad(1 << 19..1 << 20, ENOSPC), &full);
    assert_eq!(segment.stop, Stop::Failed { op: Op::Write, offset: 1 << 19, errno: ENOSPC });
    assert_eq!(segment.total().bytes, 1 << 19);
}

#[test]
fn what_was_measured_before_the_drive_vanished_is_kept() {
    let ran = run(&mut drive(1).lost_after(500), &reads("ops = 1000", 1), &mut || Box::new(())).unwrap();
    assert!(ran.target_error.unwrap().to_string().contains("disappeared"));
    assert_eq!(ran.segment.total().ios, 500);
}

#[test]
fn a_workload_that_does_not_fit_is_refused_before_anything_happens() {
    let mut odd = reads("ops = 1", 1);
    odd.streams[0].size = "100".parse().unwrap();
    assert!(
        matches!(run(&mut drive(1), &odd, &mut || Box::new(())), Err(RunError::Unfit(reason)) if reason.contains("100 bytes"))
    );
    let write = workload(
        "until = { ops = 1 }\n[[stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 1",
    );
    assert!(matches!(run(&mut drive(1).read_only(), &write, &mut || Box::new(())), Err(RunError::Unfit(_))));
}

#[test]
fn what_the_drive_counted_meanwhile_is_part_of_the_record() {
    let mut drive = drive(2);
    for _ in 0..2 {
        let ran = run(&mut drive, &reads("ops = 100", 4), &mut || Box::new(())).unwrap();
        let device_counters = ran.segment.device_counters.unwrap();
        assert_eq!(
            (device_counters.reads, device_counters.bytes_read, device_counters.writes),
            (100, 100 * 4096, 0)
        );
        assert_eq!(device_counters.busy, Nanos(100 * SERVICE.0));
    }
}

#[test]
fn a_flush_at_the_end_counts() {
    let text = |flush: &str| {
        format!(
            "until = {{ ops = 10 }}\n{flush}[[stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\narrival.closed.depth = 1"
        )
    };
    let without = run_quietly(drive(1), &workload(&text("")));
    let with = run_quietly(drive(1), &workload(&text("flush = true\n")));
    assert_eq!((without.ios(Op::Flush), with.ios(Op::Flush)), (0, 1));
    assert_eq!(with.elapsed(), without.elapsed() + SERVICE);
    assert_eq!((with.bytes(Op::Write), with.total_of(Op::Flush).latency_ns_sum), (10 * 4096, SERVICE.0));
    // After a stop nothing waits for the flush.
    let mut stopped = workload(&text("flush = true\n"));
    stopped.until.ops = Some(1000);
    let ran = run(&mut drive(1), &stopped, &mut || Box::new(StopAfter(5))).unwrap();
    assert_eq!(ran.segment.ios(Op::Flush), 0);
}

#[test]
fn a_stream_makes_its_writes_durable_every_so_many() {
    let commits = |depth: u32, every: u32, arrival: &str| {
        run_quietly(
            drive(4),
            &workload(&format!(
                "until = {{ ops = 12 }}\n[[stream]]\nop = 'write'\nsize = '4k'\npattern.sequential = 'whole'\nflush_every = {every}\n{arrival}depth{} = {depth}",
                if arrival.contains("open") { "_max" } else { "" }
            )),
        )
    };
    let closed = "arrival.closed.";
    let one = commits(1, 1, closed);
    // The last flush would come after the last I/O that was asked for.
    assert_eq!((one.ios(Op::Write), one.ios(Op::Flush)), (12, 11));
    assert_eq!(
        (one.elapsed(), one.iops()),
        (Nanos(23 * SERVICE.0), Some(12.0 / (23.0 * SERVICE.as_secs_f64())))
    );
    // Four go together, and nothing goes beside their flush.
    let four = commits(4, 4, closed);
    assert_eq!((four.ios(Op::Write), four.ios(Op::Flush), four.elapsed()), (12, 2, Nanos(5 * SERVICE.0)));
    let paced = commits(4, 2, "arrival.open.per_second = 1000\narrival.open.");
    assert_eq!((paced.ios(Op::Write), paced.ios(Op::Flush)), (12, 5));
    // Both kinds fall on the sixth write, and one of them is enough.
    let both = commits(1, 2, "fsync_every = 3\narrival.closed.");
    assert_eq!((both.ios(Op::Write), both.ios(Op::Flush)), (12, 7));
    let reads = workload(
        "until = { ops = 1 }\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.closed.depth = 1\nflush_every = 1",
    );
    let refused = run(&mut drive(1), &reads, &mut || Box::new(())).err().unwrap();
    assert!(refused.to_string().contains("flush_every"), "{refused}");
}

#[test]
fn a_drive_without_a_page_cache_refuses_to_use_one() {
    let usual = reads("ops = 1", 1);
    let buffered = Workload { access: Access::Buffered, ..usual.clone() };
    let null = Workload { access: Access::Null, ..usual.clone() };
    for odd in [buffered, null, Workload { cold: true, ..usual }] {
        let refused = run(&mut drive(1), &odd, &mut || Box::new(()));
        assert!(
            matches!(refused, Err(RunError::TargetError(target_error)) if target_error.to_string().contains("no page cache"))
        );
    }
}

struct StopAfter(u64);

impl Recorder for StopAfter {
    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        self.0 = self.0.saturating_sub(samples.len() as u64);
        if self.0 == 0 { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn who_asks_to_stop_is_heard_and_what_was_in_flight_is_recorded() {
    let ran = run(&mut drive(1), &reads("ops = 1000000", 8), &mut || Box::new(StopAfter(100))).unwrap();
    assert_eq!(ran.segment.stop, Stop::Interrupted);
    assert_eq!(ran.segment.total().ios, 107);
}

#[test]
fn busy_time_is_the_time_in_which_anything_was_outstanding() {
    // 5,000 I/Os of 10 µs each, 20 µs apart, leave the drive idle half of the time.
    let calm = workload(
        "until = { elapsed = '100ms' }\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.open = { per_second = 50000.0, depth_max = 4 }",
    );
    let segment = run_quietly(drive(1), &calm);
    assert_eq!((segment.busy, segment.total().ios), (Nanos::from_millis(50), 5_000));
    assert!((segment.busy_bytes_per_s().unwrap() / (4096.0 / 10e-6) - 1.0).abs() < 1e-9);
    // A closed arrival leaves it no idle time.
    let segment = run_quietly(drive(4), &reads("ops = 4000", 8));
    assert_eq!(segment.busy, segment.elapsed());
    assert_eq!(run_quietly(drive(1), &workload("until = { elapsed = '1s' }")).busy, Nanos::ZERO);
}

#[test]
fn busy_time_agrees_with_the_samples() {
    for depth in [1, 2, 7] {
        let poisson = workload(&format!(
            "samples = 3000\nuntil = {{ ops = 3000 }}\n[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.open = {{ per_second = 40000.0, inter_arrival = 'poisson', depth_max = {depth} }}"
        ));
        let segment = run_quietly(drive(3), &poisson);
        let mut spans: Vec<(u64, u64)> =
            segment.samples.iter().map(|sample| (sample.sent.0, sample.done.0)).collect();
        assert_eq!(spans.len(), 3000);
        spans.sort_unstable();
        let (mut union, mut until) = (0, 0);
        for (sent, done) in spans {
            union += done.saturating_sub(sent.max(until));
            until = until.max(done);
        }
        assert_eq!(segment.busy, Nanos(union), "depth {depth}");
        assert!(segment.busy < segment.elapsed());
    }
}

#[test]
fn streams_that_take_turns_keep_their_proportions_to_the_last_io() {
    let stream = |op: &str, weight: u32, more: &str| {
        format!(
            "[[stream]]\nop = '{op}'\nsize = '4k'\npattern.random = 'whole'\narrival.interleaved = {{ weight = {weight}, depth = 4{more} }}\n"
        )
    };
    for more in ["", ", per_second = 100000.0"] {
        for lanes in [1, 3] {
            let text = format!("lanes = {lanes}\nuntil = {{ ops = {} }}\n", 1000 * lanes)
                + &stream("read", 970, more)
                + &stream("write", 29, more)
                + &stream("write", 1, more);
            let segment = run_quietly(drive(2), &workload(&text));
            let ios: Vec<u64> = segment.tallies.iter().map(|tally| tally.ios).collect();
            assert_eq!(ios, [970 * lanes, 29 * lanes, lanes], "lanes {lanes}{more}");
            assert_eq!(segment.errors(), 0);
        }
    }
    // Together they keep four in flight: four servers of 10 µs do 400,000 IOPS, and none waits.
    let text = format!("until = {{ ops = 1000 }}\n{}{}", stream("read", 1, ""), stream("write", 1, ""));
    let segment = run_quietly(drive(4), &workload(&text));
    assert_eq!((segment.iops(), segment.total().latency_ns_mean()), (Some(400_000.0), 10_000.0));
}
