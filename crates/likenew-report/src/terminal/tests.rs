//! Whole pages of text, as people see them.

use likenew_core::verdict::{Axis, Line, Mark, Series, Shape, Standing, Verdict};
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::document::Document;
use crate::fixtures;
use crate::labelled_document::label_all;

mod pictures;

fn shown(documents: Vec<Document>, width: usize) -> String {
    show(&label_all(documents), &Terminal { width, colour: false })
}

/// A document that is quickly read, with a line and a mark.
fn small(name: &str, share: f64) -> Document {
    let mut document = fixtures::bench(name, share);
    document.tables.shift_remove("passes");
    document.tables.get_mut("results").unwrap().truncate(2);
    document.verdicts.truncate(1);
    document.target.accounting = None;
    document.series.clear();
    document.series.insert("seconds".into(), knee(share));
    document
}

fn knee(share: f64) -> Series {
    let speed = |second: i32| if second < 60 { 500e6 } else { 193e6 * share };
    let points = (0..=120).map(|second| [f64::from(second) * 1e9, speed(second)]).collect();
    Series::new("Speed over time", Shape::Line, Axis::new("time", "ns"), Axis::new("speed", "bytes/s"))
        .lines([Line::new("write", points)])
        .marks([Mark { x: 60e9, label: "knee".into() }])
}

