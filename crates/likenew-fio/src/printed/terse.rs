//! Reads fio's terse output (`--output-format=terse`, `--minimal`), one line for each job. A line becomes a job in the
//! form of fio's JSON, from which the same code makes segments. It has no settings, whole IOPS in place of counts, and
//! latencies in microseconds.

use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use serde_json::{Map, Value, json};

use crate::import::{Import, ImportError, import_of, of_jobs};
use crate::wording::{self, Notes};

/// Fields of one operation before its percentiles: amount, bandwidth, IOPS and run time, then shortest, longest, mean
/// and deviation of submission and of completion. All positions are those of `show_ddir_status_terse` in fio's
/// `stat.c`.
const FIELDS_BEFORE_PERCENTILES: usize = 12;
const COMPLETION: usize = 8;
const PERCENTILES: usize = 20;
const TOTAL: usize = FIELDS_BEFORE_PERCENTILES + PERCENTILES;
/// Fields of one operation; the last are shortest, longest, share, mean and deviation of the bandwidth over time.
const FIELDS: usize = TOTAL + 9;
/// Version 5 adds the number of bandwidth samples, and the same fields for IOPS.
const FIELDS_VERSION_5: usize = FIELDS + 6;

/// The engine's name; terse output does not say which one fio used.
const ENGINE: &str = "fio (terse)";

/// Reads all terse lines, whatever else was printed; `None` if there is none.
pub(super) fn read(text: &str) -> Result<Option<Import>, ImportError> {
    // Version 2 does not name the version of fio.
    patterns! { LINE = r"(?:^|\s)(?:(?<version>[345]);(?<fio>fio-[^;]*)|2);(?<rest>.*%=.*)$"; }
    let (mut jobs, mut engine) = (Vec::new(), ENGINE.to_owned());
    for (index, line) in text.lines().enumerate() {
        let Some(captures) = LINE.captures(line) else { continue };
        let version = captures.name("version").map_or("2", |version| version.as_str());
        let fields: Vec<&str> = captures["rest"].split(';').collect();
        let malformed = ImportError::Line { line: index + 1, reason: wording::TERSE_FIELDS };
        jobs.push(job(version, &fields).ok_or(malformed)?);
        if let Some(fio) = captures.name("fio") {
            engine = format!("{ENGINE} {}", fio.as_str().trim_start_matches("fio-"));
        }
    }
    if jobs.is_empty() {
        return Ok(None);
    }
    let mut notes = Notes::new(1);
    let segments: Vec<Segment> = of_jobs(&json!({ "jobs": jobs }), &mut notes)?;
    Ok(Some(import_of("fio", &engine, wording::terse(&notes), segments)))
}

/// A terse line, without its version, as a job of fio's JSON; `None` if it is cut off or has another form.
fn job(version: &str, fields: &[&str]) -> Option<Value> {
    // A name may contain semicolons, so fields are counted from the first percentile.
    let percentile = fields.iter().position(|field| field.contains("%="))?;
    let start = percentile.checked_sub(FIELDS_BEFORE_PERCENTILES)?;
    let name = fields.get(..start.checked_sub(2)?).filter(|name| !name.is_empty())?.join(";");
    let (group, error) = (fields[start - 2].parse::<u64>().ok()?, fields[start - 1].parse::<i32>().ok()?);
    let width = if version == "5" { FIELDS_VERSION_5 } else { FIELDS };
    let ops = if version == "3" { &["read", "write"][..] } else { &["read", "write", "trim"][..] };
    let mut job = Map::new();
    let mut sides = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        let at = start + index * width;
        let side = Side::read(fields.get(at..at + width)?)?;
        job.insert((*op).to_owned(), side.json());
        sides.push(side);
    }
    if version == "3" {
        job.insert("trim".to_owned(), Side::default().json());
        sides.push(Side::default());
    }
    job.insert("jobname".to_owned(), name.into());
    job.insert("groupid".to_owned(), group.into());
    job.insert("error".to_owned(), error.into());
    job.insert("job options".to_owned(), options(&sides));
    Some(job.into())
}

/// The options that the job must have had, derived from its results.
fn options(sides: &[Side]) -> Value {
    let [reads, writes, trims] = [0, 1, 2].map(|index| sides[index].ios);
    let rw = match (reads > 0, writes > 0, trims > 0) {
        (true, true, _) => "rw",
        (_, true, true) => "trimwrite",
        (_, true, _) => "write",
        (_, _, true) => "trim",
        _ => "read",
    };
    let share =
        (reads as f64 / (reads.saturating_add(writes).max(1)) as f64 * 100.0).round().clamp(1.0, 99.0);
    let most = sides.iter().max_by_key(|side| side.bytes).filter(|side| side.ios > 0);
    let sectors =
        most.map_or(8, |side| (side.bytes as f64 / side.ios as f64 / SECTOR).round().max(1.0) as u64);
    let ms = sides.iter().map(|side| side.ms).max().unwrap_or_default().max(1);
    json!({
        "rw": rw, "rwmixread": share.to_string(), "bs": (sectors.saturating_mul(SECTOR as u64)).to_string(),
        "runtime": format!("{ms}ms"),
    })
}

/// In bytes. A derived length is rounded to whole sectors, since it is a quotient of rounded numbers.
const SECTOR: f64 = 512.0;

