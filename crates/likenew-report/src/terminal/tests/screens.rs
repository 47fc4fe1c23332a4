//! Tests whole first screens.

use likenew_core::findings::Lead;

use super::*;

fn screen(documents: Vec<Document>, width: usize) -> String {
    let details_command = Some("likenew report --details".into());
    show(&label_all(documents), &Terminal { width, details_command, ..Terminal::default() })
}

#[test]
fn a_sick_drive_at_100_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::sick()], 100), @r"
    ✗ Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s).
      Cause: no TRIM (this drive ignores it), 99.8% likely
      ? Power saving: 4K random reads QD1 are 8 to 31% slower after a pause

                                   now     when new
      sequential read         254 MB/s     254 MB/s  ████████████████████ 100%
      sequential write       23.3 MB/s    77.3 MB/s  ██████                30%
      sustained write        19.8 MB/s    77.2 MB/s  █████▏                26%
      4K random read        4,940 IOPS   4,940 IOPS  ████████████████████ 100%
      4K random write       3,060 IOPS   9,590 IOPS  ██████▍               32%
      4K random read QD32  36,200 IOPS  36,200 IOPS  ████████████████████ 100%

      Fix it
        likenew recondition 'sim:x25m?state=used'
          Restore it step by step · nothing lost · about 90 min · 140 GiB written
        likenew recondition 'sim:x25m?state=used' --step overwrite-all
          Overwrite the whole drive · ERASES everything · about 50 min
      To decide
        likenew check 'sim:x25m?state=used' --passes 5
          Measure random reads again · nothing lost · about 4 min

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn a_sick_drive_at_80_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::sick()], 80), @r"
    ✗ Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s).
      Cause: no TRIM (this drive ignores it), 99.8% likely
      ? Power saving: 4K random reads QD1 are 8 to 31% slower after a pause

                                   now     when new
      sequential read         254 MB/s     254 MB/s  ████████████████████ 100%
      sequential write       23.3 MB/s    77.3 MB/s  ██████                30%
      sustained write        19.8 MB/s    77.2 MB/s  █████▏                26%
      4K random read        4,940 IOPS   4,940 IOPS  ████████████████████ 100%
      4K random write       3,060 IOPS   9,590 IOPS  ██████▍               32%
      4K random read QD32  36,200 IOPS  36,200 IOPS  ████████████████████ 100%

      Fix it
        likenew recondition 'sim:x25m?state=used'
          Restore it step by step · nothing lost · about 90 min · 140 GiB written
        likenew recondition 'sim:x25m?state=used' --step overwrite-all
          Overwrite the whole drive · ERASES everything · about 50 min
      To decide
        likenew check 'sim:x25m?state=used' --passes 5
          Measure random reads again · nothing lost · about 4 min

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn a_healthy_drive_at_100_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::healthy()], 100), @r"
    ✓ As fast as new: sustained writes run at 76.9 MB/s, 99.6% of new.

                             now   when new
      sequential read   254 MB/s   254 MB/s  ████████████████████  100%
      sustained write  76.9 MB/s  77.2 MB/s  ███████████████████▉ 99.6%

      Sustained write
      80 MB/s ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
              │
      60 MB/s ┤
              │
              │
      40 MB/s ┤
              │
              │
      20 MB/s ┤
              │
       0 MB/s ┤
              └┬─────────────────────────────┬─────────────────────────────┬────────────────────────────
         time  0 ns                        20 s                          40 s

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn a_healthy_drive_at_80_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::healthy()], 80), @r"
    ✓ As fast as new: sustained writes run at 76.9 MB/s, 99.6% of new.

                             now   when new
      sequential read   254 MB/s   254 MB/s  ████████████████████  100%
      sustained write  76.9 MB/s  77.2 MB/s  ███████████████████▉ 99.6%

      Sustained write
      80 MB/s ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
              │
              │
      60 MB/s ┤
              │
              │
      40 MB/s ┤
              │
              │
      20 MB/s ┤
              │
       0 MB/s ┤
              └┬──────────────────────┬──────────────────────┬──────────────────────
         time  0 ns                 20 s                   40 s

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn an_unknown_drive_at_100_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::unknown()], 100), @r"
    ? 987 MB/s read, 387 MB/s write. No reference for this virtual disk, so it cannot be called slow or
      fast.
      Sequential read: 987 MB/s
      Sequential write: 387 MB/s

      To decide
        likenew check '/mnt/a folder with photos of the last summer'
          Compare with today: this run is kept as the baseline · nothing lost · about 60 s
        likenew check '/mnt/a folder with photos of the last summer' --advertised \
          read=1000MB/s,write=500MB/s,random_read=90000,random_write=80000
          Compare with what the maker says · nothing lost

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn an_unknown_drive_at_80_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::unknown()], 80), @r"
    ? 987 MB/s read, 387 MB/s write. No reference for this virtual disk, so it
      cannot be called slow or fast.
      Sequential read: 987 MB/s
      Sequential write: 387 MB/s

      To decide
        likenew check '/mnt/a folder with photos of the last summer'
          Compare with today: this run is kept as the baseline · nothing lost ·
          about 60 s
        likenew check '/mnt/a folder with photos of the last summer' --advertised \
          read=1000MB/s,write=500MB/s,random_read=90000,random_write=80000
          Compare with what the maker says · nothing lost

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn a_failed_run_at_100_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::failed()], 100), @r"
      test              read  write
      SEQ1M Q8T1    251 MB/s  77.2 MB/s
      SEQ1M Q1T1    239 MB/s  failed
      RND4K Q32T1   148 MB/s  39.3 MB/s
      RND4K Q1T1   21.4 MB/s  30.8 MB/s

      ✗ I/O errors: 12 of 4,096 writes failed in SEQ1M Q1T1

      Speed of each test
      SEQ1M Q8T1  read  ████████████████████████████████████████████████████████████ 251 MB/s
                  write ██████████████████▍ 77.2 MB/s
      SEQ1M Q1T1  read  █████████████████████████████████████████████████████████▏ 239 MB/s
                  write ██████████████████▏ 76.1 MB/s
      RND4K Q32T1 read  ███████████████████████████████████▍ 148 MB/s
                  write █████████▍ 39.3 MB/s
      RND4K Q1T1  read  █████▏ 21.4 MB/s
                  write ███████▍ 30.8 MB/s

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn a_failed_run_at_80_columns() {
    insta::assert_snapshot!(screen(vec![fixtures::failed()], 80), @r"
      test              read  write
      SEQ1M Q8T1    251 MB/s  77.2 MB/s
      SEQ1M Q1T1    239 MB/s  failed
      RND4K Q32T1   148 MB/s  39.3 MB/s
      RND4K Q1T1   21.4 MB/s  30.8 MB/s

      ✗ I/O errors: 12 of 4,096 writes failed in SEQ1M Q1T1

      Speed of each test
      SEQ1M Q8T1  read  █████████████████████████████████████████████████ 251 MB/s
                  write ███████████████ 77.2 MB/s
      SEQ1M Q1T1  read  ██████████████████████████████████████████████▋ 239 MB/s
                  write ██████████████▉ 76.1 MB/s
      RND4K Q32T1 read  ████████████████████████████▉ 148 MB/s
                  write ███████▋ 39.3 MB/s
      RND4K Q1T1  read  ████▏ 21.4 MB/s
                  write ██████ 30.8 MB/s

    Details: likenew report --details   (wrote 8.57 GiB in 63.0 s, simulated)
    ");
}

#[test]
fn two_drives_at_100_columns() {
    let documents =
        vec![fixtures::bench("sim:x25m?state=new", 1.0), fixtures::bench("sim:x25m?state=used", 0.25)];
    insta::assert_snapshot!(screen(documents, 100), @r"
    new = sim:x25m?state=new: Sequential read 251 MB/s, write 77.2 MB/s; 4K random read QD1 21.4 MB/s.
    ✗ used = sim:x25m?state=used: Writes run at 25% of new.

    results ────────────────────────────────────────────────────────────────────────────────────────────
    test         op                 MB/s              MB/s        MB/s    IOPS    IOPS        IOPS
                              (low–high)        (low–high)  used ÷ new     new    used  used ÷ new
                                     new              used
    ──────────────────────────────────────────────────────────────────────────────────────────────
    SEQ1M Q8T1   read      251 (249–254)     251 (249–254)       1.00×  61,400  61,400       1.00×
    SEQ1M Q8T1   write  77.2 (76.4–78.0)  19.3 (19.1–19.5)      0.250×  18,800   4,710      0.250×
    SEQ1M Q1T1   read      239 (237–241)     239 (237–241)       1.00×  58,300  58,300       1.00×
    SEQ1M Q1T1   write  76.1 (75.3–76.9)  19.0 (18.8–19.2)      0.250×  18,600   4,640      0.250×
    RND4K Q32T1  read      148 (147–150)     148 (147–150)       1.00×  36,200  36,200       1.00×
    RND4K Q32T1  write  39.3 (38.9–39.7)  9.82 (9.73–9.92)      0.250×   9,590   2,400      0.250×
    RND4K Q1T1   read   21.4 (21.2–21.6)  21.4 (21.2–21.6)       1.00×   5,220   5,220       1.00×
    RND4K Q1T1   write  30.8 (30.5–31.1)  7.70 (7.62–7.78)      0.250×   7,520   1,880      0.250×
    … 12 more columns

    Details: likenew report --details
    ");
}

#[test]
fn a_long_command_of_the_last_line_can_be_pasted() {
    let path = format!("/home/data/likenew/runs/{}", "2026-01-01T00-00-00-check-sim-tiny-flash-".repeat(3));
    let command = format!("likenew report '{path}' --details");
    let terminal = Terminal { details_command: Some(command.clone()), ..Terminal::default() };
    let text = show(&label_all(vec![fixtures::healthy()]), &terminal);
    let last: Vec<&str> = text.lines().skip_while(|line| *line != "Details:").skip(1).collect();
    let (cost, command_lines) = last.split_last().unwrap();
    assert_eq!(*cost, "(wrote 8.57 GiB in 63.0 s, simulated)");
    let pasted: Vec<&str> = command_lines.iter().map(|line| line.trim().trim_end_matches(" \\")).collect();
    assert_eq!(pasted.join(" "), command, "{text}");
}

#[test]
fn a_wider_screen_shows_no_less() {
    let mut document = fixtures::healthy();
    let mut table = OverviewTable::new(["property", "value"]);
    (0..9).for_each(|row| table.push([format!("property {row}"), "254 MB/s".into()]));
    document.overview.table = Some(table);
    for width in [80, 100, 140] {
        let text = screen(vec![document.clone()], width);
        assert!(text.contains("property 8") && text.contains("Sustained write\n"), "{width}\n{text}");
    }
}

#[test]
fn one_line_is_mark_and_summary() {
    let line = |documents| show(&label_all(documents), &Terminal { view: View::Line, ..Terminal::default() });
    assert_eq!(
        line(vec![fixtures::sick()]),
        "✗ Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s).\n"
    );
    assert_eq!(
        line(vec![fixtures::bench("a", 1.0), fixtures::bench("b", 0.25)]),
        "a: Sequential read 251 MB/s, write 77.2 MB/s; 4K random read QD1 21.4 MB/s.\n\
         ✗ b: Writes run at 25% of new.\n"
    );
}

#[test]
fn a_command_stands_once_and_the_rest_are_counted() {
    let mut document = fixtures::sick();
    for number in 0..5 {
        let action =
            Action::new(format!("more_{number}"), "Try this").command(format!("likenew try {number}"));
        document.answers[0].actions.push(action);
    }
    let text = screen(vec![document], 80);
    assert_eq!(text.matches("likenew recondition").count(), 2, "{text}");
    assert!(text.contains("likenew try 1\n") && !text.contains("likenew try 2"), "{text}");
    assert!(text.contains("… 4 more actions"), "{text}");
}

#[test]
fn a_table_that_leads_needs_no_headline() {
    let mut document = fixtures::bench("sim:x25m", 1.0);
    let text = screen(vec![document.clone()], 80);
    assert!(text.starts_with("  test"), "{text}");
    document.overview.table = None;
    let text = screen(vec![document], 80);
    assert!(text.starts_with("Sequential read 251 MB/s"), "without its table, the summary leads: {text}");
}

/// A document with these numbers of answers, rows, columns and actions.
fn crowded(answers: usize, rows: usize, columns: usize, actions: usize, words: usize) -> Document {
    let mut document = fixtures::sick();
    let long = ["word"; 60][..words].join(" ");
    document.summary = format!("Summary {long}.");
    document.answers = (0..answers)
        .map(|index| {
            let answer = match index % 4 {
                0 => Answer::unknown("u", "Question", &long),
                1 => Answer::problem("p", "Question", &long),
                2 => Answer::good("g", "Question", &long),
                _ => Answer::info("i", "Question", &long),
            };
            (0..actions).fold(answer, |answer, action| {
                let command = format!("likenew {long} {index} {action}");
                answer.action(Action::new("a", &long).command(command).loses(Loss::DeletedFiles))
            })
        })
        .collect();
    document.overview.answers = ["u", "p", "g", "i"].map(String::from).into();
    let mut table = OverviewTable::new((0..columns).map(|column| format!("heading {column}")));
    for row in 0..rows {
        let cells = (0..columns).map(|column| if column == 1 { long.clone() } else { format!("{row} MB/s") });
        table.push_with_share(cells, (row % 2 == 0).then_some(row as f64 / 10.0));
    }
    document.overview.table = Some(table);
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_screen_keeps_to_its_lines(
        answers in 0usize..12,
        rows in 0usize..40,
        columns in 0usize..8,
        actions in 0usize..4,
        words in 0usize..60,
        width in 30usize..200,
        table_first: bool,
        documents in 1usize..8,
        color: bool,
    ) {
        let mut document = crowded(answers, rows, columns, actions, words);
        document.overview.lead = if table_first { Lead::Table } else { Lead::Summary };
        let documents = label_all(vec![document; documents]);
        let details_command = Some("likenew report --details".into());
        let text = show(&documents, &Terminal { width, color, details_command, ..Terminal::default() });
        prop_assert!(text.lines().count() <= 30, "{} lines\n{text}", text.lines().count());
        prop_assert!(text.contains("Details: ") || width < 40, "the last line says where the rest is\n{text}");
        if !color {
            for line in text.lines().filter(|line| !is_one_word(line)) {
                prop_assert!(line.width() <= width, "{line}");
            }
        }
    }

    #[test]
    fn every_published_form_of_series_fits_a_screen(
        lines in 1usize..6,
        points in 0usize..50,
        heat: bool,
        color: bool,
        width in 30usize..200,
    ) {
        let mut document = fixtures::healthy();
        let mut series = knee(1.0);
        let line = |index: usize| {
            let points = (0..points).map(|x| [x as f64 * 1e9, (x * index) as f64 * 1e6]);
            Line::new(format!("line {index}"), points.collect())
        };
        series.lines = (0..lines).map(line).collect();
        series.shape = if heat { Shape::Heat } else { Shape::Line };
        document.series.insert("sustained".into(), series);
        let text = show(&label_all(vec![document]), &Terminal { width, color, ..Terminal::default() });
        prop_assert!(text.lines().count() <= 30, "{text}");
    }
}

#[test]
fn everything_that_a_document_has() {
    let text = shown(vec![fixtures::sick()], 100);
    let (answers, _) = text.split_once("Sustained write ─").unwrap();
    insta::assert_snapshot!(answers, @r"
    ✗ Writes are slow: sustained writes run at 19.8 MB/s, 26% of new (77.2 MB/s).

                                   now     when new
      sequential read         254 MB/s     254 MB/s  ████████████████████ 100%
      sequential write       23.3 MB/s    77.3 MB/s  ██████                30%
      sustained write        19.8 MB/s    77.2 MB/s  █████▏                26%
      4K random read        4,940 IOPS   4,940 IOPS  ████████████████████ 100%
      4K random write       3,060 IOPS   9,590 IOPS  ██████▍               32%
      4K random read QD32  36,200 IOPS  36,200 IOPS  ████████████████████ 100%

    ✗ Sustained write: 19.8 MB/s, 26% of new
        Interval: 15.9–24.7 MB/s
        likenew recondition 'sim:x25m?state=used'
          Restore it step by step · nothing lost · about 90 min · 140 GiB written
        likenew recondition 'sim:x25m?state=used' --step overwrite-all
          Overwrite the whole drive · ERASES everything · about 50 min

    Cause: no TRIM (this drive ignores it), 99.8% likely
        Garbage collection copies deleted data before every write.

    ✗ Sequential write: 23.3 MB/s, 30% of new
        likenew recondition 'sim:x25m?state=used'
          Restore it step by step · nothing lost · about 90 min · 140 GiB written

    ? Power saving: 4K random reads QD1 are 8 to 31% slower after a pause
        likenew check 'sim:x25m?state=used' --passes 5
          Measure random reads again · nothing lost · about 4 min

    ✓ 4K random read: 4,940 IOPS, 100% of new

    Target sim:x25m?state=used: Intel X25-M 80 GB, simulated drive, 74.5 GiB in blocks of 512 B; state:
      used.
    Run: check of likenew 0.1.0, engine simulation, seed 7; wrote 8.57 GiB in 63.0 s of simulated time.
    Device counters, this run: 149 GiB written by the host, 164 GiB programmed to flash (write
      amplification 1.10), 335,000 erases, 9,120 free blocks. Lifetime erases per block: 1 to 9, 4.25 on
      average.
    Caveat: A simulated drive: its numbers are only as good as its model.
    ");
}
