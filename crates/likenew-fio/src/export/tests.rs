//! Checks exported job files line by line.

use likenew_core::target::Clock;
use proptest::prelude::*;

use super::*;

fn geometry() -> Geometry {
    Geometry {
        capacity: 64 << 20,
        block: 512,
        boundary: None,
        writable: true,
        trims: true,
        carries_data: true,
        clock: Clock::Wall,
    }
}

fn workload(text: &str) -> Workload {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn reads(more: &str) -> Workload {
    workload(&format!(
        "name = 'w'\n{more}\n[[stream]]\nop = 'read'\nsize = '4KiB'\npattern.random = '0..8MiB'\narrival.closed.depth = 4"
    ))
}

fn stream(until: &str, stream: &str) -> Workload {
    workload(&format!("name = 'w'\nuntil = {{ {until} }}\n[[stream]]\n{stream}"))
}

fn section(workload: &Workload) -> String {
    let text = export(std::slice::from_ref(workload), &geometry(), FILENAME_LEFT_OPEN, &[]).unwrap();
    text[text.find("clat_percentiles=0").unwrap()..].to_owned()
}

#[track_caller]
fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|exported| exported == *line), "no \"{line}\" in:\n{text}");
    }
}

#[test]
fn a_job_says_all_of_a_workload() {
    let text = section(&reads("lanes = 2\nseed = 18446744073709551615\nuntil = { elapsed = '1500ms' }"));
    has(&text, &["[w]", "rw=randread", "bs=4096", "offset=0", "size=8388608", "iodepth=4", "numjobs=2"]);
    has(&text, &["group_reporting=1", "time_based=1", "runtime=1500ms", "randseed=9223372036854775807"]);
    assert!(!text.contains("io_size") && !text.contains('#'), "{text}");
}

#[test]
fn bounds_are_divided_among_copies() {
    has(&section(&reads("lanes = 4\nuntil = { ops = 1000 }")), &["io_size=1024000"]);
    let uneven = section(&reads("lanes = 3\nuntil = { ops = 1000, elapsed = '2s' }"));
    has(&uneven, &["io_size=1368064", "runtime=2000ms"]);
    assert!(uneven.contains("# the bound does not divide") && !uneven.contains("time_based"), "{uneven}");
    has(&section(&reads("until = { bytes = 10000 }")), &["io_size=12288"]);
    let forward =
        "op = 'write'\nsize = '64KiB'\npattern.sequential = '8MiB..40MiB'\narrival.closed.depth = 1";
    let mut copies = stream("bytes = '32MiB'", forward);
    copies.lanes = 4;
    has(
        &section(&copies),
        &["offset=8388608", "size=8388608", "offset_increment=8388608", "io_size=8388608"],
    );
    copies.streams[0].pattern =
        likenew_core::workload::AccessPattern::Sequential("0..1000KiB".parse().unwrap());
    let text = section(&copies);
    has(
        &text,
        &[
            "size=196608",
            "offset_increment=256000",
            "# 237568 bytes at the end of the zone, less than an I/O per copy, are left out",
        ],
    );
}

#[test]
fn steps_and_alignments_are_reported() {
    let reads = |pattern: &str| {
        stream("ops = 9", &format!("op = 'read'\nsize = '4KiB'\narrival.closed.depth = 1\npattern.{pattern}"))
    };
    has(&section(&reads("strided = { region = 'whole', step = '64KiB' }")), &["rw=read:61440", "bs=4096"]);
    has(
        &section(&reads("random_aligned = { region = 'whole', align = '512' }")),
        &["rw=randread", "blockalign=512"],
    );
}

#[test]
fn mixes_lengths_paces_and_data_are_reported() {
    let text = section(&stream(
        "elapsed = '1s'",
        "op = 'mix:70'\nsize = '4KiB:2,64KiB:1'\npattern.zipf = { region = 'whole', theta = 1.0 }\n\
         arrival.open = { per_second = 200.0, inter_arrival = 'poisson', depth_max = 32 }\ndata = '0.25'",
    ));
    has(
        &text,
        &["rw=randrw", "rwmixread=70", "bssplit=4096/67:65536/33", "random_distribution=zipf:1.000001"],
    );
    has(&text, &["rate_iops=140,60", "rate_process=poisson", "iodepth=32", "buffer_compress_percentage=75"]);
    assert!(text.contains("# fio knows whole percents: the shares"), "{text}");
    let even = "op = 'write'\nsize = '4KiB'\npattern.random = 'whole'\ndata = 'zero'\narrival.open = { per_second = 0.5, depth_max = 1 }";
    has(&section(&stream("elapsed = '1s'", even)), &["rate=,2048", "zero_buffers=1"]);
}

#[test]
fn streams_run_side_by_side_and_rests_wait() {
    let stream =
        "[[stream]]\nop = 'read'\nsize = '4KiB'\npattern.random = 'whole'\narrival.closed.depth = 1\n";
    let both = workload(&format!("name = 'a; b'\nuntil = {{ elapsed = '1s' }}\n{stream}{stream}"));
    let text = section(&both);
    assert_eq!((text.matches("[a%3B b]").count(), text.matches("stonewall=1").count()), (2, 1), "{text}");
    let rest = section(&workload("name = 'rest'\nuntil = { elapsed = '250us' }"));
    has(&rest, &["description=likenew workload 1 rest", "ioengine=null", "runtime=250us", "stonewall=1"]);
}

