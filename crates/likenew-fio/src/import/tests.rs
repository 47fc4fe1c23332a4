//! Reads real output of fio 3.33 in many forms, and refuses other texts.

use likenew_core::io::{Durability, Op};
use likenew_core::segment::Stop;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Until};
use proptest::prelude::*;

use super::*;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/", $name))
    };
}

mod verification;

const SAMPLES: [&str; 30] = [
    sample!("bins.json"),
    sample!("both.json"),
    sample!("buffered.json"),
    sample!("clat_bins.json"),
    sample!("client.json"),
    sample!("copies.json"),
    sample!("error.json"),
    sample!("grouped.json"),
    sample!("mixed.json"),
    sample!("no_latency.json"),
    sample!("no_percentiles.json"),
    sample!("no_total_latency.json"),
    sample!("null.json"),
    sample!("randrw.json"),
    sample!("read.json"),
    sample!("status.json"),
    sample!("two.json"),
    sample!("verify.json"),
    sample!("verify_bad.json"),
    sample!("verify_backlog.json"),
    sample!("verify_damaged.json"),
    sample!("verify_damaged_first.json"),
    sample!("verify_goes_on.json"),
    sample!("verify_mix.json"),
    sample!("verify_mix_off.json"),
    sample!("verify_only.json"),
    sample!("verify_only_mix.json"),
    sample!("verify_unified.json"),
    sample!("verify_unreadable.json"),
    sample!("warned.json"),
];

#[track_caller]
fn one(text: &str) -> (Import, Segment) {
    let mut imported = import(text).unwrap();
    assert_eq!(imported.segments.len(), 1);
    let segment = imported.segments.remove(0);
    (imported, segment)
}

#[track_caller]
fn caveat(imported: &Import, words: &str) {
    let has_caveat = imported.identity.caveats.iter().any(|caveat| caveat.contains(words));
    assert!(has_caveat, "no \"{words}\" in {:#?}", imported.identity.caveats);
}

