//! Tests charts as they are shown.

use likenew_core::findings::Axis;

use super::*;

/// A document with only this chart.
fn drawn(series: Series, width: usize) -> String {
    let mut document = fixtures::empty("nop");
    document.series.insert("any".into(), series);
    let text = shown(vec![document], width);
    let (_, picture) = text.split_once("model.\n\n").unwrap();
    picture.to_owned()
}

fn heat() -> Series {
    let rows = [("1", [6.65e6, 44.8e6, 196e6]), ("32", [67.1e6, 179e6, 252e6])];
    let row = |(name, speeds): (&str, [f64; 3])| {
        Line::new(name, speeds.iter().enumerate().map(|(x, speed)| [x as f64, *speed]).collect())
    };
    let mut lines = rows.map(row);
    lines[1].points.pop();
    Series::new(
        "Each size and depth",
        Shape::Heat,
        Axis::new("block size", ""),
        Axis::new("speed", "bytes/s"),
    )
    .rows("queue depth")
    .categories(["512 B", "4 KiB", "64 KiB"])
    .lines(lines)
}

#[test]
fn a_heat_map_has_numbers_and_shades() {
    insta::assert_snapshot!(drawn(heat(), 80), @r"
    Each size and depth ────────────────────────────────────────────────────────────
    rows: queue depth · columns: block size · cells: speed
          512 B    4 KiB   64 KiB
    1   ░░ 6.65  ░░ 44.8  ██  196
    32  ▒▒ 67.1  ██  179        –
    ░░ below 49.0 MB/s   ▒▒ below 98.0 MB/s   ▓▓ below 147 MB/s   ██ up to 196 MB/s
    ");
}

#[test]
fn a_heat_map_wider_than_the_terminal_stands_in_parts() {
    let mut series = heat();
    series.categories.extend(["1 MiB".into(), "a name that is longer than half of the terminal".into()]);
    insta::assert_snapshot!(drawn(series, 30), @r"
    Each size and depth ──────────
    rows: queue depth · columns:
      block size · cells: speed
               512 B         4 KiB
    1   ░░      6.65  ░░      44.8
    32  ▒▒      67.1  ██       179

              64 KiB         1 MiB
    1   ██       196             –
    32             –             –

        a name that…
    1              –
    32             –
    ░░ below 49.0 MB/s
    ▒▒ below 98.0 MB/s
    ▓▓ below 147 MB/s
    ██ up to 196 MB/s
    ");
}

#[test]
fn of_two_heat_maps_the_first_is_shown_and_what_became_of_it() {
    let document = |name: &str, share: f64| {
        let mut document = fixtures::empty(name);
        let mut series = heat();
        for line in &mut series.lines {
            line.points.iter_mut().for_each(|[x, speed]| *speed *= if *x > 0.0 { share } else { 1.0 });
        }
        document.series.insert("any".into(), series);
        document
    };
    let text = shown(vec![document("new", 1.0), document("used", 0.4)], 80);
    let (_, pictures) = text.split_once("Each size").unwrap();
    insta::assert_snapshot!(pictures, @r"
     and depth · new ──────────────────────────────────────────────────────
    rows: queue depth · columns: block size · cells: speed
          512 B    4 KiB   64 KiB
    1   ░░ 6.65  ░░ 44.8  ██  196
    32  ▒▒ 67.1  ██  179        –
    ░░ below 49.0 MB/s   ▒▒ below 98.0 MB/s   ▓▓ below 147 MB/s   ██ up to 196 MB/s

    Each size and depth · used ÷ new ───────────────────────────────────────────────
    rows: queue depth · columns: block size · cells: used ÷ new
            512 B      4 KiB     64 KiB
    1   ·   1.00×  ▼▼ 0.400×  ▼▼ 0.400×
    32  ·   1.00×  ▼▼ 0.400×          –
    ▼▼ below 0.500×   ▼  below 0.900×   ·  below 1.10×   ▲  below 2.00×
    ▲▲ 2.00× or more
    ");
}

#[test]
fn a_large_heat_map_is_cut_and_says_so() {
    let mut series = heat();
    series.categories = (0..60).map(|index| format!("c{index}")).collect();
    series.lines = (0..50).map(|row| Line::new(row.to_string(), vec![[0.0, 1.0]])).collect();
    let text = drawn(series, 200);
    assert!(
        text.contains("… and 10 more rows and 20 more columns: --json or --html has all of them"),
        "{text}"
    );
}

#[test]
fn a_logarithmic_axis_spreads_sizes_and_keeps_marks_in_their_place() {
    let point = |power: i32| [2_f64.powi(power), 250e6 / (1.0 + 65536.0 / 2_f64.powi(power))];
    let x = Axis::new("block size", "bytes").logarithmic();
    let series = Series::new("Speed of each size", Shape::Line, x, Axis::new("speed", "bytes/s"))
        .lines([Line::new("write", (9..=23).map(point).collect()).band(vec![[512.0, 1.0, 2.0]])])
        .marks([Mark { x: 65536.0, label: "half of the most".into() }]);
    insta::assert_snapshot!(drawn(series, 70), @r"
    Speed of each size ───────────────────────────────────────────────────
                                            ▼
    300 MB/s ┤
             │
             │                                            ⣀⣀⠤⠤⠤⠔⠒⠒⠒⠊⠉⠉⠉⠉⠉⠉
             │                                       ⢀⡠⠔⠊⠉
    200 MB/s ┤                                   ⢀⡠⠔⠊⠁
             │                                ⢀⡠⠊⠁
             │                              ⡠⠔⠁
             │                           ⢀⠔⠊
    100 MB/s ┤                        ⢀⡠⠊⠁
             │                     ⣀⠤⠒⠁
             │                ⣀⣀⠤⠒⠉
      0 MB/s ┤⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠒⠒⠒⠉⠉
             └────────────┬─────────────────┬────────────────┬────────────
                        4 KiB            64 KiB            1 MiB
                                                                block size
    The intervals around the lines: --json or --html has them.
    ▼ half of the most at block size 64 KiB
    ");
}

#[test]
fn thousands_of_points_show_where_they_crowd() {
    // Two bands of access times, the upper one with a tenth of the points.
    let least = |index: u64| if index.is_multiple_of(10) { 4e6 } else { 80e3 };
    let time = |index: u64| least(index) * (1.0 + (index * 37 % 100) as f64 / 100.0);
    let points = (0..4000).map(|index: u64| [((index * 7919) % 4000) as f64 * 20e6, time(index)]).collect();
    let (x, y) = (Axis::new("offset", "bytes"), Axis::new("access time", "ns").logarithmic());
    let series = Series::new("Access times", Shape::Scatter, x, y).lines([Line::new("read", points)]);
    insta::assert_snapshot!(drawn(series, 70), @r"
    Access times ─────────────────────────────────────────────────────────
           │⠨⡖⠵⡪⢖⠵⡪⢖⠵⡪⢖⠵⡢⢗⠬⡢⢕⠮⡒⢕⠪⡖⠵⡪⢖⠵⡪⢖⠵⡪⢖⠵⡢⢗⠬⡢⢕⠮⡒⢕⠪⡖⠵⡪⢖⠵⡪⢖⠵⡪⢖⠵⡪⢖⠼⡢⢕⠬⡲⢕⠪⡒
           │⡑⢌⠢⡑⢄⠣⡈⢆⠑⡌⠢⡑⢌⠢⡑⢌⠢⡑⢌⠢⡑⢌⠢⡑⢄⠣⡈⢆⠑⡌⠢⡑⢌⠢⡑⢌⠢⡑⢌⠢⡑⢌⠢⡑⢄⠣⡈⢆⠑⡌⠢⡑⢌⠢⡑⢌⠢⡑⢌⠢⡑⠄
           │
           │
           │
      1 ms ┤
           │
           │
           │
           │
           │⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
    100 µs ┤⢿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⢿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡿⣿⣿⣿
           └┬─────────────────────────┬──────────────────────────┬────────
    offset  0 B                    32 GiB                     64 GiB
    ");
}

#[test]
fn lines_that_only_color_tells_apart_are_few_without_it() {
    let mut series = knee(1.0);
    series.lines =
        (0..7).map(|index| Line { name: format!("line {index}"), ..series.lines[0].clone() }).collect();
    let text = drawn(series, 80);
    assert!(text.contains("line 3\n") && !text.contains("line 4\n"), "{text}");
    assert!(text.contains("… and 3 more lines: --json or --html has all of them"), "{text}");
}

#[test]
fn bars_have_their_names_and_numbers() {
    let mut document = fixtures::bench("sim:x25m", 1.0);
    document.tables.clear();
    document.answers.clear();
    document.overview.table = None;
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

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![Just(Shape::Line), Just(Shape::Bars), Just(Shape::Scatter), Just(Shape::Heat)]
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
        color: bool,
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
        let text = show(&label_all(vec![document]), &Terminal { width, color, view: View::Details, ..Terminal::default() });
        prop_assert!(text.contains("Speed over time"));
    }
}
