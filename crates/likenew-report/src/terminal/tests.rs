//! Tests whole pages of text.

use likenew_core::findings::{Action, Answer, Axis, Line, Loss, Mark, OverviewTable, Series, Shape};
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::document::Document;
use crate::labeled_document::label_all;
use crate::tests::fixtures;

mod pictures;
mod screens;

fn shown(documents: Vec<Document>, width: usize) -> String {
    show(&label_all(documents), &Terminal { width, view: View::Details, ..Terminal::default() })
}

/// A short document with a line and a mark.
fn small(name: &str, share: f64) -> Document {
    let mut document = fixtures::bench(name, share);
    document.tables.shift_remove("passes");
    document.tables.get_mut("results").unwrap().truncate(2);
    document.answers.truncate(1);
    document.overview.table = None;
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
    Sequential read 251 MB/s, write 77.2 MB/s; 4K random read QD1 21.4 MB/s.

    Sequential write: steady: all passes within 1.60%
        Estimate: 77.2 MB/s (76.4–77.9)
        Five passes of SEQ1M Q8T1 write lie within 1.60% of their median, and none
        of them stalled for 50 ms or more.
        Caveat: Only incompressible data was written; a drive that compresses may be
        faster with other data.

    Target sim:x25m: Intel X25-M 80 GB, simulated drive, 74.5 GiB in blocks of 512
      B; state: new.
    Run: bench of likenew 0.1.0, engine simulation, seed 7; wrote 8.57 GiB in 63.0 s
      of simulated time.
    Caveat: A simulated drive: its numbers are only as good as its model.

    results ────────────────────────────────────────────────────────────────────────
    test        op                 MB/s    IOPS  latency  latency  latency  latency
                             (low–high)             mean      p50      p99    p99.9
    ───────────────────────────────────────────────────────────────────────────────
    SEQ1M Q8T1  read      251 (249–254)  61,400  16.3 µs  14.7 µs  65.2 µs   147 µs
    SEQ1M Q8T1  write  77.2 (76.4–78.0)  18,800  53.1 µs  47.8 µs   212 µs   478 µs

    test        op     latency  latency
                        p99.99      max
    ───────────────────────────────────
    SEQ1M Q8T1  read    407 µs   978 µs
    SEQ1M Q8T1  write  1.33 ms  3.18 ms

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

    Sequential read 251 MB/s, write 77.2
    MB/s; 4K random read QD1 21.4 MB/s.

    Sequential write: steady: all passes
    within 1.60%
        Estimate: 77.2 MB/s (76.4–77.9)
        Five passes of SEQ1M Q8T1 write lie
        within 1.60% of their median, and
        none of them stalled for 50 ms or
        more.
        Caveat: Only incompressible data was
        written; a drive that compresses may
        be faster with other data.

    Target new: Intel X25-M 80 GB, simulated
      drive, 74.5 GiB in blocks of 512 B;
      state: new.
    Run: bench of likenew 0.1.0, engine
      simulation, seed 7; wrote 8.57 GiB in
      63.0 s of simulated time.
    Caveat: A simulated drive: its numbers
      are only as good as its model.

    used ───────────────────────────────────

    ✗ Writes run at 25% of new.

    ✗ Writes: 25% of new
        Interval: 25–26%
        All four tests write slower than
        when new, by the same share.
        Reads are as fast as when new, so
        neither link nor host is the cause.
        likenew recondition 'used'
          Restore it step by step · nothing
          lost · about 90 min · 140 GiB
          written

    Target used: Intel X25-M 80 GB,
      simulated drive, 74.5 GiB in blocks of
      512 B; state: used.
    Run: bench of likenew 0.1.0, engine
      simulation, seed 7; wrote 8.57 GiB in
      63.0 s of simulated time.
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
    SEQ1M Q8T1  read        1.00×  61,400
    SEQ1M Q8T1  write      0.250×  18,800

    test        op       IOPS        IOPS
                         used  used ÷ new
    ─────────────────────────────────────
    SEQ1M Q8T1  read   61,400       1.00×
    SEQ1M Q8T1  write   4,710      0.250×

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
                         p99.9    p99.9
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read    147 µs   147 µs
    SEQ1M Q8T1  write   478 µs  1.91 ms

    test        op     latency  latency
                        p99.99   p99.99
                           new     used
    ───────────────────────────────────
    SEQ1M Q8T1  read    407 µs   407 µs
    SEQ1M Q8T1  write  1.33 ms  5.31 ms

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

/// A word of a command that a shell must keep whole; a terminal may wrap it.
fn is_one_word(line: &str) -> bool {
    let line = line.trim().trim_end_matches(" \\");
    line.starts_with('\'') || !line.contains(' ')
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
        for line in text.lines().filter(|line| !is_one_word(line)) {
            assert!(line.width() <= width.max(Terminal::WIDTH_MIN), "{width}: {} {line}", line.width());
        }
    }
}

