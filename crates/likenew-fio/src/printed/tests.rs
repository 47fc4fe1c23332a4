//! Reads real output of each program, and leaves out everything else in it.

use super::*;

/// Name, MB/s and IOPS of each figure.
fn figures(text: &str) -> Vec<(String, f64, f64)> {
    let imported = printed(text).unwrap_or_else(|| panic!("nothing in {text}"));
    let figure = |segment: &Segment| {
        let total = segment.total();
        let per_s = |count: u64| count as f64 / segment.elapsed().as_secs_f64();
        (segment.workload.name.clone(), per_s(total.bytes) / 1e6, per_s(total.ios))
    };
    imported.segments.iter().map(figure).collect()
}

pub(super) fn is(text: &str, expected: &[(&str, f64, f64)]) {
    let parsed = figures(text);
    assert_eq!(parsed.len(), expected.len(), "{parsed:#?}");
    for ((name, mb, iops), (expected_name, expected_mb, expected_iops)) in parsed.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert!((mb / expected_mb - 1.0).abs() < 0.001, "{name}: {mb} MB/s");
        assert!((iops / expected_iops - 1.0).abs() < 0.01, "{name}: {iops} IOPS");
    }
}

#[test]
fn every_version_of_crystaldiskmark_and_kdiskmark_is_read() {
    is(
        "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3562.183 MB/s [   3397.2 IOPS] <  2352.39 us>\n  RND    4KiB (Q= 32, T=16):    44.482 MB/s [  10859.9 IOPS] <    91.95 us>\n\n[Write]\n  SEQ    1MiB (Q=  8, T= 1):  3000.000 MB/s [   2861.0 IOPS] <  2790.00 us>\n[Mix] Read 70%/Write 30%\n  SEQ    1MiB (Q=  8, T= 1):  1000.000 MB/s [    953.7 IOPS] <   8000.00 us>\n",
        &[
            ("SEQ1M Q8T1 read", 3562.183, 3397.2),
            ("RND4K Q32T16 read", 44.482, 10_859.9),
            ("SEQ1M Q8T1 write", 3000.0, 2861.0),
        ],
    );
    is(
        "CrystalDiskMark 6.0.2 x64\n   Sequential Read (Q= 32,T= 1) :   550.862 MB/s\n Random Write 4KiB (Q=  8,T= 8) :  1009.735 MB/s [ 246517.3 IOPS]\n",
        &[("SEQ1M Q32T1 read", 550.862, 525.3), ("RND4K Q8T8 write", 1009.735, 246_517.3)],
    );
    is(
        "CrystalDiskMark 3.0.3\n           Sequential Read :   113.654 MB/s\n         Random Read 512KB :    39.862 MB/s\n    Random Read 4KB (QD=32) :     1.214 MB/s [   296.3 IOPS]\n",
        &[
            ("SEQ1M Q1T1 read", 113.654, 108.4),
            ("RND512K Q1T1 read", 39.862, 76.03),
            ("RND4K Q32T1 read", 1.214, 296.3),
        ],
    );
    is(
        "KDiskMark (3.1.4): https://github.com/JonMagon/KDiskMark\n[Write]\nSequential   1 MiB (Q=  8, T= 1):   560.021 MB/s [    534.1 IOPS] < 14978.00 us>\n",
        &[("SEQ1M Q8T1 write", 560.021, 534.1)],
    );
    let imported = printed(
        "KDiskMark (3)\n[Read]\n    Random   4 KiB (Q=  1, T= 1): 40.96 MB/s [ 10000.0 IOPS] <    99.00 us>",
    )
    .unwrap();
    assert_eq!(imported.segments[0].total().latency_ns_mean(), 99_000.0);
    assert!(imported.identity.caveats.iter().any(|caveat| caveat.contains("no interval")));
}

#[test]
fn what_fio_prints_for_people_is_read() {
    is(
        "test: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32\nfio-3.33\ntest: (groupid=0, jobs=1): err= 0: pid=123: Sat\n  read: IOPS=25.1k, BW=98.1MiB/s (103MB/s)(5887MiB/60001msec)\n    slat (nsec): min=1\n     lat (usec): min=50, max=9000, avg=1270.50, stdev=3\n",
        &[("test read", 102.865, 25_100.0)],
    );
    is(
        "w: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nw: (groupid=0, jobs=1): err= 0: pid=9\n  write: io=4096.0MB, bw=98304KB/s, iops=24576, runtime= 42666msec\n",
        &[("w write", 100.663, 24_576.0)],
    );
}