#[test]
fn one_document_at_80_columns() {
    insta::assert_snapshot!(shown(vec![small("sim:x25m", 1.0)], 80), @r"
    Sequential writing is steady from pass to pass.
      holds: 77.2 MB/s (76.4 to 77.9 MB/s)
      evidence Five passes of SEQ1M Q8T1 write lie within 1.6 percent of their
               median, and none of them had a pause of more than 50 ms.
      caveat   Data was incompressible; a drive that compresses may show more on
               other data.

    sim:x25m: Intel X25-M 80 GB, a simulated drive, 74.5 GiB in blocks of 512 B;
      state: new.
    bench by likenew 0.1.0 over simulation, seed 7: 8.57 GiB written in 63.0 s of
      the drive's own time.
    Caveat: A simulated drive: its numbers are only as good as its model.

    results ────────────────────────────────────────────────────────────────────────
    test        op                 MB/s    IOPS  latency  latency  latency  latency
                             (low–high)             mean      p50      p99      max
    ───────────────────────────────────────────────────────────────────────────────
    SEQ1M Q8T1  read      251 (249–254)  61,353  16.3 µs  14.7 µs  65.2 µs   978 µs
    SEQ1M Q8T1  write  77.2 (76.4–78.0)  18,848  53.1 µs  47.8 µs   212 µs  3.18 ms

    Speed over time ────────────────────────────────────────────────────────────────
                                                 ▼
    600 MB/s ┤
             │
             │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⡇
             │                                  ⢇
    400 MB/s ┤                                  ⢸
             │                                  ⢸
             │                                  ⠸⡀
             │                                   ⡇
    200 MB/s ┤                                   ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
             │
             │
      0 MB/s ┤
             └┬────────────────┬─────────────────┬────────────────┬────────────────┬
        time  0 ns           30 s              1 min            90 s           2 min
    ▼ knee at time 60.0 s
    ");
}

#[test]
fn two_documents_at_40_columns() {
    insta::assert_snapshot!(shown(vec![small("new", 1.0), small("used", 0.25)], 40), @r"
    new ────────────────────────────────────
    Sequential writing is steady from pass
    to pass.
      holds: 77.2 MB/s (76.4 to 77.9 MB/s)
      evidence Five passes of SEQ1M Q8T1
               write lie within 1.6 percent
               of their median, and none of
               them had a pause of more than
               50 ms.
      caveat   Data was incompressible; a
               drive that compresses may
               show more on other data.

    new: Intel X25-M 80 GB, a simulated
      drive, 74.5 GiB in blocks of 512 B;
      state: new.
    bench by likenew 0.1.0 over simulation,
      seed 7: 8.57 GiB written in 63.0 s of
      the drive's own time.
    Caveat: A simulated drive: its numbers
      are only as good as its model.

    used ───────────────────────────────────
    The drive writes at 25 percent of its
    new speed.
      problem found: 25.0% (24.6% to 25.5%)
      evidence Every one of the four tests
               writes slower than when new,
               by the same share.
               Reading is as fast as when
               new, so the link and the host
               are not the cause.

    used: Intel X25-M 80 GB, a simulated
      drive, 74.5 GiB in blocks of 512 B;
      state: used.
    bench by likenew 0.1.0 over simulation,
      seed 7: 8.57 GiB written in 63.0 s of
      the drive's own time.
    Caveat: A simulated drive: its numbers
      are only as good as its model.

    results ────────────────────────────────
    test        op                 MB/s
                             (low–high)
                                    new
    ───────────────────────────────────
    SEQ1M Q8T1  read      251 (249–254)
    SEQ1M Q8T1  write  77.2 (76.4–78.0)

    test        op                 MB/s
                             (low–high)
                                   used
    ───────────────────────────────────
    SEQ1M Q8T1  read      251 (249–254)
    SEQ1M Q8T1  write  19.3 (19.1–19.5)

    test        op           MB/s    IOPS
                       used ÷ new     new
    ─────────────────────────────────────
    SEQ1M Q8T1  read        1.00×  61,353
    SEQ1M Q8T1  write       0.25×  18,848

    test        op       IOPS        IOPS
                         used  used ÷ new
    ─────────────────────────────────────
    SEQ1M Q8T1  read   61,353       1.00×
    SEQ1M Q8T1  write    4712       0.25×

    test        op     latency  latency
                          mean     mean
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read   16.3 µs  16.3 µs
    SEQ1M Q8T1  write  53.1 µs   212 µs

    test        op     latency  latency
                           p50      p50
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read   14.7 µs  14.7 µs
    SEQ1M Q8T1  write  47.8 µs   191 µs

    test        op     latency  latency
                           p99      p99
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read   65.2 µs  65.2 µs
    SEQ1M Q8T1  write   212 µs   849 µs

    test        op     latency  latency
                           max      max
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read    978 µs   978 µs
    SEQ1M Q8T1  write  3.18 ms  12.7 ms

    Speed over time ────────────────────────
    new
                             ▼
    600 MB/s ┤
             │
             │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⢹
             │              ⢸
    400 MB/s ┤              ⢸
             │              ⠈⡆
             │               ⡇
             │               ⡇
    200 MB/s ┤               ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
             │
             │
      0 MB/s ┤
             └┬────────────────────────────┬
        time  0 ns                     2 min
    used
                             ▼
    600 MB/s ┤
             │
             │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⢹
             │              ⢸
    400 MB/s ┤              ⢸
             │              ⢸
             │              ⠘⡄
             │               ⡇
    200 MB/s ┤               ⡇
             │               ⡇
             │               ⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
      0 MB/s ┤
             └┬────────────────────────────┬
        time  0 ns                     2 min
    ▼ new: knee at time 60.0 s; used: knee
      at time 60.0 s
    ");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let documents = || {
        let mut documents = fixtures::all();
        documents.extend([fixtures::bench("sim:x25m?state=used&fill=0.8", 0.25), fixtures::fill("b")]);
        documents
    };
    for width in [1, 30, 40, 60, 80, 120, 200] {
        let text = shown(documents(), width);
        for line in text.lines() {
            assert!(line.width() <= width.max(Terminal::WIDTH_MIN), "{width}: {} {line}", line.width());
        }
    }
}

#[test]
fn a_legend_is_no_wider_than_the_terminal() {
    let documents = || label_all(["one", "two", "three", "four"].map(fixtures::fill).into());
    for width in [30, 80] {
        let text = show(&documents(), &Terminal { width, colour: true });
        let legend = text.lines().filter(|line| line.contains('━')).count();
        assert_eq!(legend, if width == 30 { 8 } else { 2 }, "two pictures of four lines");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let mut sweep = fixtures::example("sweep-new");
    // Without colour, lines stand one below the other.
    sweep.series.retain(|_, series| series.shape == Shape::Heat);
    let documents = label_all(vec![fixtures::bench("sim:x25m", 0.25), fixtures::fill("sim:x25m"), sweep]);
    let plain = show(&documents, &Terminal { width: 80, colour: false });
    let coloured = show(&documents, &Terminal { width: 80, colour: true });
    assert!(!plain.contains('\u{1b}'));
    let stripped: String = coloured
        .split('\u{1b}')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain));
    assert!(coloured.contains("\u{1b}[31mproblem found"), "a problem is red");
}

