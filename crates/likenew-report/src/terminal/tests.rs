//! Whole pages of text, as people see them.

use likenew_core::verdict::{Axis, Line, Mark, Series, Shape, Standing, Verdict};
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::document::Document;
use crate::fixtures;
use crate::labelled::label_all;

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
      because  Five passes of SEQ1M Q8T1 write lie within 1.6 percent of their
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
      because  Five passes of SEQ1M Q8T1
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
      because  Every one of the four tests
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
fn bars_have_their_names_and_numbers() {
    let mut document = fixtures::bench("sim:x25m", 1.0);
    document.tables.clear();
    document.verdicts.clear();
    let text = shown(vec![document], 60);
    let (_, bars) = text.split_once("Speed of each test").unwrap();
    insta::assert_snapshot!(bars, @r"
     ─────────────────────────────────────────
    SEQ1M Q8T1  read  ███████████████████████████████ 251 MB/s
                write █████████▌ 77.2 MB/s
    SEQ1M Q1T1  read  █████████████████████████████▌ 239 MB/s
                write █████████▍ 76.1 MB/s
    RND4K Q32T1 read  ██████████████████▎ 148 MB/s
                write ████▉ 39.3 MB/s
    RND4K Q1T1  read  ██▋ 21.4 MB/s
                write ███▊ 30.8 MB/s
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
    let documents = label_all(vec![fixtures::bench("sim:x25m", 0.25), fixtures::fill("sim:x25m")]);
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
    document.verdicts[0] =
        Verdict::new(steer, Standing::Holds).because(steer).caveat(steer).estimate(1.0, 0.0, 2.0, steer);
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
fn nothing_to_show_is_said() {
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

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::Line), Just(Shape::Bars), Just(Shape::Scatter)]
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3f64..1e3, 0.0f64..1e13, prop::num::f64::ANY, Just(0.0), Just(1.0)]
}

proptest! {
    #[test]
    fn any_picture_can_be_shown(
        shape in shapes(),
        points in prop::collection::vec((numbers(), numbers()), 0..80),
        categories in 0usize..4,
        unit in prop_oneof!["ns", "bytes", "bytes/s", "", "points"],
        width in 0usize..250,
        colour: bool,
    ) {
        let mut document = fixtures::empty("nop");
        let mut series = knee(1.0);
        series.shape = shape;
        series.x.unit.clone_from(&unit);
        series.y.unit = unit;
        series.categories = (0..categories).map(|index| format!("category {index}")).collect();
        series.marks.extend(points.iter().map(|(x, _)| Mark { x: *x, label: "here".into() }));
        series.lines = vec![
            Line::new("one", points.iter().map(|(x, y)| [*x, *y]).collect()),
            Line::new("two", points.iter().rev().map(|(x, y)| [*x, *y]).collect()),
        ];
        document.series.insert("any".into(), series);
        let text = show(&label_all(vec![document]), &Terminal { width, colour });
        prop_assert!(text.contains("Speed over time"));
    }
}