#[test]
fn small_tools_are_read_in_their_own_units() {
    is(
        "\n/dev/sda:\n Timing cached reads:   24822 MB in  1.99 seconds = 12473.37 MB/sec\n Timing buffered disk reads: 1530 MB in  3.00 seconds = 510.00 MB/sec\n",
        &[("cached reads", 13_079.3, 12_473.4), ("buffered disk reads", 534.77, 510.0)],
    );
    assert_eq!(
        printed("/dev/sda:\n Timing buffered disk reads: 1 MB in 1.00 seconds = 1").unwrap().identity.name,
        "/dev/sda"
    );
    is("Free space: 1\nAverage writing speed: 11.32 MB/s\n", &[("write", 11.87, 11.32)]);
    is(
        "9 requests completed in 9.41 ms, 36 KiB read, 956 iops, 3.73 MiB/s\n",
        &[("ioping read", 3.916, 956.0)],
    );
    is(
        "9.99 k requests completed in 958.1 ms, 39.0 MiB written, 10.4 k iops, 40.7 MiB/s\n",
        &[("ioping write", 42.57, 10_400.0)],
    );
    is(
        "    reads/s:                      1234.56\n    writes/s:                     823.04\n    read, MiB/s:                  19.29\n    written, MiB/s:               12.86\n",
        &[("fileio read", 20.227, 1234.56), ("fileio write", 13.485, 823.04)],
    );
    is("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.07 s, 518 MB/s\n", &[("dd", 518.7, 494.7)]);
    is(
        "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert\n1073741824 bytes (1,1 GB) copied, 2,07 s, 518 MB/s\n",
        &[("dd", 518.7, 494.7)],
    );
}

#[test]
fn hdparm_of_an_offset_and_of_direct_reads_is_read() {
    is(
        "\nbig.bin:\n Timing cached reads:   16558 MB in  2.00 seconds = 8287.15 MB/sec\n Timing buffered disk reads (offset 1 GB): 1154 MB in  3.00 seconds = 384.45 MB/sec\n Timing O_DIRECT disk reads: 300 MB in  3.00 seconds = 100.00 MB/sec\n",
        &[
            ("cached reads", 8681.16, 8279.0),
            ("buffered disk reads", 403.35, 384.67),
            ("O_DIRECT disk reads", 104.86, 100.0),
        ],
    );
}

#[test]
fn dd_is_read_in_any_language() {
    for (text, mb) in [
        ("10485760 Bytes (10 MB, 10 MiB) kopiert, 0,0102199 s, 1,0 GB/s", 1026.0),
        ("10485760 octets (10 MB, 10 MiB) copiés, 0.0107143 s, 979 MB/s", 978.67),
        ("10485760 字节 (10 MB, 10 MiB) 已复制，0.00771963 s，1.4 GB/s", 1358.3),
        ("10485760 바이트 (10 MB, 10 MiB) 복사함, 0.00737559 s, 1.4 GB/s", 1421.7),
        ("10485760 bayt (10 MB, 10 MiB) kopyalandı, 0.00749713 s, 1.4 GB/s", 1398.6),
        ("20480 bytes (20 kB, 20 KiB) copied, 4.5e-05 s, 455 MB/s", 455.1),
        ("512 bytes copied, 0,000128 s, 4,0 MB/s", 4.0),
        ("1048576000 bytes (1000.0MB) copied, 2.070000 seconds, 483.1MB/s", 506.56),
        ("104857600 bytes transferred in 0.500000 secs (209715200 bytes/sec)", 209.7152),
    ] {
        is(&format!("10+0 records in\n10+0 records out\n{text}\n"), &[("dd", mb, mb / 1.048_576)]);
    }
    assert!(printed("5 bytes (5 B) sent, 2 s, 9 MB/s").is_none(), "the rate is of something else");
    let imported = printed("512 bytes copied, 0,000128 s, 4,0 MB/s").unwrap();
    assert!(imported.identity.caveats.iter().any(|caveat| caveat.starts_with("dd does not say")));
}

