//! Every trace format, from small excerpts written for these tests.

use crate::support::{brief, read, read_as, refused, volume};
use likenew_core::io::Op;
use likenew_core::trace::TraceSource as _;
use likenew_trace::{FORMATS, Format, OpenOptions};
use proptest::prelude::*;

const MSR: &str = "128166372003061629,src1,2,Read,383496192,32768,1331\n\
                   128166372003071629,src1,2,Write,0,512,20\n\
                   128166372003066629,src1,2,Read,512,512,30\n";

const SYSTOR: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                      1456063200.017868000,0.000246000,R,0,66304,4096\n\
                      1456063200.017900000,,,0,,\n\
                      1456063200.018000000,0.000010000,W,0,8192,512\n\
                      1456063200.018000001,,W,0,0,512\n";

const ALIBABA: &str = "419,W,8792731648,16384,1577808144360767\n419,R,4096,4096,1577808144360770\n";

const TENCENT: &str = "1538323200,12910952,128,0,1063\n1538323200,0,8,1,1063\n1538323202,8,8,1,1063\n";

const FIU: &str = "89967404569415 4892 syslogd 904265560 8 W 6 0 531e779a7e0c6a1a5b0b7c1d2e3f4a5b\n\
                   89967405569415 4893 my own daemon 8 16 R 6 0 0f1e2d3c4b5a69788796a5b4c3d2e1f0\n";

const SPC: &str = "0,303567,3584,w,0.026214\n0,55590,3072,r,0.026682,7,replicated\n0,8,512,W,1.000000001\n";

const IOLOG_2: &str = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 4096 512\n\
                       /dev/sda wait 1500 0\n/dev/sda write 0 8192\n/dev/sda wait 500\n/dev/sda datasync 0 0\n\
                       /dev/sda trim 0 1048576\n/dev/sda close\n";

const IOLOG_3: &str = "fio version 3 iolog\n29 f1 add\n295 f1 open\n305 f1 read 61440 4096\n\
                       2824 f1 write 774144 4096\n3000 f1 sync 0 0\n3001 f1 trim 0 4096\n50234 f1 close\n";

const BLKPARSE: &str = "  8,0    1        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n\
  8,0    1        2     0.000001829   697  G   W 223490 + 8 [kjournald]\n\
  8,0    1        3     0.000002197   697  P   N [kjournald]\n\
  8,0    1        4     0.000003000   697  I   W 223490 + 8 [kjournald]\n\
  8,0    1        5     0.000005000   697  D   W 223490 + 8 [kjournald]\n\
  8,0    1        6     0.000009000   697  D   R 512 + 16 [a [b] c]\n\
  8,0    1        7     0.000010000   697  D  FN [kworker/1:0H]\n\
  8,0    1        8     0.000011000   697  D   R 36 (12 00 00 00 24 00) [udevd]\n\
  8,0    0        1     0.000105000     0  C   W 223490 + 8 [0]\n\
  8,0    0        2     0.000109000     0  C   R 512 + 16 ( 100000) [0]\n\
  8,0    0        3     0.000110000     0  C  FN 0 [0]\n\
  8,0    1        9     0.000200000   697  m   N cfq workload slice:300\n\
  8,0    1       10     0.000300000   697  D  DS 0 + 2048 [fstrim]\n\
CPU1 (8,0):\n Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB\n\n\
Total (8,0):\n Reads Queued:           0,        0KiB\n\nThroughput (R/W): 0KiB/s / 0KiB/s\n\
Events (8,0): 3 entries\nSkips: 0 forward (0 -   0.0%)\n";

const BLKPARSE_QUEUED: &str = "253,0    1        1     0.000000000   697  Q   W 8 + 8 [dd]\n\
253,0    1        2     0.000050000     0  C   W 8 + 8 [0]\n";