/// One operation of a job.
#[derive(Default)]
struct Side {
    bytes: u64,
    ios: u64,
    ms: u64,
    /// Shortest, longest and mean latency in nanoseconds.
    completion: [f64; 3],
    total: [f64; 3],
    /// Percentile as fio spells it, and its latency in nanoseconds.
    percentiles: Vec<(String, u64)>,
}

impl Side {
    fn read(fields: &[&str]) -> Option<Self> {
        let count = |at: usize| fields[at].parse::<u64>().ok();
        let (kibibytes, iops, ms) = (count(0)?, count(2)?, count(3)?);
        let bytes = kibibytes.checked_mul(1024)?;
        let ios = (iops as f64 * Nanos::from_millis(ms.min(MS_MAX)).as_secs_f64()).round() as u64;
        let times = |at: usize| {
            let ns = |at: usize| fields[at].parse::<f64>().ok().filter(|us| (0.0..=US_MAX).contains(us));
            Some([ns(at)? * 1e3, ns(at + 1)? * 1e3, ns(at + 2)? * 1e3])
        };
        let mut percentiles = Vec::new();
        for field in &fields[FIELDS_BEFORE_PERCENTILES..TOTAL] {
            let (share, us) = field.split_once("%=")?;
            // fio fills unused places with zeros.
            if share != "0" {
                percentiles.push((share.to_owned(), us.parse::<u64>().ok()?.checked_mul(1000)?));
            }
        }
        let (completion, total) = (times(COMPLETION)?, times(TOTAL)?);
        Some(Self { bytes, ios: ios.max(u64::from(bytes > 0)), ms, completion, total, percentiles })
    }

    fn json(&self) -> Value {
        let times =
            |[min, max, mean]: [f64; 3]| json!({ "min": min as u64, "max": max as u64, "mean": mean });
        let mut completion = times(self.completion);
        if !self.percentiles.is_empty() {
            completion["percentile"] =
                self.percentiles.iter().map(|(share, ns)| (share.clone(), Value::from(*ns))).collect();
        }
        json!({
            "total_ios": self.ios, "io_bytes": self.bytes, "runtime": self.ms,
            "lat_ns": times(self.total), "clat_ns": completion,
        })
    }
}

/// Milliseconds and microseconds that are accepted, a thousand years and a year; nobody measures longer.
const MS_MAX: u64 = 1 << 45;
const US_MAX: f64 = 3.2e13;

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::io::Op;
    use likenew_core::segment::Stop;

    const VERSION_3: &str = include_str!("../../tests/samples/terse.txt");

    fn segment_of(text: &str) -> Segment {
        let mut segments = read(text).unwrap().unwrap().segments;
        assert_eq!(segments.len(), 1);
        segments.remove(0)
    }

    /// The sample in another version of terse output, as fio 3.33 writes it.
    fn as_version(version: u8) -> String {
        let line = VERSION_3.lines().next().unwrap();
        let fields: Vec<&str> = line.split(';').collect();
        let (head, read, write) =
            (&fields[2..5], &fields[5..5 + FIELDS], &fields[5 + FIELDS..5 + 2 * FIELDS]);
        let more = if version == 5 { ";3;4402;5582;5005.3;590.4;3" } else { "" };
        let sides = [read, write, write].map(|side| side.join(";") + more).join(";");
        let fio = if version == 2 { "" } else { "fio-3.33;" };
        format!("{version};{fio}{};{sides};1.0%;16.2%;14323;0;13", head.join(";"))
    }

    #[test]
    fn every_version_says_the_same() {
        let of_3 = segment_of(VERSION_3);
        let total = of_3.total();
        assert_eq!((of_3.elapsed(), total.bytes), (Nanos::from_millis(115), 4096 << 10));
        assert_eq!((total.op, total.ios, total.latency_ns_mean().round()), (Op::Read, 1024, 111_102.0));
        assert_eq!((total.latency.quantile(0.99).0, total.latency.max().0), (1_011_000, 4_018_000));
        assert_eq!(of_3.workload.streams[0].size.mean(), 4096.0);
        for version in [2, 4, 5] {
            assert_eq!(segment_of(&as_version(version)), of_3, "version {version}");
        }
    }

    #[test]
    fn text_around_lines_is_skipped_and_names_may_hold_semicolons() {
        let line = as_version(4).replace(";terse;0;0;", ";a; b;0;0;");
        let imported = read(&format!("fio: a warning\n\n{line}\n{VERSION_3}Run status\n")).unwrap().unwrap();
        let names: Vec<&str> =
            imported.segments.iter().map(|segment| segment.workload.name.as_str()).collect();
        assert_eq!((names, &*imported.identity.engine), (vec!["a; b", "terse"], "fio (terse) 3.33"));
        assert!(imported.identity.caveats.iter().any(|caveat| caveat.contains("terse output")));
        assert_eq!(read("2;3;4\n3;hello").unwrap(), None);
    }

    #[test]
    fn an_error_of_a_job_is_its_end() {
        let failed = segment_of(&VERSION_3.replacen(";terse;0;0;", ";terse;0;5;", 1));
        assert_eq!(failed.stop, Stop::JobFailed { errno: 5 });
    }

    #[test]
    fn a_line_that_is_cut_off_is_named() {
        let line = VERSION_3.lines().next().unwrap();
        for cut in ["0%=0;0%=0;0%=0;54;4018", "1.000000%=35;5"] {
            let text = format!("{line}\n{}", &line[..line.find(cut).unwrap() + cut.len()]);
            let error = read(&text).unwrap_err().to_string();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }
}