#[test]
fn every_sample_is_read() {
    for text in SAMPLES {
        let imported = import(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(imported.unix_ms > 1_700_000_000_000);
        assert_eq!(imported.identity.engine, "fio 3.33");
        assert_eq!(imported.identity.name, "/tmp/fio.bin");
        for segment in &imported.segments {
            let stored = serde_json::to_string(segment).unwrap();
            assert_eq!(serde_json::from_str::<Segment>(&stored).unwrap(), *segment);
        }
    }
}

#[test]
fn amounts_and_options_are_those_of_the_job() {
    let (imported, segment) = one(sample!("read.json"));
    assert_eq!((segment.ios(Op::Read), segment.bytes(Op::Read), segment.ios(Op::Write)), (1024, 4 << 20, 0));
    let stream = &segment.workload.streams[0];
    assert_eq!(
        (segment.workload.name.as_str(), stream.op, stream.size.max()),
        ("reads", Mix::Only(Op::Read), 4096)
    );
    assert_eq!(
        (stream.pattern, stream.arrival),
        (
            AccessPattern::Random(likenew_core::region::Region::bytes(0..4 << 20)),
            Arrival::Closed { depth: 1 }
        )
    );
    assert_eq!(segment.workload.until, Until::bytes(4 << 20));
    assert_eq!((imported.geometry.capacity, imported.geometry.block), (4 << 20, 4096));
    caveat(&imported, "interpolated");
    caveat(&imported, "completion latency");
    let (_, segment) = one(sample!("randrw.json"));
    assert_eq!(segment.ios(Op::Read) + segment.ios(Op::Write), 1024);
    assert_eq!(segment.workload.streams[0].op, Mix::Reads(70));
}

#[test]
fn bins_leave_nothing_to_interpolate() {
    let (imported, segment) = one(sample!("bins.json"));
    let value: serde_json::Value = serde_json::from_str(sample!("bins.json")).unwrap();
    let lat = &value["jobs"][0]["read"]["lat_ns"];
    let total = segment.total();
    assert_eq!(total.latency.count(), 1024);
    assert!((total.latency_ns_mean() / lat["mean"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("percentile")));
}

#[test]
fn flushes_beside_writes_are_counted_apart() {
    let (imported, segment) = one(sample!("buffered.json"));
    let stream = &segment.workload.streams[0];
    assert_eq!((stream.flush_every, stream.fsync_every, stream.sync), (0, 8, None));
    assert!(
        !imported.identity.caveats.iter().any(|caveat| caveat.contains("sync")),
        "{:?}",
        imported.identity
    );
    assert_eq!((segment.ios(Op::Write), segment.ios(Op::Flush)), (128, 15));
    assert_eq!(segment.iops(), Some(128.0 / 0.095));
}

#[test]
fn what_fio_did_not_measure_is_not_known() {
    let (imported, segment) = one(sample!("no_latency.json"));
    assert_eq!((segment.total().latency.count(), segment.total().latency_ns_sum), (0, 0));
    caveat(&imported, "not to measure latency");
    let (imported, segment) = one(sample!("no_percentiles.json"));
    assert!(segment.total().latency.count() == 0 && segment.total().latency_ns_sum > 0);
    caveat(&imported, "only the mean");
    caveat(&one(sample!("no_total_latency.json")).0, "disable_lat");
}

#[test]
fn copies_are_one_workload_whether_fio_has_joined_them_or_not() {
    for text in [sample!("copies.json"), sample!("grouped.json")] {
        let (_, segment) = one(text);
        assert_eq!(
            (segment.workload.lanes, segment.ios(Op::Read), segment.latencies().count()),
            (4, 4096, 4096)
        );
        assert_eq!(segment.workload.until, Until::bytes(16 << 20));
    }
}

#[test]
fn jobs_that_follow_one_another_do_so_in_time() {
    let imported = import(sample!("two.json")).unwrap();
    let [one, two] = &imported.segments[..] else { panic!("two jobs") };
    assert_eq!((one.workload.name.as_str(), two.workload.name.as_str()), ("one", "two"));
    assert!(two.started_at == one.ended_at && two.elapsed() > likenew_core::units::Nanos::ZERO);
}

#[test]
fn mixed_reports_are_taken_apart_and_reported_to_be() {
    let (imported, segment) = one(sample!("mixed.json"));
    caveat(&imported, "as one number");
    assert_eq!((segment.ios(Op::Read), segment.ios(Op::Write)), (717, 307));
    assert_eq!(segment.total().bytes, 4 << 20);
    let (imported, segment) = one(sample!("both.json"));
    assert_eq!(segment.total().ios, 1024, "the sum is not counted again");
    assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("as one number")));
}

#[test]
fn errors_notes_and_repeated_documents_are_named() {
    let (imported, segment) = one(sample!("error.json"));
    assert_eq!((segment.errors(), segment.stop), (1, Stop::JobFailed { errno: 25 }));
    caveat(&imported, "Inappropriate ioctl");
    caveat(&import(sample!("status.json")).unwrap(), "--status-interval");
    let (imported, _) = one(sample!("warned.json"));
    caveat(&imported, "direct=1");
    assert!(imported.identity.facts.contains(&("ioengine".into(), "psync".into())));
    let (_, segment) = one(sample!("client.json"));
    assert_eq!((segment.workload.name.as_str(), segment.ios(Op::Read)), ("remote on 127.0.0.1", 1024));
}