const TRACEFS: &str = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 8/8   #P:2\n#\n\
     kworker/0:1H-123     [000] d..1.   100.000100: block_rq_issue: 8,0 WS 4096 () 2048 + 8 be,0,4 [kworker/0:1H]\n\
          <idle>-0       [000] ..s1.   100.000350: block_rq_complete: 8,0 WS () 2048 + 8 be,0,4 [0]\n\
             fio-77      [001] .....   100.000400: block_getrq: 8,0 R 0 + 8 [fio]\n\
           a: b-78      [001] .....   100.000500: block_rq_issue: 8,0 R 4096 () 0 + 8 [a: b]\n\
           a: b-78      [001] .....   100.000600: block_rq_requeue: 8,0 R () 0 + 8 [0]\n\
           a: b-78      [001] .....   100.000700: block_rq_issue: 8,0 R 4096 () 0 + 8 [a: b]\n\
CPU:1 [LOST 12 EVENTS]\n\
          <idle>-0       [001] ..s1.   100.000900: block_rq_complete: 8,0 R () 0 + 8 [-5]\n\
             fio-77      [001] .....   101.000000: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 none,0,0 [fio]\n\
             fio-77      [001] .....   101.000100: block_rq_issue: 8,0 N 36 (12 00) 0 + 0 [udevd]\n";

const BLK_TRACER: &str = "       kjournald-305   [000]  3046.491242:   8,1    I RBS 6367 + 8 [kjournald]\n\
       kjournald-305   [000]  3046.491260:   8,1    D RBS 6367 + 8 [kjournald]\n\
          <idle>-0     [000]  3046.511914:   8,1    C  RS 6367 + 8 [6367]\n\
          <idle>-0     [000]  3046.511914:   8,1    C RBS 6367 + 8 [0]\n";

const BLK_CLASSIC: &str = "#  DEV   CPU TIMESTAMP     PID ACT FLG\n\
  8,1    0     3046.491224   305   A WBS 6367 + 8 <- (8,1) 6304\n\
  8,1    0     3046.491230   305   D WBS 6367 + 8 [kjournald]\n\
  8,1    0     3046.491330     0   C WBS 6367 + 8 [0]\n";

/// A device that has bios and no requests, as those of the device mapper and of NVMe multipath.
const BIOS: &str = "# tracer: nop\n\
 dmcrypt_write/2-1867 [003] .....   100.000100: block_bio_queue: 253,3 WS 578805392 + 8 [dmcrypt_write/2]\n\
 dmcrypt_write/2-1867 [003] .....   100.000110: block_bio_queue: 253,3 FS 0 + 0 [dmcrypt_write/2]\n\
 kworker/3:1-77       [003] .....   100.000500: block_bio_complete: 253,3 FS 0 + 0 [0]\n\
 kworker/3:1-77       [003] .....   100.023500: block_bio_complete: 253,3 WS 578805392 + 8 [0]\n";

/// Above a drive: each I/O as a bio and as a request.
const BOTH_LAYERS: &str = "  dd-5 [001] ..... 50.000010: block_bio_queue: 253,0 R 2048 + 16 [dd]\n\
     dd-5 [001] ..... 50.000011: block_bio_remap: 8,0 R 4096 + 16 <- (253,0) 2048\n\
     dd-5 [001] ..... 50.000012: block_bio_queue: 8,0 R 4096 + 16 [dd]\n\
     dd-5 [001] ..... 50.000015: block_rq_issue: 8,0 R 8192 () 4096 + 16 [dd]\n\
     <idle>-0 [001] ..s1. 50.000215: block_rq_complete: 8,0 R () 4096 + 16 [0]\n\
     <idle>-0 [001] ..s1. 50.000220: block_bio_complete: 253,0 R 2048 + 16 [0]\n";