#[test]
fn a_legend_is_no_wider_than_the_terminal() {
    let documents = || label_all(["one", "two", "three", "four"].map(fixtures::fill).into());
    for width in [30, 80] {
        let text =
            show(&documents(), &Terminal { width, color: true, view: View::Details, ..Terminal::default() });
        let legend = text.lines().filter(|line| line.contains('━')).count();
        assert_eq!(legend, if width == 30 { 8 } else { 2 }, "two pictures of four lines");
    }
}

#[test]
fn color_changes_nothing_else() {
    let mut sweep = fixtures::example("sweep-new");
    // Without color, lines are drawn one below the other.
    sweep.series.retain(|_, series| series.shape == Shape::Heat);
    let documents = label_all(vec![fixtures::bench("sim:x25m", 0.25), fixtures::fill("sim:x25m"), sweep]);
    for view in [View::Screen, View::Details, View::Line] {
        color_changes_nothing(&documents, view);
    }
}

fn color_changes_nothing(documents: &[LabeledDocument], view: View) {
    let terminal = |color| Terminal { color, view, ..Terminal::default() };
    let plain = show(documents, &terminal(false));
    let colored = show(documents, &terminal(true));
    assert!(!plain.contains('\u{1b}'));
    let stripped: String = colored
        .split('\u{1b}')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain));
    assert!(colored.contains("\u{1b}[31m✗"), "a problem is red");
}

#[test]
fn every_standing_has_its_mark() {
    let mut document = fixtures::empty("nop");
    document.answers = vec![
        Answer::good("a", "A", "1"),
        Answer::problem("b", "B", "2"),
        Answer::unknown("c", "C", "3"),
        Answer::info("d", "D", "4"),
    ];
    document.summary = "Summary.".into();
    let text = shown(vec![document], 80);
    assert!(text.starts_with("✗ Summary.\n\n✓ A: 1\n✗ B: 2\n? C: 3\nD: 4\n\n"), "{text}");
}

#[test]
fn a_hostile_document_cannot_steer_the_terminal() {
    let steer = "\u{1b}[2J\u{202e}\r\n\t";
    let mut document = fixtures::fill(steer);
    document.procedure = steer.into();
    document.target.caveats = vec![steer.into()];
    document.target.facts = vec![(steer.into(), steer.into())];
    let action = Action::new(steer, steer).command(steer).undo(steer).loses(Loss::Everything);
    document.answers[0] = Answer::problem(steer, steer, steer)
        .with_evidence(steer)
        .caveat(steer)
        .action(action)
        .estimate(1.0, 0.0, 2.0, steer);
    document.summary = steer.into();
    document.overview.answers = vec![steer.into()];
    let mut table = OverviewTable::new([steer, steer]);
    table.push_with_share([steer, steer], Some(0.5));
    document.overview.table = Some(table);
    document.tables.insert(steer.into(), vec![[(steer.to_owned(), json!(steer))].into_iter().collect()]);
    let series = document.series.get_mut("files").unwrap();
    series.title = steer.into();
    series.x.label = steer.into();
    series.lines[0].name = steer.into();
    series.marks[0].label = steer.into();
    for documents in [vec![document.clone()], vec![document.clone(), document, fixtures::empty("nop")]] {
        for view in [View::Screen, View::Details, View::Line] {
            let details_command = Some(steer.to_owned());
            let terminal = Terminal { view, details_command, ..Terminal::default() };
            let text = show(&label_all(documents.clone()), &terminal);
            let steering = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(steering), "{:?}", text.find(steering));
        }
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
    let single = long(vec![fixtures::fill("a")]);
    assert!(
        single.ends_with(
            "   8  76.9       0  13.0 ms   836 ms\n… and 192 more rows: --json or --html has all of them"
        ),
        "{single}"
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
    let text = shown(vec![fixtures::example("endure-knees")], 80);
    let places = ["levels ─", "knees ─", "fills ─", "loops ─"].map(|title| text.find(title).unwrap());
    assert!(places.is_sorted(), "{places:?}");
}
