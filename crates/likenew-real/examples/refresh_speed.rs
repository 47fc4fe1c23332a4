//! How fast a file is refreshed, by the length of chunks, with and without reading back:
//! `refresh_speed FILE JOURNAL`, the journal in the folder that it is run in.
//!
//! The file is rewritten with what it holds. The journal must not exist; it is removed after each pass.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::path::Path;
use std::time::Instant;

use likenew_core::units::rate;
use likenew_real::file_store::FileStore;
use likenew_refresh::{Folder, JournalFile, JournalPaths, Refresh, Settings, Task, Verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(journal)) = (arguments.next(), arguments.next()) else {
        return Err("usage: refresh_speed FILE JOURNAL".into());
    };
    for chunk_bytes in [256 << 10, 1 << 20, 4 << 20, 16 << 20] {
        for verify in [Verify::All, Verify::Off] {
            let mut store = FileStore::take(Path::new(&file))?;
            let task = Task {
                identity: store.identity().to_owned(),
                ranges: store.ranges().to_vec(),
                settings: Settings { chunk_bytes, verify, ..Settings::default() },
                ..Task::default()
            };
            let start = Instant::now();
            let place = JournalPaths::new(Folder::open(Path::new("."))?, &*journal, "salvage");
            let mut refresh = Refresh::begin(&mut store, JournalFile::create(&place)?, &task)?;
            while refresh.step()?.is_some() {}
            let bytes = refresh.progress().written_bytes;
            drop(refresh);
            let speed = rate(bytes as f64 / start.elapsed().as_secs_f64());
            println!("chunks of {:5} KiB, read back {verify:?}: {speed}", chunk_bytes >> 10);
            store.give_back()?;
            std::fs::remove_file(&journal)?;
        }
    }
    Ok(())
}