const PERF_SCRIPT: &str = "    kworker/u16:3 25003 [004] 543348.164811:   block:block_rq_insert: 259,0 RM 4096 () 2564656 + 8 [kworker/u16:3]\n\
     kworker/4:1H    533 [004] 543348.164815:   block:block_rq_issue: 259,0 RM 4096 () 2564656 + 8 [kworker/4:1H]\n\
     swapper      0 [004] 543348.164887:   block:block_rq_complete: 259,0 RM () 2564656 + 8 [0]\n\
     dd  25337 [001] 543348.165046012:   nvme:nvme_sq: nvme0: disk=nvme0n1, qid=2, head=783, tail=783\n\
     dd  25337 [001] 543348.165046012:   block:block_rq_issue: 259,0 R 131072 () 3190760 + 256 be,0,4 [dd]\n\
     kworker/u17:0  23867 [005] 543348.165960:   block:block_rq_complete: 259,0 R () 3190760 + 256 be,0,4 [0]\n";

const BIOSNOOP: &str = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
    0.000000    jbd2/sdb1-8    380    sdb     W 2406576    4096      3.21\n\
    0.000348    my own dd      5689   sdb     R 9009528    8192      0.21\n\
    -0.000002   my own dd      5689   sdb     R 9009544    8192      0.21\n\
    0.004578    ?              0              R 0          0         4.00\n\
    0.004579    ?              0      sdb     R 18446744073709551615 0 4.00\n\
    0.004580    smartd         77     sdb     R 0          36        1.00\n\
    3.004580    fstrim         78     sdb     R 64         2147483648 3.00\n";

/// With the pattern and the time in the queue.
const BIOSNOOP_PQ: &str = "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  P QUE(ms) LAT(ms)\n\
    0.000000    dd             1       nvme0n1   W 16         4096    ?    0.01    0.05\n\
    0.000100    dd             1       <unknown> W 24         4096    S    0.01    0.05\n";

const BIOSNOOP_LIBBPF: &str = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES   QUE(ms) LAT(ms)\n\
    0.000000    postgres       4242    sda     WFS  2048       8192      0.003   0.731\n\
    lost 3 events on CPU #1\n\
    0.001000    postgres       4242    sda     FF   0          0        -1.000   0.500\n\
    0.002000    fstrim         4243    sda     DS   4096       1048576   0.002   0.100\n\
    18446744073.709551 dd      4244    sda     RAM  8          512       0.002   0.700\n";

#[test]
fn bios_are_read_of_devices_without_requests_and_no_io_counts_twice() {
    assert!(refused(BOTH_LAYERS, None).contains("253,0 (1), 8,0 (1)"), "either layer can be read");
    for (volume, expected) in
        [("253,0", "0 read 1048576+8192 210000 dd"), ("8,0", "0 read 2097152+8192 200000 dd")]
    {
        let (trace, records) = read_as(BOTH_LAYERS, None, Some(volume));
        assert_eq!(brief(&records), expected);
        assert_eq!(trace.other_events()[0], "block_bio_remap");
    }
    let late = format!("{BIOS}{}", BOTH_LAYERS.replace("8,0", "253,3"));
    assert_eq!(read_as(&late, None, Some("253,3")).1.len(), 1, "its requests are seen at the beginning");
    let later = format!("{BIOS}{}{}", "#\n".repeat(200_000), BOTH_LAYERS.replace("8,0", "253,3"));
    assert!(refused(&later, Some("253,3")).contains("cut the trace before it"));
}

#[test]
fn the_page_has_every_format() {
    let page = include_str!("../../../../docs/reference/trace.md");
    let (_, table) = page.split_once("| `--format` |").unwrap();
    let rows = table.lines().skip(2).map_while(|row| row.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), FORMATS.map(|format| format.name));
}