#[test]
fn the_longest_the_mean_and_every_percentile_are_fios_own() {
    for text in SAMPLES {
        let start = text.find('{').unwrap();
        let mut documents =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>();
        let (value, imported) = (documents.next().unwrap().unwrap(), import(text).unwrap());
        let jobs = value["jobs"].as_array().filter(|jobs| jobs.len() == 1 && documents.next().is_none());
        for (job, op) in jobs.into_iter().flatten().flat_map(|job| [(job, Op::Read), (job, Op::Write)]) {
            let lat = &job[op.name()]["lat_ns"];
            let tallies = imported.segments.iter().flat_map(|segment| &segment.tallies);
            let tallies: Vec<_> = tallies.filter(|tally| tally.op == op && tally.bytes > 0).collect();
            let ([tally], true) = (&tallies[..], lat["N"].as_u64() > Some(0)) else { continue };
            let mean = tally.latency_ns_sum as f64 / tally.ios as f64;
            assert!((mean / lat["mean"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{mean} in {text}");
            if tally.latency.count() == 0 {
                continue;
            }
            assert_eq!(tally.latency.max().0, lat["max"].as_u64().unwrap(), "{text}");
            let listed = [&lat["percentile"], &job[op.name()]["clat_ns"]["percentile"]];
            let listed = listed.iter().find_map(|listed| listed.as_object());
            for (percent, ns) in listed.expect("what has a distribution has percentiles") {
                let quantile = tally.latency.quantile(percent.parse::<f64>().unwrap() / 100.0).0;
                assert_eq!(quantile, ns.as_u64().unwrap(), "{percent} in {text}");
            }
        }
    }
}

#[test]
fn settings_that_no_workload_says_are_named_and_rates_are_kept() {
    let text = sample!("read.json").replace(
        "\"rw\" : \"randread\"",
        "\"rw\" : \"randread\", \"thinktime\" : \"5\", \"rate_iops\" : \"2k\"",
    );
    let (imported, segment) = one(&text);
    caveat(&imported, "thinktime=5");
    assert!(matches!(segment.workload.streams[0].arrival, Arrival::Open { per_second: 2048.0, .. }));
}

#[test]
fn a_rate_is_that_of_what_the_job_does() {
    for (rw, rate, per_second) in [
        ("randread", "4m,8m", Some(1024.0)),
        ("randwrite", "4m,8m", Some(2048.0)),
        ("randwrite", "4m", Some(1024.0)),
        ("randrw", "4m", Some(2048.0)),
        ("randrw", "4m,8m", Some(3072.0)),
        ("randread", ",8m", None),
        ("randwrite", "4m,", None),
    ] {
        let options = format!("\"rw\" : \"{rw}\", \"rate\" : \"{rate}\"");
        let (_, segment) = one(&sample!("read.json").replace("\"rw\" : \"randread\"", &options));
        let arrival_rate = match segment.workload.streams[0].arrival {
            Arrival::Open { per_second, .. } => Some(per_second),
            _ => None,
        };
        assert_eq!(arrival_rate, per_second, "{rw} {rate}");
    }
}

#[test]
fn where_fio_does_not_count_latencies_they_are_those_of_all_ios() {
    let (_, reference) = one(sample!("read.json"));
    // In the form of fio before 3.18.
    let mut value: serde_json::Value = serde_json::from_str(sample!("read.json")).unwrap();
    for kind in ["slat_ns", "clat_ns", "lat_ns"] {
        value["jobs"][0]["read"][kind].as_object_mut().unwrap().remove("N").unwrap();
    }
    let (_, segment) = one(&value.to_string());
    assert_eq!(segment.latencies(), reference.latencies());
}

#[test]
fn what_is_not_fios_json_is_refused_with_a_remedy() {
    for (text, words) in [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("<!DOCTYPE html><html>{}</html>", "page"),
        ("[{\"jobs\": []}]", "a list"),
        (sample!("terse.txt"), "terse output); run fio with --output-format=json"),
        (sample!("normal.txt"), "for people); run fio"),
        ("hello", "it is not fio's JSON output; run fio"),
        ("{}", "\"fio version\": expected"),
        ("{\"fio version\": \"fio-3.33\"}", "jobs: expected a list of jobs"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": [], \"timestamp\": 1}", "at least one job"),
        ("{\"fio version\": \"fio-2.21\"}", "fio 3 or newer"),
        ("{\"fio version\": \"3\"}", "such as \"fio-3.33\""),
        ("{\"fio version\": 3}", "a text, found 3"),
    ] {
        let error = import(text).unwrap_err().to_string();
        assert!(error.contains(words), "{text:.40}: {error}");
    }
}

#[test]
fn damage_is_named_by_its_place() {
    let text = sample!("read.json");
    let cut = &text[..text.len() / 2];
    let error = import(cut).unwrap_err();
    assert!(error.to_string().ends_with(": the file is cut off"), "{error}");
    let ImportError::Malformed { line, .. } = error else { panic!("{error}") };
    assert_eq!(line, cut.lines().count());
    let after_note = format!("fio: a note\n{}", text.replacen("\"bw\" : ", "\"bw\" : nan", 1));
    let place = after_note.lines().position(|line| line.contains("nan")).unwrap() + 1;
    let Err(ImportError::Malformed { line, .. }) = import(&after_note) else { panic!("nan is no JSON") };
    assert_eq!(line, place);
}

/// Logs, pipes and tools add their own text around fio's JSON.
#[test]
fn a_document_is_found_in_what_is_printed_around_it() {
    let text = sample!("read.json");
    let text = &text[text.find('{').unwrap()..];
    let (_, reference) = one(text);
    let stamped = |stamp: &str| text.lines().map(|line| format!("{stamp}{line}\n")).collect::<String>();
    for wrapped in [
        format!("\u{feff}{text}"),
        format!("Jobs: 1 (f=1): [r(1)][100.0%][eta 00m:00s]\r{text}"),
        format!("{{\"level\":\"info\",\"msg\":\"begins\"}}\n{text}"),
        format!("{{\"level\": {{\"a\": 1}}, {{ \n {text}"),
        format!("Jobs: 1 (f=1): [r(1)][100.0%][eta 00m:00s]{text}"),
        format!("\u{1b}[32mJobs: 1\u{1b}[0m\r\u{1b}[K{text}").replace('\n', "\r\n"),
        stamped("\u{1b}[36mfio-1  |\u{1b}[0m "),
        text.lines().enumerate().map(|(n, line)| format!("12:00.{n}Z stdout F {line}\n")).collect(),
        format!("{{not a document}}\n  {{ nor this\n{text}"),
        format!("{text}\n{{\"level\":\"info\"}}\n"),
        stamped("2026-01-01T00:00:00.000Z "),
        stamped("Jan 01 00:00:00 host fio[4711]: "),
        format!("2026-01-01T00:00:00.000Z a note\n\n{}", stamped("2026-01-01T00:00:00.001Z ")),
    ] {
        let (_, segment) = one(&wrapped);
        assert_eq!(segment.latencies(), reference.latencies(), "{wrapped:.80}");
    }
}

/// The settings that the caveat about unmapped options names.
fn named_settings(options: &[(&str, &str)]) -> String {
    let mut value: serde_json::Value = serde_json::from_str(sample!("read.json")).unwrap();
    for (option, text) in options {
        value["jobs"][0]["job options"][option] = (*text).into();
    }
    let (imported, _) = one(&value.to_string());
    let settings = imported.identity.caveats.iter().find_map(|caveat| caveat.split_once("of the workload: "));
    settings.map_or_else(String::new, |(_, settings)| settings.to_owned())
}

#[test]
fn an_option_that_only_describes_the_load_keeps_no_result_from_being_read() {
    for (option, value) in [("rate_iops", "0"), ("rate", "0"), ("offset", "25%"), ("write_lat_log", "x")] {
        assert_eq!(named_settings(&[(option, value), ("size", "10%")]), "", "{option}={value}");
    }
    for (option, value) in [
        ("io_size", "200%"),
        ("size", "(2g*3)"),
        ("offset", "3z"),
        ("runtime", "$RUNTIME"),
        ("rate", "1m:2m"),
        ("bs", "lots"),
        ("bs", "0"),
        ("bs", "2t"),
        ("iodepth", "(8*4)"),
        ("numjobs", "0"),
        ("buffer_compress_percentage", "101"),
        ("random_distribution", "zipf:99"),
        ("random_distribution", "zipf:1.2:0.3"),
        ("random_distribution", "pareto:0.2"),
        ("cpus_allowed", "0"),
        ("sync", "often"),
        ("fsync", "often"),
        ("sync_file_range", "write:8"),
        ("thinktime", "5"),
        ("an_option_to_come", "1"),
    ] {
        assert_eq!(named_settings(&[(option, value)]), format!("{option}={value}"));
    }
    assert_eq!(named_settings(&[("rw", "randrw"), ("bs", "16k,64k")]), "bs=16k,64k");
    assert_eq!(named_settings(&[("offset", "25%")]), "offset=25%");
    assert_eq!(named_settings(&[("fsync_on_close", ""), ("fixedbufs", "1")]), "fixedbufs=1 fsync_on_close");
}

#[test]
fn how_writes_are_made_durable_is_read_and_a_barrier_is_said_to_be_none() {
    let with_options =
        |options: &str| one(&sample!("write.json").replace("\"rw\" :", &format!("{options}, \"rw\" :")));
    for (value, sync) in [
        ("none", None),
        ("0", None),
        ("1", Some(Durability::File)),
        ("sync", Some(Durability::File)),
        ("dsync", Some(Durability::Data)),
    ] {
        let (imported, segment) =
            with_options(&format!("\"sync\" : \"{value}\", \"fsync\" : \"1k\", \"fdatasync\" : \"3\""));
        let stream = &segment.workload.streams[0];
        assert_eq!((stream.flush_every, stream.fsync_every, stream.sync), (3, 1024, sync), "{value}");
        assert!(!imported.identity.caveats.iter().any(|caveat| caveat.contains("sync")), "{value}");
    }
    caveat(&with_options("\"write_barrier\" : \"8\"").0, "write_barrier changes nothing");
    let without = with_options("\"write_barrier\" : \"0\"").0;
    assert!(!without.identity.caveats.iter().any(|caveat| caveat.contains("barrier")));
}

#[test]
fn copies_share_a_file_only_where_it_is_named() {
    let jobs = |options: &str| {
        let text = sample!("copies.json").replace("\"rw\" : \"randread\"", "\"rw\" : \"read\"");
        let named = "\"filename\" : \"/tmp/fio.bin\"";
        assert!(text.contains(named) && text.contains("\"rw\" : \"read\""), "{text}");
        one(&text.replace(named, options))
    };
    let is_overlapping = |imported: &Import| {
        imported.identity.caveats.iter().any(|caveat| caveat.contains("each copy covered the whole zone"))
    };
    let (imported, _) = jobs("\"filename\" : \"/tmp/fio.bin\"");
    assert!(is_overlapping(&imported) && imported.geometry.capacity == 4 << 20, "{:?}", imported.geometry);
    let (imported, _) = jobs("\"directory\" : \"/tmp\"");
    assert!(!is_overlapping(&imported) && imported.geometry.capacity == 16 << 20, "{:?}", imported.geometry);
    assert_eq!(imported.identity.name, "/tmp");
}

#[test]
fn an_error_of_another_system_is_not_taken_for_one_of_linux() {
    let failed_with = |option: &str, text: &str, error: i32| {
        let mut value: serde_json::Value = serde_json::from_str(sample!("read.json")).unwrap();
        value["jobs"][0]["error"] = error.into();
        value["jobs"][0]["job options"][option] = text.into();
        one(&value.to_string())
    };
    for (option, text, error) in [
        ("ioengine", "windowsaio", 42),
        ("ioengine", "windowsaio", 84),
        ("filename", "C\\:\\test", 42),
        ("filename", "/dev/rdisk2", 92),
        ("filename", "/tmp/x", 84),
    ] {
        let (imported, segment) = failed_with(option, text, error);
        assert_eq!(segment.stop, Stop::JobFailed { errno: 84 }, "{option}={text}");
        caveat(&imported, "failed: it read other data than was written");
    }
    let (imported, segment) = failed_with("ioengine", "windowsaio", 43);
    assert_eq!(segment.stop, Stop::JobFailed { errno: -43 });
    caveat(&imported, "failed: error 43 of the system that it ran on");
}

#[test]
fn values_of_another_form_are_refused_by_path() {
    for (from, to, words) in [
        (
            "\"clat_ns\" : {",
            "\"clat\" : {",
            "jobs[0].read.clat_ns: expected an object with \"mean\" in nanoseconds, as fio 3 gives it, found nothing",
        ),
        ("\"lat_ns\" : {", "\"lat_us\" : {", "jobs[0].read.lat_ns: expected"),
        (
            "\"total_ios\" : 1024",
            "\"total_ios\" : -1024",
            "jobs[0].read.total_ios: expected a whole number from 0 to 2⁶⁰, found -1024",
        ),
        (
            "\"io_bytes\" : 4194304",
            "\"io_bytes\" : 4096",
            "jobs[0].read.io_bytes: expected bytes, 1024 times io_kbytes, found 4096",
        ),
        (
            "\"rw\" : \"randread\"",
            "\"rw\" : \"randseek\"",
            "jobs[0].\"job options\".rw: expected read, write,",
        ),
        ("\"error\" : 0", "\"error\" : \"EIO\"", "jobs[0].error: expected an error number"),
        ("\"job options\"", "\"options\"", "jobs[0].\"job options\": expected"),
        ("\"groupid\" : 0", "\"groupid\" : 1e300", "jobs[0].groupid: expected a whole number"),
    ] {
        let text = sample!("read.json").replacen(from, to, 1);
        assert_ne!(text, sample!("read.json"), "{from}");
        let error = import(&text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn numbers_beyond_any_drive_are_refused_before_they_overflow() {
    let job = |index: u32| {
        let value: serde_json::Value = serde_json::from_str(sample!("read.json")).unwrap();
        let mut job = value["jobs"][0].clone();
        job["jobname"] = format!("job {index}").into();
        job["read"]["io_bytes"] = (1u64 << 59).into();
        job["read"]["io_kbytes"] = (1u64 << 49).into();
        job
    };
    let mut value: serde_json::Value = serde_json::from_str(sample!("read.json")).unwrap();
    value["jobs"] = (0..40).map(job).collect::<Vec<_>>().into();
    let error = import(&value.to_string()).unwrap_err().to_string();
    assert!(error.contains("come to less than 2⁶⁰ in all"), "{error}");
}

#[test]
fn a_deep_nest_ends_in_an_error() {
    let text = format!("{{\"a\": {}", "[".repeat(100 << 20));
    assert!(matches!(import(&text), Err(ImportError::Malformed { .. })));
}

#[test]
fn jobs_of_one_name_are_distinguished() {
    let text = sample!("two.json").replace("\"jobname\" : \"two\"", "\"jobname\" : \"one\"");
    let imported = import(&text).unwrap();
    let names: Vec<&str> = imported.segments.iter().map(|segment| segment.workload.name.as_str()).collect();
    assert_eq!(names, ["one", "one (2)"]);
}

/// Replaces the value with this number, in the order of the document.
fn replace(value: &mut serde_json::Value, at: &mut usize, by: &serde_json::Value) {
    if *at == 0 {
        *value = by.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| replace(value, at, by)),
        serde_json::Value::Object(object) => object.values_mut().for_each(|value| replace(value, at, by)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn damaged_samples_never_panic(which in 0usize..SAMPLES.len(), from in 0.0..1.0f64, length in 0usize..40, with in "[0-9a-z\"{}\\[\\]:,. -]{0,6}") {
        let text = SAMPLES[which];
        let start = (from * text.len() as f64) as usize;
        let mut bytes = text.as_bytes().to_vec();
        bytes.splice(start..(start + length).min(text.len()), with.bytes());
        let _ = import(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn strange_values_never_panic(
        which in 0usize..SAMPLES.len(), at in 1usize..400,
        number in prop_oneof![any::<f64>(), Just(1.1e18), Just(-1.0)], count in any::<u64>(),
        text in "[0-9a-z%/:,.-]{0,9}", kind in 0usize..5,
    ) {
        let document = &SAMPLES[which][SAMPLES[which].find('{').unwrap()..];
        let mut documents = serde_json::Deserializer::from_str(document).into_iter::<serde_json::Value>();
        let mut value = documents.next().unwrap().unwrap();
        let by: [serde_json::Value; 5] = [number.into(), count.into(), text.into(), serde_json::Value::Null, serde_json::json!({})];
        replace(&mut value, &mut at.clone(), &by[kind]);
        if let Ok(imported) = import(&value.to_string()) {
            for segment in &imported.segments {
                let stored = serde_json::to_string(segment).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Segment>(&stored).unwrap(), segment);
            }
        }
    }
}