#[test]
fn every_standing_has_its_word() {
    let mut document = fixtures::empty("nop");
    let verdict = |claim, standing| Verdict::new(claim, standing);
    document.verdicts = vec![
        verdict("a", Standing::Holds),
        verdict("b", Standing::Fails),
        verdict("c", Standing::Undecided),
        verdict("d", Standing::Holds).problem(),
        verdict("e", Standing::Fails).problem(),
        verdict("f", Standing::Undecided).problem(),
    ];
    let text = shown(vec![document], 80);
    assert!(
        text.starts_with(
            "a\n  holds\n\nb\n  does not hold\n\nc\n  undecided\n\nd\n  problem found\n\ne\n  no problem\n\nf\n  undecided\n"
        ),
        "{text}"
    );
}

#[test]
fn a_hostile_document_cannot_steer_the_terminal() {
    let steer = "\u{1b}[2J\u{202e}\r\n\t";
    let mut document = fixtures::fill(steer);
    document.procedure = steer.into();
    document.target.caveats = vec![steer.into()];
    document.target.facts = vec![(steer.into(), steer.into())];
    document.verdicts[0] = Verdict::new(steer, Standing::Holds)
        .with_evidence(steer)
        .caveat(steer)
        .estimate(1.0, 0.0, 2.0, steer);
    document.tables.insert(steer.into(), vec![[(steer.to_owned(), json!(steer))].into_iter().collect()]);
    let series = document.series.get_mut("files").unwrap();
    series.title = steer.into();
    series.x.label = steer.into();
    series.lines[0].name = steer.into();
    series.marks[0].label = steer.into();
    for documents in [vec![document.clone()], vec![document.clone(), document, fixtures::empty("nop")]] {
        let text = shown(documents, 80);
        let steering = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steering), "{:?}", text.find(steering));
    }
}

#[test]
fn nothing_to_show_is_reported() {
    let mut document = fixtures::empty("nop");
    document.tables.insert("stalls".into(), Vec::new());
    document.series.insert("seconds".into(), Series { lines: Vec::new(), ..knee(1.0) });
    let mut far = knee(1.0);
    far.lines[0].points[7][1] = f64::MAX;
    document.series.insert("far".into(), far);
    let text = shown(vec![document], 80);
    assert!(text.contains("points beyond 10³⁰ left out: 1"), "{text}");
    assert!(text.contains("no rows") && text.contains("nothing to draw"), "{text}");
    assert_eq!(shown(Vec::new(), 80), "");
}

#[test]
fn a_long_table_shows_its_first_rows_and_says_what_is_left() {
    let long = |documents: Vec<Document>| {
        let text = shown(documents, 80);
        let (_, files) = text.split_once("files ─").unwrap();
        files.split_once("\n\n").unwrap().0.to_owned()
    };
    let one = long(vec![fixtures::fill("a")]);
    assert!(
        one.ends_with(
            "   8  76.9       0  13.0 ms   836 ms\n… and 192 more rows: --json or --html has all of them"
        ),
        "{one}"
    );
    let mut wide = fixtures::fill("b");
    for row in wide.tables.get_mut("files").unwrap() {
        row.insert("latency_ns_median".into(), json!(1_000_000));
        row.insert("latency_ns_p99".into(), json!(2_000_000));
    }
    let two = long(vec![wide.clone(), wide]);
    assert!(two.lines().count() < 16, "a part of the rows has no parts of columns: {two}");
    assert!(
        two.ends_with("… and 192 more rows and 6 more columns: --json or --html has all of them"),
        "{two}"
    );
}

#[test]
fn tables_stand_in_the_order_of_the_document() {
    let text = shown(vec![fixtures::example("endure-steady")], 80);
    let places = ["knees ─", "levels ─", "rounds ─"].map(|title| text.find(title).unwrap());
    assert!(places.is_sorted(), "{places:?}");
}