#[test]
fn each_format_is_found_and_read() {
    for (text, format, expected) in [
        (MSR, "msr", "0 read 383496192+32768 133100; 500000 read 512+512 3000; 1000000 write 0+512 2000"),
        (SYSTOR, "systor", "0 read 66304+4096 246000; 132000 write 8192+512 10000; 132001 write 0+512 -"),
        (ALIBABA, "alibaba", "0 write 8792731648+16384 -; 3000 read 4096+4096 -"),
        (TENCENT, "tencent", "0 read 6610407424+65536 -; 0 write 0+4096 -; 2000000000 write 4096+4096 -"),
        (FIU, "fiu", "0 write 462983966720+4096 - syslogd; 1000000 read 4096+8192 - my own daemon"),
        (SPC, "spc", "0 write 155426304+3584 -; 468000 read 28462080+3072 -; 973786001 write 4096+512 -"),
        (
            IOLOG_2,
            "iolog",
            "0 read 4096+512 -; 1500000 write 0+8192 -; 2000000 flush 0+0 -; 2000000 trim 0+1048576 -",
        ),
        (
            IOLOG_3,
            "iolog",
            "0 read 61440+4096 -; 2519000 write 774144+4096 -; 2695000 flush 0+0 -; 2696000 trim 0+4096 -",
        ),
        (
            BLKPARSE,
            "blkparse",
            "0 write 114426880+4096 100000 kjournald; 4000 read 262144+8192 100000 a [b] c; \
             5000 flush 0+0 100000 kworker/1:0H; 295000 trim 0+1048576 - fstrim",
        ),
        (BLKPARSE_QUEUED, "blkparse", "0 write 4096+4096 50000 dd"),
        (
            TRACEFS,
            "tracefs",
            "0 write 1048576+4096 250000 kworker/0:1H; 600000 read 0+4096 200000 a: b; 999900000 flush 0+0 - fio",
        ),
        (
            BIOS,
            "tracefs",
            "0 write 296348360704+4096 23400000 dmcrypt_write/2; 10000 flush 0+0 390000 dmcrypt_write/2",
        ),
        (
            PERF_SCRIPT,
            "tracefs",
            "0 read 1313103872+4096 72000 kworker/4:1H; 231012 read 1633669120+131072 913988 dd",
        ),
        (
            BIOSNOOP,
            "biosnoop",
            "0 write 1232166912+4096 3210000 jbd2/sdb1-8; 2998000 read 4612886528+8192 210000 my own dd; \
             3348000 read 4612878336+8192 210000 my own dd; 3004790000 trim 32768+2147483648 3000000 fstrim",
        ),
        (BIOSNOOP_PQ, "biosnoop", "0 write 8192+4096 50000 dd"),
        (
            BIOSNOOP_LIBBPF,
            "biosnoop",
            "0 write 1048576+8192 731000 postgres; 30384 read 4096+512 700000 dd; \
             1231000 flush 0+0 500000 postgres; 2631000 trim 2097152+1048576 100000 fstrim",
        ),
        (BLK_TRACER, "tracefs", "0 read 3259904+4096 20654000 kjournald"),
        (BLK_CLASSIC, "blkparse", "0 write 3259904+4096 100000 kjournald"),
    ] {
        let (trace, records) = read(text);
        assert_eq!(trace.format().name, format);
        assert_eq!(brief(&records), expected);
        assert_eq!(
            brief(&read_as(text, Some(format.parse().unwrap()), None).1),
            expected,
            "asked for by name"
        );
    }
}

#[test]
fn what_was_passed_over_is_counted() {
    for (text, note) in [
        (SYSTOR, "1 line without a type was skipped"),
        (TENCENT, "times are whole seconds"),
        (BLKPARSE, "1 driver command was skipped"),
        (BLKPARSE, "1 I/O without an end has no latency"),
        (TRACEFS, "1 line of another event was skipped"),
        (TRACEFS, "the kernel lost events once"),
        (TRACEFS, "1 request that moves no blocks was skipped"),
        (TRACEFS, "1 I/O ended with an error"),
        (BIOSNOOP, "1 I/O without a disk was skipped"),
        (BIOSNOOP, "1 driver command was skipped"),
        (BIOSNOOP_LIBBPF, "the kernel lost events once"),
        (BIOSNOOP, "1 request that moves no blocks was skipped"),
        (BIOSNOOP, "this version of biosnoop prints discards as reads"),
        (BLK_TRACER, "1 completion without a start was skipped"),
        ("fio version 2 iolog\nf read 0 512\nf read 0 512\n", "the trace has no times"),
    ] {
        let (trace, _) = read(text);
        let notes = trace.notes();
        assert!(notes.iter().any(|found| found.contains(note)), "no \"{note}\" in {notes:?}");
    }
    assert!(read(MSR).0.notes().is_empty());
}

