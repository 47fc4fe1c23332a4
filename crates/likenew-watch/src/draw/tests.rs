//! Compares screens of several sizes with snapshots.

use std::sync::Arc;

use likenew_core::findings::{DriveFacts, DriveReading, Layer, Role};
use likenew_core::units::Nanos;
use proptest::prelude::*;
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use crate::drives::history_tests::{at, reading};
use crate::drives::{Drives, Scope};
use crate::theme::Theme;
use crate::view::{Key, View};

const UNICODE: Theme = Theme { ascii: false, color: false };

/// Three drives over half a minute: one reads in waves, one hangs, one is unplugged.
fn drives() -> Drives {
    let mut drives = Drives::default();
    let (mut ios, mut ms) = (0, 0);
    for second in 0..30u64 {
        ios += second % 10 * 500;
        ms += second % 10 * 60;
        let (merged, sectors, busy) = (ios / 10, ios * 32, second * 700);
        let nvme = format!(
            "{ios} {merged} {sectors} {ms} 90 0 {} 300 3 {busy} {ms} {ios} 0 {sectors} {ms}",
            sectors / 4
        );
        let stuck = "4000 0 32000 900 0 0 0 0 7 800 900 0 0 0 0";
        let mut present = vec![drive("nvme0n1", second, &nvme), drive("sda", second, stuck)];
        if second < 25 {
            present.push(drive("sdb", second, "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0"));
        }
        drives.take(at(second * 1000, present));
    }
    drives
}

fn drive(name: &str, second: u64, line: &str) -> DriveReading {
    let layer = |level, name: &str, words: &str| Layer { level, name: name.into(), words: words.into() };
    let facts = DriveFacts {
        path: format!("/dev/{name}"),
        role: Role::Drive,
        model: Some("Samsung SSD 990 PRO 2TB".into()),
        capacity_bytes: 2_000_398_934_016,
        used_by: vec!["/".into(), "/home".into()],
        stack: vec![
            layer(0, name, "1.82 TiB  Samsung SSD 990 PRO 2TB"),
            layer(1, &format!("{name}p1"), "1.00 GiB  /boot"),
            layer(1, &format!("{name}p2"), "1.81 TiB"),
            layer(2, "dm-0", "1.81 TiB  luks  /"),
        ],
        facts: vec![("bus".into(), "nvme".into()), ("scheduler".into(), "[none] mq-deadline".into())],
        caveats: Vec::new(),
    };
    let temperature_c = name.starts_with("nvme").then_some(41.85);
    let in_flight = Some([2, 1]);
    DriveReading { facts: Arc::new(facts), temperature_c, in_flight, ..reading(name, 1, second * 1000, line) }
}

fn view(theme: Theme, keys: &[Key], drives: &Drives) -> View {
    let mut view = View::new(theme, Scope::default(), Nanos::from_secs(1));
    for key in keys {
        let _ = view.press(*key, drives);
    }
    view
}

fn screen(view: &View, drives: &Drives, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            super::draw(view, drives, area, frame.buffer_mut());
        })
        .unwrap();
    terminal.backend().to_string()
}

#[test]
fn the_table_fits_the_usual_a_small_and_a_large_terminal() {
    let drives = drives();
    let view = view(UNICODE, &[], &drives);
    insta::assert_snapshot!("table_80x24", screen(&view, &drives, 80, 24));
    insta::assert_snapshot!("table_40x10", screen(&view, &drives, 40, 10));
    insta::assert_snapshot!("table_200x50", screen(&view, &drives, 200, 50));
}

#[test]
fn a_drive_has_a_page_of_its_own() {
    let drives = drives();
    let nvme = view(UNICODE, &[Key::Enter], &drives);
    insta::assert_snapshot!("detail_80x24", screen(&nvme, &drives, 80, 24));
    insta::assert_snapshot!("detail_40x10", screen(&nvme, &drives, 40, 10));
    insta::assert_snapshot!("detail_200x50", screen(&nvme, &drives, 200, 50));
    let hanging = view(UNICODE, &[Key::Down, Key::Enter], &drives);
    let text = screen(&hanging, &drives, 80, 24);
    assert!(text.contains("none completed for 29 s"), "{text}");
}

#[test]
fn a_terminal_without_unicode_gets_plain_characters() {
    let drives = drives();
    for keys in [&[][..], &[Key::Enter], &[Key::Char('?')]] {
        let view = view(Theme { ascii: true, color: true }, keys, &drives);
        let text = screen(&view, &drives, 100, 30);
        assert!(text.is_ascii(), "{text}");
    }
    insta::assert_snapshot!(
        "ascii_80x24",
        screen(&view(Theme { ascii: true, color: false }, &[], &drives), &drives, 80, 24)
    );
}

#[test]
fn help_names_the_keys_and_the_filter_is_seen_while_it_is_typed() {
    let drives = drives();
    insta::assert_snapshot!(
        "help_80x24",
        screen(&view(UNICODE, &[Key::Char('?')], &drives), &drives, 80, 24)
    );
    let typed = ['/', 'x', 'y'].map(Key::Char);
    let text = screen(&view(UNICODE, &typed, &drives), &drives, 80, 24);
    assert!(text.contains("filter: xy_") && text.contains("no drive matches \"xy\""), "{text}");
    let frozen = screen(&view(UNICODE, &[Key::Char(' ')], &drives), &drives, 80, 24);
    assert!(frozen.contains("FROZEN"), "{frozen}");
}

#[test]
fn a_chosen_row_is_on_the_screen() {
    let mut drives = Drives::default();
    let readings =
        |second| (0..40).map(|n| drive(&format!("sd{n}"), second, "0 0 0 0 0 0 0 0 0 0 0")).collect();
    drives.take(at(0, readings(0)));
    drives.take(at(1000, readings(1)));
    let text = screen(&view(UNICODE, &[Key::End], &drives), &drives, 80, 10);
    assert!(text.contains("sd39") && !text.contains("sd0 "), "{text}");
}

proptest! {
    #[test]
    fn no_size_and_no_key_is_too_much(
        width in 1u16..220, height in 1u16..60, ascii: bool,
        keys in prop::collection::vec(prop::sample::select(vec![
            Key::Enter, Key::Escape, Key::Backspace, Key::Up, Key::Down, Key::Left, Key::Right, Key::PageUp,
            Key::PageDown, Key::Home, Key::End, Key::Char('?'), Key::Char('/'), Key::Char('r'), Key::Char(' '),
            Key::Char('u'), Key::Char('a'), Key::Char('p'), Key::Char('+'), Key::Char('-'), Key::Char('漢'),
        ]), 0..12),
    ) {
        let drives = drives();
        let view = view(Theme { ascii, color: true }, &keys, &drives);
        for (width, height) in [(width, height), (1, 1), (width, 1), (1, height)] {
            prop_assert!(!screen(&view, &drives, width, height).is_empty());
        }
        screen(&view, &Drives::default(), width, height);
    }
}