#[test]
fn diskspd_is_read_with_and_without_latencies_and_in_a_mix() {
    let run = |parameters: &str, headings: &str, totals: [&str; 2]| {
        let table = |op: &str, total: &str| {
            format!(
                "\r\n{op} IO\r\nthread |       bytes     |     I/Os     |    {headings}\r\n----\r\n     0 |  1 | 1 | 0.01 | 1.00 | c:\\test.dat (50GiB)\r\n----\r\ntotal:   {total}\r\n"
            )
        };
        format!(
            "\r\nCommand Line: diskspd.exe -L c:\\test.dat\r\n\r\nInput parameters:\r\n\r\n\ttimespan:   1\r\n{parameters}\r\n\r\nactual test time:\t60.01s\r\nthread count:\t\t8\r\n\r\nTotal IO\r\nthread |  bytes | I/Os | {headings}\r\ntotal:  2 | 2 | 2.00 | 2.00\r\n{}{}",
            table("Read", totals[0]),
            table("Write", totals[1])
        )
    };
    // DISKSPD 2.0.21 with latencies.
    let parameters = "\t\tperforming mix test (read/write ratio: 70/30)\r\n\t\tblock size: 4096\r\n\t\tusing random I/O (alignment: 4096)\r\n\t\tnumber of outstanding I/O operations: 16";
    let mixed = run(
        parameters,
        "MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file",
        [
            "17212375040 |  4202240 |  273.54 |  70026.24 |  1.279 |  0.512",
            "7376732160 | 1800960 | 117.23 | 30010.88 | 1.282 | 0.518",
        ],
    );
    // DISKSPD 2.0.14 without latencies; MB are 2^20 bytes.
    let parameters = "\t\tperforming read test\r\n\t\tblock size: 65536\r\n\t\tusing sequential I/O (stride: 65536)\r\n\t\tnumber of outstanding I/O operations: 2";
    let read = run(
        parameters,
        "MB/s    |  I/O per s |  file",
        ["62914560000 | 960000 | 1000.00 | 16000.00", "0 | 0 | 0.00 | 0.00"],
    );
    let expected = [
        ("RND4K Q16T8 read, 70/30 mix", 286.83, 70_026.24),
        ("RND4K Q16T8 write, 70/30 mix", 122.92, 30_010.88),
        ("SEQ64K Q2T8 read", 1048.576, 16_000.0),
    ];
    is(&(mixed.clone() + &read), &expected);
    let latency = |text: &str| printed(text).unwrap().segments[0].total().latency_ns_mean();
    assert_eq!((latency(&mixed), latency(&read)), (1_279_000.0, 0.0));
    // DISKSPD 2.2 prints sizes with units.
    is(
        &mixed
            .replace("block size: 4096", "block size: 4KiB")
            .replace("operations: 16", "operations per thread: 16"),
        &expected[..2],
    );
}

#[test]
fn ioping_is_read_quiet_and_raw() {
    is(
        "\n--- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---\n4 requests completed in 637.3 us, 16 KiB read, 6.28 k iops, 24.5 MiB/s\ngenerated 5 requests in 781.0 us, 20 KiB, 6.40 k iops, 25.0 MiB/s\nmin/avg/max/mdev = 107.3 us / 159.3 us / 236.8 us / 51.2 us\n",
        &[("ioping read", 25.723, 6280.0)],
    );
    is("4 423440 9446 38692613 100822 105860 112159 4138 5 610672\n", &[("ioping read", 38.6926, 9446.4)]);
    is(
        "100 10832691 9231 37811473 95900 108327 223875 15270 101 11118926\n100 11386412 8782 35972701 97285 113864 341543 32713 100 11539269\n",
        &[("ioping read", 36.869, 9001.2)],
    );
    let imported = printed("4 423440 9446 38692613 100822 105860 112159 4138 5 610672\n").unwrap();
    assert_eq!(imported.segments[0].total().latency_ns_mean(), 105_860.0);
    assert!(imported.identity.caveats.iter().any(|caveat| caveat.starts_with("ioping -B does not say")));
    assert!(printed("1 2 3 4 5 6 7 8\n").is_none(), "IOPS do not follow from requests and time");
}

