//! How fast a file is refreshed, by the length of chunks, with and without reading back: `refresh_speed FILE JOURNAL`.
//!
//! The file is rewritten with what it holds. The journal must not exist; it is removed after each pass.

use std::path::Path;
use std::time::Instant;

use likenew_core::units::rate;
use likenew_real::file_ground::FileGround;
use likenew_refresh::{Refresh, Settings, Task, Verify, create_paper};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(journal)) = (arguments.next(), arguments.next()) else {
        return Err("usage: refresh_speed FILE JOURNAL".into());
    };
    for chunk_bytes in [256 << 10, 1 << 20, 4 << 20, 16 << 20] {
        for verify in [Verify::All, Verify::Off] {
            let mut ground = FileGround::take(Path::new(&file))?;
            let task = Task {
                identity: ground.identity().to_owned(),
                ranges: ground.ranges().to_vec(),
                settings: Settings { chunk_bytes, verify, ..Settings::default() },
                ..Task::default()
            };
            let start = Instant::now();
            let mut refresh = Refresh::begin(&mut ground, create_paper(Path::new(&journal))?, &task)?;
            while refresh.step()?.is_some() {}
            let bytes = refresh.progress().written_bytes;
            drop(refresh);
            let speed = rate(bytes as f64 / start.elapsed().as_secs_f64());
            println!("chunks of {:5} KiB, read back {verify:?}: {speed}", chunk_bytes >> 10);
            ground.give_back()?;
            std::fs::remove_file(&journal)?;
        }
    }
    Ok(())
}