#[test]
fn headers_are_known_wherever_a_format_has_them() {
    for (header, text, format) in [
        ("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", MSR, "msr"),
        ("device_id,opcode,offset,length,timestamp", ALIBABA, "alibaba"),
        ("Timestamp,Offset,Size,IOType,VolumeID", TENCENT, "tencent"),
    ] {
        let (trace, records) = read(&format!("{header}\r\n{}", text.replace('\n', "\r\n")));
        assert_eq!(trace.format().name, format);
        assert_eq!(brief(&records), brief(&read(text).1));
    }
    let joined = read(&format!("{SYSTOR}{}", SYSTOR.replace("14560632", "14560633"))).1;
    assert_eq!(joined.len(), 6);
}

#[test]
fn of_several_volumes_one_is_chosen() {
    let two = |text: &str, from: &str, to: &str| format!("{text}{}", text.replace(from, to));
    for (text, one, other) in [
        (two(MSR, "src1,2", "src1,0"), "src1_2", "src1_0"),
        (two(SYSTOR, ",0,", ",5,"), "0", "5"),
        (two(ALIBABA, "419,", "7,"), "419", "7"),
        (two(TENCENT, ",1063", ",9"), "1063", "9"),
        (two(FIU, " 6 0 ", " 6 1 "), "6,0", "6,1"),
        (format!("{SPC}17,8,512,W,1.5\n"), "0", "17"),
        (two(BIOSNOOP_LIBBPF, " sda ", " sdb "), "sda", "sdb"),
        (two(IOLOG_3, " f1 ", " f2 ").replacen("fio version 3 iolog\n29 f2", "29 f2", 1), "f1", "f2"),
        (two(TRACEFS, "8,0 ", "8,16 "), "8,0", "8,16"),
    ] {
        let error = refused(&text, None);
        for message in ["holds several volumes", one, other, "choose one with --volume"] {
            assert!(error.contains(message), "no \"{message}\" in {error}");
        }
        let (trace, records) = read_as(&text, None, Some(other));
        assert_eq!(trace.volume().as_deref(), Some(other));
        assert!(!records.is_empty());
        let error = refused(&text, Some("none"));
        assert!(error.contains("has no volume none; there are") && error.contains(one), "{error}");
    }
    assert_eq!(volume(MSR).as_deref(), Some("src1_2"));
}

