//! The index depends on the folders alone.

use std::fs;

use likenew_history::{HistoryError, Location, Page, Update};
use proptest::prelude::*;
use sqlx::{Connection as _, Executor as _};

use crate::support::{Run, Runs, everything, open};

/// What can happen to a folder of runs between two openings.
#[derive(Clone, Debug)]
enum Event {
    Put(Run),
    Damage(usize),
    Remove(usize),
    Update,
}

fn event() -> impl Strategy<Value = Event> {
    let serial = prop_oneof![Just(""), Just("aaaa"), Just("bbbb")];
    let target = prop_oneof![Just("/dev/sda"), Just("/dev/sdb")];
    let run = (0..40usize, serial, target, 1e8..9e8f64)
        .prop_map(|(day, serial, target, read)| Run { target: target.into(), ..Run::new(day, serial, read) });
    prop_oneof![
        6 => run.prop_map(Event::Put),
        1 => (0..20usize).prop_map(Event::Damage),
        1 => (0..20usize).prop_map(Event::Remove),
        3 => Just(Event::Update),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_index_kept_up_to_date_is_the_one_made_at_once(events in prop::collection::vec(event(), 1..25)) {
        let runs = Runs::new();
        let mut history = runs.open();
        for event in events {
            let folders = runs.archive().folders().unwrap();
            match event {
                Event::Put(run) => drop(runs.put(&run)),
                Event::Damage(at) if at < folders.len() => {
                    // As a torn write leaves it; the new length and time show.
                    fs::write(folders[at].join("findings.json"), "{\"summary\": ").unwrap();
                }
                Event::Remove(at) if at < folders.len() => fs::remove_dir_all(&folders[at]).unwrap(),
                Event::Damage(_) | Event::Remove(_) => {}
                Event::Update => drop(history.update().unwrap()),
            }
        }
        history.update().unwrap();
        let kept = everything(&mut history);
        drop(history);
        let other = Location::File(runs.root().join("../again.sqlite"));
        let mut again = open(&other, &runs.root());
        again.rebuild().unwrap();
        let again = everything(&mut again).replace(&format!("machine:{}", runs.root().display()), ".");
        prop_assert_eq!(kept, again);
    }
}

#[test]
fn nothing_is_read_twice_and_a_damaged_run_stops_no_other() {
    let runs = Runs::new();
    for day in 0..5 {
        runs.put(&Run::new(day, "aaaa", 5e8));
    }
    let damaged = [
        ("plan.toml", "procedure ="),
        ("machine.json", "{"),
        ("segments.jsonl", "nonsense\n"),
        ("observations.jsonl", "nonsense\n"),
        ("findings.json", "[]"),
    ];
    for (day, (file, text)) in damaged.into_iter().enumerate() {
        let folder = runs.put(&Run::new(10 + day, "aaaa", 5e8));
        fs::write(folder.join(file), text).unwrap();
    }
    let missing = runs.put(&Run::new(20, "aaaa", 5e8));
    fs::remove_file(missing.join("segments.jsonl")).unwrap();
    let mut history = runs.open();
    assert_eq!(history.update().unwrap(), Update { read: 11, damaged: 6, removed: 0, ..Update::default() });
    // Damaged ones are tried again, as a copy may have been put back in place.
    assert_eq!(history.update().unwrap(), Update { read: 6, damaged: 6, removed: 0, ..Update::default() });
    let listed = history.damaged().unwrap();
    for ((file, _), run) in damaged.iter().chain([&("segments.jsonl", "")]).zip(&listed) {
        assert!(run.error.contains(file), "{file}: {run:?}");
    }
    runs.put(&Run::new(20, "aaaa", 5e8));
    assert_eq!(history.update().unwrap(), Update { read: 6, damaged: 5, removed: 0, ..Update::default() });
    let [drive] = &history.drives(Page { offset: 0, rows: 9 }).unwrap()[..] else { panic!() };
    assert_eq!((drive.runs, drive.checks, drive.target.as_str()), (6, 6, "/dev/sda"));
    fs::remove_dir_all(runs.root()).unwrap();
    assert_eq!(history.update().unwrap(), Update { read: 0, damaged: 0, removed: 11, ..Update::default() });
}

#[test]
fn a_run_without_a_serial_number_is_of_the_only_drive_there() {
    let runs = Runs::new();
    let page = Page { offset: 0, rows: 9 };
    runs.put(&Run::new(1, "", 5e8));
    runs.put(&Run::new(2, "aaaa", 5e8));
    let mut history = runs.open();
    history.update().unwrap();
    assert_eq!(history.drives(page).unwrap().iter().map(|drive| drive.runs).collect::<Vec<_>>(), [2]);
    let other = runs.put(&Run::new(3, "bbbb", 5e8));
    history.update().unwrap();
    assert_eq!(history.drives(page).unwrap().len(), 3, "either drive could have been there");
    fs::remove_dir_all(other).unwrap();
    history.update().unwrap();
    assert_eq!(history.drives(page).unwrap().len(), 1);
}

#[test]
fn a_target_of_which_no_drive_is_known_has_its_last_check() {
    let runs = Runs::new();
    for day in [1, 2] {
        // No facts say what lies below it.
        fs::remove_file(runs.put(&Run::new(day, "", 5e8)).join("observations.jsonl")).unwrap();
    }
    runs.put(&Run { target: "/dev/sdb".into(), ..Run::new(3, "aaaa", 5e8) });
    let mut history = runs.open();
    history.update().unwrap();
    let unknown = history.unknown_drives().unwrap();
    let last: Vec<(&str, String)> =
        unknown.iter().map(|drive| (&*drive.target, drive.last_check.clone())).collect();
    assert_eq!(last, [("/dev/sda", Run::new(2, "", 5e8).name())]);
}

#[test]
fn a_history_of_a_newer_version_is_left_alone() {
    let runs = Runs::new();
    drop(runs.open());
    let address = format!("sqlite://{}", runs.root().join("../history.sqlite").display());
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'x', 1, x'00', 0)";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = sqlx::AnyConnection::connect(&address).await.unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    });
    let opened = likenew_history::History::open(&Location::beside(&runs.root()), runs.archive(), "machine");
    assert!(matches!(opened, Err(HistoryError::Newer(_))), "{:?}", opened.err());
}

#[test]
fn what_is_no_database_is_not_overwritten() {
    let runs = Runs::new();
    let file = runs.root().join("../history.sqlite");
    fs::write(&file, "precious, and longer than a header of a hundred bytes would be: ".repeat(40)).unwrap();
    let opened = likenew_history::History::open(&Location::beside(&runs.root()), runs.archive(), "machine");
    let message = opened.err().unwrap().to_string();
    assert!(message.contains("not a database") && message.contains("history.sqlite"), "{message}");
    assert!(fs::read_to_string(file).unwrap().starts_with("precious"));
}

#[test]
fn a_link_in_place_of_a_history_is_not_followed() {
    let runs = Runs::new();
    let (link, file) = (runs.root().join("../history.sqlite"), runs.root().join("../elsewhere"));
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    for content in [None, Some("precious")] {
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        let opened =
            likenew_history::History::open(&Location::beside(&runs.root()), runs.archive(), "machine");
        assert!(matches!(opened, Err(HistoryError::NotAFile(_))), "{:?}", opened.err());
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), content);
    }
}
