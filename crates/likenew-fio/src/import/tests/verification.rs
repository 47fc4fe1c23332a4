//! Reads results of jobs that verified what they wrote.

use likenew_core::io::Op;
use likenew_core::segment::Stop;
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;

use super::super::import;
use super::{caveat, one};

#[test]
fn what_is_read_to_verify_has_its_own_time() {
    let imported = import(sample!("verify.json")).unwrap();
    let [written, verify_counts] = &imported.segments[..] else { panic!("two workloads") };
    assert_eq!(format!("{}, verify", written.workload.name), verify_counts.workload.name);
    assert_eq!(verify_counts.workload.streams[0].op, Mix::Only(Op::Read));
    for (segment, op, other, ms) in
        [(written, Op::Write, Op::Read, 238), (verify_counts, Op::Read, Op::Write, 3)]
    {
        assert_eq!((segment.ios(op), segment.ios(other), segment.stop), (16, 0, Stop::Reached));
        assert_eq!(segment.elapsed(), Nanos::from_millis(ms));
    }
    caveat(&imported, "over its own time");
    let (imported, segment) = one(sample!("verify_bad.json"));
    assert_eq!((segment.ios(Op::Read), segment.stop), (5, Stop::JobFailed { errno: 84 }));
    caveat(&imported, "failed: it read other data");
}

#[test]
fn a_mix_that_verifies_is_one_workload_whose_reads_are_of_both() {
    let (imported, segment) = one(sample!("verify_mix.json"));
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write), segment.stop), (16, 3, Stop::Reached));
    assert_eq!(segment.workload.streams[0].op, Mix::Reads(50));
    assert_eq!(segment.elapsed(), Nanos::from_millis(39));
    caveat(&imported, "\"mix\": fio does not tell the mix's own reads from those that verify");
    assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("over its own time")));
    // This job wrote headers only.
    let (imported, segment) = one(sample!("verify_mix_off.json"));
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write)), (10, 6));
    assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("from those that verify")));
    let text = sample!("mixed.json").replace("\"rw\" :", "\"verify\" : \"crc32c\", \"rw\" :");
    let (imported, segment) = one(&text);
    // 70% reads, 30% writes, and another 30% reads that verify.
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write)), (788, 236));
    caveat(&imported, "from those that verify");
}

#[test]
fn what_is_verified_between_the_writes_shares_their_time() {
    let (imported, segment) = one(sample!("verify_backlog.json"));
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write), segment.stop), (16, 16, Stop::Reached));
    // fio gives 1 ms only to the reads after the last write.
    assert_eq!(segment.elapsed(), Nanos::from_millis(235 + 1));
    caveat(&imported, "verify_backlog");
}

#[test]
fn what_verify_only_did_not_write_is_left_out() {
    let (imported, segment) = one(sample!("verify_only.json"));
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write), segment.stop), (16, 0, Stop::Reached));
    assert_eq!(segment.workload.name, "vonly, verify");
    assert_eq!(segment.bytes_per_s(), Some(f64::from(1 << 20) / 0.002));
    caveat(&imported, "verify_only wrote nothing");
    assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("no rate")));
    let (imported, segment) = one(sample!("verify_only_mix.json"));
    assert_eq!((segment.stop, segment.total().bytes), (Stop::JobFailed { errno: 84 }, 0));
    caveat(&imported, "nothing of it is shown");
}

#[test]
fn what_was_written_and_verified_as_one_number_has_no_rate() {
    let (imported, segment) = one(sample!("verify_unified.json"));
    assert_eq!((segment.total().ios, segment.bytes_per_s()), (32, None));
    caveat(&imported, "no rate is known; leave out unified_rw_reporting");
}

/// Another process changed a byte of a block between fio's write and its read. In the last sample, the file system
/// answers reads beyond an offset with EIO.
#[test]
fn an_error_that_ends_the_verification_leaves_the_writes_as_they_were() {
    for (text, errno, (write_ms, read, read_ms)) in [
        (sample!("verify_damaged.json"), 84, (235, 6, 2)),
        (sample!("verify_damaged_first.json"), 84, (235, 1, 1)),
        (sample!("verify_goes_on.json"), 84, (235, 16, 3)),
        (sample!("verify_unreadable.json"), 5, (56, 6, 17)),
    ] {
        let imported = import(text).unwrap();
        let [written, verify_counts] = &imported.segments[..] else { panic!("two workloads") };
        assert_eq!((written.stop, written.errors(), written.ios(Op::Write)), (Stop::Reached, 0, 16));
        assert_eq!(written.bytes_per_s(), Some(f64::from(1 << 20) / f64::from(write_ms) * 1e3));
        assert_eq!(
            (
                verify_counts.stop,
                verify_counts.errors(),
                verify_counts.ios(Op::Read),
                verify_counts.bytes_per_s()
            ),
            (Stop::JobFailed { errno }, 1, read, None)
        );
        assert_eq!(verify_counts.elapsed(), Nanos::from_millis(read_ms));
        caveat(&imported, &format!("\"{}\": failed:", verify_counts.workload.name));
    }
}

#[test]
fn an_error_that_may_be_of_either_phase_leaves_neither_with_a_rate() {
    let text = sample!("verify_goes_on.json").replace(": 84", ": 5");
    let imported = import(&text).unwrap();
    let [written, verify_counts] = &imported.segments[..] else { panic!("two workloads") };
    for segment in [written, verify_counts] {
        assert_eq!((segment.stop, segment.bytes_per_s()), (Stop::JobFailed { errno: 5 }, None));
    }
    assert_eq!((written.errors(), verify_counts.errors()), (1, 0));
    // One write skipped an error, and the verification ended with another one.
    let text = sample!("verify_goes_on.json").replace("\"first_error\" : 84", "\"first_error\" : 5");
    let imported = import(&text).unwrap();
    let [written, verify_counts] = &imported.segments[..] else { panic!("two workloads") };
    assert_eq!(
        (written.stop, verify_counts.stop),
        (Stop::JobFailed { errno: 5 }, Stop::JobFailed { errno: 84 })
    );
    // If a job ran in loops, only differing data prove that the error was met while reading.
    for (errno, writes) in [(84, Stop::Reached), (5, Stop::JobFailed { errno: 5 })] {
        let text = sample!("verify_damaged.json")
            .replace("\"rw\" :", "\"loops\" : \"2\", \"rw\" :")
            .replace("\"error\" : 84", &format!("\"error\" : {errno}"));
        assert_eq!(import(&text).unwrap().segments[0].stop, writes);
    }
}