#[test]
fn every_layout_of_sysbench_is_read() {
    is(
        "File operations:\n    reads/s:                      42121.02\n    writes/s:                     28080.68\n    fsyncs/s:                     2809.07\n\nThroughput:\n    read, MiB/s:                  658.14\n    written, MiB/s:               438.76\n\nGeneral statistics:\n    total time:                          2.0026s\n",
        &[("fileio read", 690.11, 42_121.0), ("fileio write", 460.07, 28_080.7)],
    );
    is(
        "Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total\nRead 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (2.6039Mb/sec)\n  166.65 Requests/sec executed\n\nTest execution summary:\n    total time:                          60.0043s\n",
        &[("fileio read", 1.6383, 99.993), ("fileio write", 1.0922, 66.662)],
    );
    is(
        "Operations performed:  9600 reads, 0 writes, 20480 Other = 36480 Total\nRead 1.5Gb  Written 0b  Total transferred 1.5Gb  (102.4Mb/sec)\n 640 Requests/sec executed\n\nGeneral statistics:\n    total time:                          15.0003s\n",
        &[("fileio read", 107.372, 639.99)],
    );
    is(
        "Throughput:\n         read:  IOPS=2402.56 37.54 MiB/s (39.36 MB/s)\n         write: IOPS=1601.71 25.03 MiB/s (26.24 MB/s)\n         fsync: IOPS=5130.59\n",
        &[("fileio read", 39.363, 2402.56), ("fileio write", 26.246, 1601.71)],
    );
}

#[test]
fn a_whole_report_of_kdiskmark_is_read() {
    is(
        "                        KDiskMark (3.0.0): https://github.com/JonMagon/KDiskMark\n                    Flexible I/O Tester (fio-3.30): https://github.com/axboe/fio\n--------------------------------------------------------------------------------\n* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n* KB = 1000 bytes, KiB = 1024 bytes\n\n[Read]\nSequential   1 MiB (Q=  8, T= 1):   508.897 MB/s [    497.0 IOPS] < 13840.05 us>\n    Random   4 KiB (Q=  1, T= 1):    44.166 MB/s [  11041.6 IOPS] <    88.48 us>\n\nProfile: Default\n   Test: 1 GiB (x5) [Measure: 5 sec / Interval: 5 sec]\n",
        &[("SEQ1M Q8T1 read", 508.897, 497.0), ("RND4K Q1T1 read", 44.166, 11_041.6)],
    );
    is(
        "KDiskMark: https://github.com/JonMagon/KDiskMark\n[Write]\nSequential 1 MiB (Q= 8, T= 1):   496.894 MB/s [    496.9 IOPS] < 15459.55 us>\n",
        &[("SEQ1M Q8T1 write", 496.894, 496.9)],
    );
}

/// Every text is read or refused.
#[test]
fn damaged_texts_never_panic() {
    const TEXTS: [(&str, &str); 5] = [
        (include_str!("../../tests/samples/terse.txt"), ""),
        (include_str!("../../tests/samples/normal.txt"), ""),
        ("500, 8093, 0, 0, 0\n1000, 4039, 1, 0, 0\n", "a_bw.1.log"),
        ("268, 3629454, 0, 4096, 0\n269, 112266, 1, 4096, 0\n", "a_lat.1.log"),
        ("  kB  reclen    write  rewrite\n 1024  4  1000  2000\n\"Writer report\"\n \"4\"\n\"64\" 5\n", ""),
    ];
    const OTHERS: [&str; 8] = ["", "\n", ";", "0", "99999999999999999999", "-1", "%=", "\u{e9}"];
    for (text, name) in TEXTS {
        let places: Vec<usize> =
            (0..=text.len()).step_by(5).filter(|at| text.is_char_boundary(*at)).collect();
        for at in places {
            for other in OTHERS {
                let _ = import_any(&format!("{}{other}{}", &text[..at], &text[at..]), name);
            }
            let _ = import_any(&text[..at], name);
            let _ = import_any(&text[at..], name);
        }
    }
}

#[test]
fn other_texts_are_nothing() {
    for text in [
        "",
        "hello",
        "CrystalDiskMark is nice",
        " copied, ",
        "Average writing speed: 0 MB/s",
        "9 requests completed in 1 s, 0 B read, 0 iops, 0 B/s",
    ] {
        assert!(printed(text).is_none(), "{text:?}");
    }
}
