//! Fuzzes run bundles by damaging the tar inside. Damage to the compressed file would only meet its checksum.

use std::fs;
use std::path::Path;

use likenew_archive::{Archive, ExportKey, export, import};

use super::runs;
use crate::{Input, Target};

/// Level of compression. Chosen: the fastest, because inputs are compressed again each time.
const LEVEL: i32 = 1;
/// The key for exports; nothing here is secret.
const KEY: [u8; 32] = [7; 32];

pub(super) fn targets() -> Vec<Target> {
    vec![Target::new("run bundles", seeds(), import_bytes)]
}

fn seeds() -> Vec<Input> {
    let folder = super::memory_folder();
    let key = ExportKey::open(&folder.path().join("key"), || Ok(KEY)).expect("a key is made");
    let tar = |(number, run): (usize, Input)| {
        let (run_folder, file) =
            (folder.path().join(number.to_string()), folder.path().join(format!("{number}.likenew")));
        fs::create_dir(&run_folder).expect("a folder is made");
        runs::write(&run_folder, &run);
        export(&run_folder, &file, &key).expect("a run is exported");
        let packed = fs::File::open(&file).expect("the export can be read");
        vec![zstd::decode_all(packed).expect("it was compressed")]
    };
    runs::seeds().into_iter().take(3).enumerate().map(tar).collect()
}

/// Imports the bundle into a new archive. Checks that a refused one leaves nothing, and that nothing is written beside
/// the archive.
fn import_bytes(parts: &[Vec<u8>]) -> bool {
    let folder = super::memory_folder();
    let (file, root) = (folder.path().join("run.likenew"), folder.path().join("runs"));
    let tar = parts.first().map_or(&[][..], Vec::as_slice);
    fs::write(&file, zstd::encode_all(tar, LEVEL).expect("bytes are compressed")).expect("a file is written");
    let imported = import(&file, &Archive::new(&root));
    let entries = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    assert_eq!(entries(folder.path()), 1 + usize::from(root.exists()), "nothing lies beside the archive");
    assert_eq!(entries(&root), usize::from(imported.is_ok()), "a refusal leaves nothing");
    imported.is_ok()
}