#[test]
fn the_way_to_the_drive_is_reported_where_it_is_not_the_usual_one() {
    let exported = |more: &str| section(&reads(&format!("{more}\nuntil = {{ ops = 1 }}")));
    let plain = exported("");
    assert!(
        ["direct", "invalidate", "end_fsync", "ioengine"].iter().all(|word| !plain.contains(word)),
        "{plain}"
    );
    // By default fio drops the page cache, and a repeated read would come from the drive again.
    has(&exported("access = 'buffered'"), &["direct=0", "invalidate=0"]);
    has(
        &exported("access = 'buffered'\ncold = true\nflush = true"),
        &["direct=0", "invalidate=1", "end_fsync=1"],
    );
    has(&exported("access = 'null'"), &["ioengine=null"]);
    let writes = workload(
        "name = 'w'\nuntil = { ops = 8 }\n[[stream]]\nop = 'write'\nsize = '4KiB'\npattern.sequential = 'whole'\narrival.closed.depth = 1\nflush_every = 4",
    );
    has(&section(&writes), &["fdatasync=4"]);
    assert!(!section(&writes).contains("sync=0") && !section(&writes).contains("\nsync="));
    for (sync, word) in [(Durability::Data, "sync=dsync"), (Durability::File, "sync=sync")] {
        let mut durable = writes.clone();
        durable.streams[0] = Stream { fsync_every: 8, sync: Some(sync), ..durable.streams[0].clone() };
        has(&section(&durable), &["fdatasync=4", "fsync=8", word]);
    }
}

#[test]
fn a_job_file_that_writes_says_so_first() {
    let file = |op: &str| {
        let mut workload = reads("until = { ops = 1 }");
        workload.streams[0].op = op.parse().unwrap();
        export(&[workload], &geometry(), "/tmp/f", &[]).unwrap()
    };
    assert!(file("mix:50").contains("# CAUTION: these jobs write") && !file("read").contains("CAUTION"));
}

#[test]
fn what_fio_lacks_is_an_error_that_names_the_workload() {
    let case = |workload: &Workload, filename: &str, words: &str| {
        let error =
            export(std::slice::from_ref(workload), &geometry(), filename, &[]).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("\"w\""), "{error}");
    };
    let trim = stream(
        "elapsed = '1s'",
        "op = 'trim'\nsize = '4KiB'\npattern.sequential = 'whole'\narrival.closed.depth = 1",
    );
    case(&trim, "/tmp/file", "trims block devices only");
    has(&section(&trim), &["rw=trim"]);
    let mut flush = reads("until = { ops = 1 }");
    flush.streams[0].op = likenew_core::workload::Mix::Only(likenew_core::io::Op::Flush);
    case(&flush, "/tmp/file", "no job of flushes");
    let mut two = reads("until = { ops = 10 }");
    two.streams.push(two.streams[0].clone());
    case(&two, "/tmp/file", "until.elapsed");
    let mut rare = reads("until = { ops = 10 }");
    rare.streams[0].size = "4k:999,8k:1".parse().unwrap();
    case(&rare, "/tmp/file", "rarer");
    let slow = "op = 'read'\nsize = '4KiB'\npattern.random = 'whole'\narrival.open = { per_second = 0.1, depth_max = 1, inter_arrival = 'poisson' }";
    case(&stream("elapsed = '1s'", slow), "/tmp/file", "a pace of 0.1 IOPS");
    case(&reads("until = { elapsed = '1s' }\nlanes = 0"), "/tmp/file", "lane");
    let mut long = reads("until = { ops = 1 }");
    long.name = "w".repeat(300);
    assert!(export(&[long], &geometry(), "/tmp/f", &[]).unwrap_err().to_string().contains("longer than 250"));
    assert_eq!(export(&[], &geometry(), "/tmp/f", &[]), Err(ExportError::Nothing));
}

#[test]
fn names_of_files_that_fio_would_misread_are_refused() {
    let workloads = [reads("until = { ops = 1 }")];
    for name in ["", "/a#b", "/a;b", "/$HOME/x", "/a\nb", " /a"] {
        let error = export(&workloads, &geometry(), name, &[]).unwrap_err();
        assert!(matches!(error, ExportError::Filename(_)), "{name:?}: {error}");
    }
    assert!(export(&workloads, &geometry(), "/mnt/a:b", &[]).unwrap().contains("\nfilename=/mnt/a\\:b\n"));
}

proptest! {
    /// Every line is a comment, a section or an option, whatever the workload's name and the notes contain.
    #[test]
    fn a_job_file_stays_one(name in any::<String>(), note in any::<String>(), lanes in 1u32..9, ops in 1u64..1 << 40) {
        let mut workload = reads(&format!("lanes = {lanes}\nuntil = {{ ops = {ops} }}"));
        workload.name = name;
        if let Ok(text) = export(&[workload], &geometry(), "/tmp/f", &[note]) {
            for line in text.split('\n').filter(|line| !line.is_empty()) {
                let option = line.split_once('=').is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
                prop_assert!(line.starts_with('#') || line.starts_with('[') || option, "{}", line);
                prop_assert!(line.len() < 4096);
            }
            prop_assert_eq!(text.matches("\n[").count(), 2);
        }
    }
}
