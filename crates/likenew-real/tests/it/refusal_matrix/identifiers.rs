//! Ids that nearly match those of a drive or file.

use std::path::Path;

use super::disk::Disk;
use super::ledger::{Ledger, file, right, typed};
use crate::support::disk_folder;

/// Near misses of a name.
fn near(id: &str) -> Vec<(&'static str, String)> {
    let shorter: String = id.chars().take(id.chars().count() - 1).collect();
    let mut all = vec![
        ("nothing", String::new()),
        ("a blank", " ".to_owned()),
        ("all but its end", shorter),
        ("all but its beginning", id.chars().skip(1).collect()),
        ("more than it", format!("{id}0")),
        ("a blank after it", format!("{id} ")),
        ("a blank before it", format!(" {id}")),
        ("a line end after it", format!("{id}\n")),
        ("a zero byte after it", format!("{id}\0")),
        ("quotes around it", format!("\"{id}\"")),
        ("a pattern", "*".to_owned()),
        ("it twice", format!("{id}{id}")),
        ("yes", "yes".to_owned()),
        ("a letter that looks alike", id.replacen('i', "\u{456}", 1)),
    ];
    for (name, cased) in [("capitals", id.to_uppercase()), ("small letters", id.to_lowercase())] {
        all.push((name, cased));
    }
    all.retain(|(_, typed)| typed != id);
    all
}

fn each(ledger: &mut Ledger, what: &str, image: &Path, path: &Path, more: &[(&'static str, String)]) {
    let (loss, agreement) = right(path);
    let destroy: Vec<&str> = agreement.destroy.iter().map(String::as_str).collect();
    for (name, id) in near(&loss.id.text).iter().chain(more) {
        let why = if id.is_empty() { "nothing was typed; its" } else { "does not match; its" };
        let words = [why, &loss.id.text];
        ledger.refused(&format!("{what}: {name} typed"), image, path, &typed(id, &destroy), &words);
    }
}

pub fn of_files(ledger: &mut Ledger) {
    let folder = disk_folder();
    let (path, other) = (file(folder.path(), "disk.img", 64 << 10), file(folder.path(), "other.img", 4096));
    let more = [
        ("its whole path", path.to_str().unwrap().to_owned()),
        ("its name from here", "./disk.img".to_owned()),
        ("another file's name", other.file_name().unwrap().to_str().unwrap().to_owned()),
    ];
    each(ledger, "file", &path, &path, &more);
}

pub fn of_devices(ledger: &mut Ledger) {
    let (disk, other) = (Disk::partitioned(), Disk::plain());
    let id = right(disk.path()).0.id.text;
    let others = right(other.path()).0.id.text;
    let own = disk.name().to_owned();
    let of_disk = [
        ("its name of today", own.clone()),
        ("another's", others.clone()),
        ("its partition's", format!("{id}-part1")),
        ("the file's name", "disk.img".to_owned()),
    ];
    each(ledger, "disk", &disk.image, disk.path(), &of_disk);
    let of_partition = [
        ("its name of today", format!("{own}p1")),
        ("its disk's", id.clone()),
        ("the next partition's", format!("{id}-part2")),
        ("another spelling of its number", format!("{id}-part01")),
        ("another disk's first", format!("{others}-part1")),
    ];
    each(ledger, "partition", &disk.image, &disk.partition(), &of_partition);
}