#[test]
fn volumes_are_listed_by_their_records() {
    let rows =
        |device: u32, count: usize| format!("{device},R,0,512,{}\n", 1_577_808_144_360_767u64).repeat(count);
    let text: String = rows(1, 3) + &rows(2, 7) + &(3..40).map(|device| rows(device, 1)).collect::<String>();
    let error = refused(&text, None);
    assert!(error.contains("in its first 47 lines (with records): 2 (7), 1 (3), 10 (1)"), "{error}");
    assert!(error.contains("and 27 more"), "{error}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let year = "128166372003061629,src1,2,Read,0,512,1\n1,src1,2,Read,0,512,1\n";
    // Alibaba's times are microseconds; each record is 360 days after the one before.
    let decades: String = (0..20).map(|n| format!("1,R,0,4096,{}\n", n * 360 * 86_400_000_000u64)).collect();
    for (text, format, message) in [
        (
            &*decades,
            "alibaba",
            "line 12, column 12: expected a time within ten years of that of the first record",
        ),
        (year, "msr", "line 2, column 1: expected a time within a year of that of the record before"),
        ("1,h,1,read,0,512,1\n", "msr", "column 7: expected Read or Write, found \"read\""),
        ("1,h,x,Read,0,512,1\n", "msr", "column 5: expected the number of a disk, found \"x\""),
        ("999999999999999999,h,1,Read,0,512,1\n", "msr", "column 1: expected a Windows file time"),
        ("1,h,1,Read,0,512,1,9\n", "msr", "column 19: expected the end of the line, found \",\""),
        ("NaN,0.1,R,0,0,512\n", "systor", "column 1: expected a time in seconds, found \"NaN\""),
        ("1e9,0.1,R,0,0,512\n", "systor", "column 2: expected a comma, found \"e9\""),
        ("1,-1,R,0,0,512\n", "systor", "column 3: expected a response time in seconds, or nothing"),
        ("1,R,0,0,5\n", "alibaba", "column 7: expected a length above 0, found \"0\""),
        ("1,R,1152921504606846976,1,5\n", "alibaba", "column 5: expected a range that ends within 1 EiB"),
        ("1,R,0,1,18446744073709551615\n", "alibaba", "column 9: expected a time in microseconds"),
        ("1,36028797018963968,8,0,1\n", "tencent", "column 3: expected an offset in sectors"),
        ("1,8,8,2,1\n", "tencent", "column 7: expected 0 for a read or 1 for a write, found \"2\""),
        ("1 2 p 8 8 X 6 0 md5\n", "fiu", "column 11: expected R or W, found \"X\""),
        ("1 2 8 8 R 6 0 md5\n", "fiu", "column 5: expected a process, an address"),
        ("0,8,512,x,0.1\n", "spc", "column 9: expected R or W, found \"x\""),
        ("0,8,512,r,now\n", "spc", "column 11: expected a time in seconds, found \"now\""),
        ("0,8,512,r,0.1 0,16,512,r,0.2\n", "spc", "column 15: expected the end of the line, found \"0\""),
        ("fio version 4 iolog\n", "iolog", "line 1, column 1: expected \"fio version 2 iolog\""),
        ("fio version 3 iolog\n1 f wait 5\n", "iolog", "line 2, column 5: expected add, open, close"),
        ("fio version 2 iolog\nf read 5\n", "iolog", "column 9: expected a length in bytes"),
        ("8,0 1 1 0.0 6 D XX 8 + 8 [a]\n", "blkparse", "column 17: expected the letters of a request"),
        ("8,0 1 1 0.0 6 D R 8 + 8\n", "blkparse", "expected a program or an error in brackets"),
        (
            "TIME(s) COMM T SECTOR LAT(ms)\n",
            "biosnoop",
            "line 1, column 1: expected the columns TIME(s) COMM",
        ),
        ("0.5 dd 7 sda W 8 512\n", "biosnoop", "column 14: expected a sector, found \"W\""),
        (
            "0.5 dd x sda W 8 512 0.1\n",
            "biosnoop",
            "column 5: expected a program, the number of a process, a disk",
        ),
        ("0.5 dd 7 sda Q 8 512 0.1\n", "biosnoop", "column 14: expected the letters of a request"),
        (
            "0.5 dd 7 sda W 8 512 x\n",
            "biosnoop",
            "column 22: expected a latency in milliseconds, found \"x\"",
        ),
        ("0.5 dd 7 sda W 8 512 99999999999\n", "biosnoop", "column 22: expected a latency"),
        ("  a-1 [000] 1.5: nonsense\n", "tracefs", "column 18: expected an event of the block layer"),
        ("  a-1 [000] block_rq_issue\n", "tracefs", "column 1: expected a program, a processor and a time"),
    ] {
        let (_, error) = crate::support::all(text, Some(format.parse().unwrap()), None);
        let error = error.unwrap_or_else(|| panic!("no error: {text}"));
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn what_cannot_be_a_trace_is_reported_what_it_is() {
    for (bytes, message) in [
        (
            &b"\x08taebinary"[..],
            "of version 8, and this one reads version 7: \"blkparse -i FILE\" makes text of it",
        ),
        (b"\x17\x08\x44tracing", "trace-cmd report"),
        (
            b"TIME(ms)     DISK    COMM             PID    LAT(ms)\n611 sda dd 1 2\n",
            "without addresses or times",
        ),
        (b"Attaching 3 probes...\nTIME(ms)     COMM             PID    LAT(ms)\n", "the biosnoop of bcc"),
        (
            b"TIMESTAMP    COMM           PID     DISK    T    SECTOR     BYTES   LAT(ms)\n",
            "the biosnoop of bcc, and without -t",
        ),
        (b"PK\x03\x04", "unpack it"),
        (b"a\0b", "is not text"),
        (
            b"<html>\xff",
            "has an unknown trace format (it begins with \"<html>\\xff\"); name it with --format: likenew, iolog",
        ),
        (b"execve(\"/bin/dd\", [\"dd\"], 0x7ffd /* 20 vars */) = 0\n", "is strace's output"),
        (b"1234  12:00:01.123456 read(3, \"\"..., 4096) = 4096 <0.000012>\n", "likenew record"),
        (
            b"Linux 6.1.0 (host) \t01/01/2026 \t_x86_64_\t(2 CPU)\n\nDevice            r/s     rkB/s %util\nsda 1 2 3\n",
            "is iostat's output",
        ),
        (b"Device:         rrqm/s   wrqm/s     r/s\nsda 0 0 0\n", "only counts I/Os"),
        (b"# likenew trace 2\n", "of another version of likenew"),
        (b"\n\n", "has an unknown trace format"),
    ] {
        let error = crate::support::refused_bytes(bytes);
        assert!(error.contains(message), "{error}");
    }
    let endless = crate::support::refused_bytes(&[MSR.as_bytes(), &vec![b'1'; 1 << 20]].concat());
    assert!(endless.contains("line 4: it is longer than 65536 bytes"), "{endless}");
}

#[test]
fn a_packed_trace_that_was_cut_says_so() {
    let text = MSR.lines().next().unwrap().to_owned() + "\n";
    let text = text.repeat(20_000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
    for (bytes, name) in
        [(gzip.finish().unwrap(), "gzip"), (zstd::encode_all(text.as_bytes(), 1).unwrap(), "Zstandard")]
    {
        assert_eq!(crate::support::all_bytes(&bytes, &OpenOptions::default()).0.len(), 20_000);
        let (_, error) = crate::support::all_bytes(&bytes[..bytes.len() - 5], &OpenOptions::default());
        let error = error.expect("an end that is not there");
        assert!(error.contains(&format!("the {name} data is truncated here")), "{error}");
    }
}

#[test]
fn late_records_are_put_into_order_and_too_late_ones_refused() {
    let row = |at: u64| format!("1,R,0,512,{}\n", 1_000_000 + at);
    let mut rows: Vec<String> = (1..=4096).map(row).collect();
    rows.push(row(0));
    let (records, error) = crate::support::all(&rows.concat(), None, None);
    assert_eq!((records.len(), error), (4097, None));
    assert!(records.is_sorted_by_key(|(io, _)| io.at));
    rows.insert(0, row(1));
    let (_, error) = crate::support::all(&rows.concat(), None, None);
    let error = error.expect("4097 records before it");
    assert!(error.contains("line 4098") && error.contains("sort the file by time"), "{error}");
}

#[test]
fn biosnoop_without_its_head_is_read_and_an_io_may_take_long() {
    for text in [BIOSNOOP, BIOSNOOP_LIBBPF] {
        let (_, rows) = text.split_once('\n').unwrap();
        let (trace, records) = read(rows);
        assert_eq!(trace.format().name, "biosnoop");
        assert!(records.len() >= 3);
    }
    let short = |n: u32| format!("{}.{:06} dd 7 sda R 8 512 0.05\n", n / 1000, n % 1000 * 1000);
    let long = "99.5 dd 7 sda W 8 512 99000.00\n";
    let (_, records) = read(&((0..99_500).map(short).collect::<String>() + long));
    assert_eq!((records.len(), records.is_sorted_by_key(|(io, _)| io.at)), (99_501, true));
}

/// Text that is nearly a trace: an excerpt with some of its bytes changed, or pieces of it in another order.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let excerpts = [
        MSR,
        SYSTOR,
        ALIBABA,
        TENCENT,
        FIU,
        SPC,
        IOLOG_2,
        IOLOG_3,
        BLKPARSE,
        BLKPARSE_QUEUED,
        TRACEFS,
        BLK_TRACER,
        BLK_CLASSIC,
        BIOS,
        BOTH_LAYERS,
        BIOSNOOP,
        BIOSNOOP_PQ,
        BIOSNOOP_LIBBPF,
        PERF_SCRIPT,
        OWN,
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..8);
    (prop::sample::select(excerpts.to_vec()), changes).prop_map(|(text, changes)| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte, kind) in changes {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"0123456789,. -[]()\n"[usize::from(byte) % 19]),
                2 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.extend_from_within(at..),
            }
        }
        bytes
    })
}

const OWN: &str = "# likenew trace 1\n# name: sda\n# capacity_bytes: 1048576\n\
                   at_ns,op,offset,length,latency_ns,application\n0,read,4096,4096,81230,fox\n\
                   1200345,write,0,16384,,\"a, \"\"b\"\"\"\n1200400,flush,0,0,,\n# end: 3\n";

/// The guarantees of every reader, for any input: order, bounds, known applications, and an error that names
/// the file.
pub(crate) fn keeps_its_promises(bytes: &[u8], format: Option<&'static Format>) -> Result<(), TestCaseError> {
    let options = OpenOptions { format, volume: None };
    let (records, error) = crate::support::all_bytes(bytes, &options);
    prop_assert!(records.is_sorted_by_key(|(io, _)| io.at));
    for (io, _) in &records {
        prop_assert_eq!(io.length == 0, io.op == Op::Flush);
        prop_assert!(io.offset + io.length <= 1 << 60);
    }
    if let Some(error) = error {
        prop_assert!(error.starts_with("the stream"), "{}", error);
    }
    Ok(())
}

proptest! {
    #[test]
    fn nothing_that_is_nearly_a_trace_breaks_a_reader(bytes in nearly(), format in 0..=FORMATS.len()) {
        keeps_its_promises(&bytes, None)?;
        keeps_its_promises(&bytes, FORMATS.get(format).copied())?;
    }

    #[test]
    fn no_bytes_break_a_reader(bytes in prop::collection::vec(any::<u8>(), 0..300), format in 0..FORMATS.len()) {
        keeps_its_promises(&bytes, None)?;
        keeps_its_promises(&bytes, Some(FORMATS[format]))?;
    }

    #[test]
    fn no_text_breaks_a_reader(text in "[0-9,. \\-:+\\[\\]()RWDCFQ#a-f\n]{0,200}", format in 0..FORMATS.len()) {
        keeps_its_promises(text.as_bytes(), Some(FORMATS[format]))?;
    }
}

#[test]
fn nothing_follows_an_error() {
    let text = format!("{ALIBABA}nonsense\n{ALIBABA}");
    let mut trace = crate::support::opened(text.as_bytes(), &OpenOptions::default()).unwrap();
    let mut errors = 0;
    for _ in 0..10 {
        match trace.next_io() {
            Err(_) => errors += 1,
            Ok(record) => assert!(record.is_none() || errors == 0),
        }
    }
    assert_eq!(errors, 1);
}
