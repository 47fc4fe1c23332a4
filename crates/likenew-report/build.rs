//! Embeds the page of reports, which Vite builds from `web/`. A page that is missing or older than its sources is built first,
//! so no `likenew` comes without charts.
//!
//! `LIKENEW_PAGE=FILE` names a page that was built elsewhere, for machines without Node.

#![allow(clippy::disallowed_methods, reason = "a build script writes what it makes")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// Where documents and their plain form go; `src/html.rs` replaces the same texts.
const PLACES: [&str; 2] = [include_str!("src/html/documents.place"), include_str!("src/html/plain.place")];
/// What the page is built from, as paths from `web/`.
const SOURCES: [&str; 8] = [
    "src",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    "../schema/charts.json",
    "../schema/columns.json",
];

fn main() {
    println!("cargo::rerun-if-env-changed=LIKENEW_PAGE");
    let page = match env::var_os("LIKENEW_PAGE") {
        Some(page) => PathBuf::from(page),
        None => up_to_date_page(Path::new("../../web")),
    };
    println!("cargo::rerun-if-changed={}", page.display());
    let text = fs::read_to_string(&page)
        .unwrap_or_else(|error| panic!("could not read the page of reports, {}: {error}", page.display()));
    for place in PLACES {
        let count = text.matches(place.trim()).count();
        assert!(
            count == 1,
            "{} has {count} places like {}, and needs exactly one: build it again with `npm run build` in web/",
            page.display(),
            place.trim()
        );
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives build scripts an OUT_DIR"));
    fs::write(out.join("page.html"), text).expect("OUT_DIR can be written");
}

/// The built page, built now if any of its sources is newer.
fn up_to_date_page(web: &Path) -> PathBuf {
    let sources = SOURCES.map(|source| web.join(source));
    for source in &sources {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let page = web.join("dist/index.html");
    let built = modified_at(&page);
    if built.is_some() && sources.iter().all(|source| newest(source) <= built) {
        return page;
    }
    // `npm ci` starts from nothing each time; it is only needed when the lock file is newer than what is installed.
    if modified_at(&web.join("node_modules/.package-lock.json")) < modified_at(&web.join("package-lock.json"))
    {
        npm(web, &["ci", "--no-audit", "--no-fund"]);
    }
    npm(web, &["run", "--silent", "build"]);
    page
}

fn npm(web: &Path, arguments: &[&str]) {
    let output = match Command::new("npm").args(arguments).current_dir(web).output() {
        Ok(ended) if ended.status.success() => return,
        Ok(ended) => [ended.stdout, ended.stderr].concat(),
        Err(error) => error.to_string().into_bytes(),
    };
    panic!(
        "`npm {}` in web/ failed, so there is no page for reports:\n{}\nInstall Node 20.19 or later with npm and build \
         again, or set LIKENEW_PAGE to a page that was built elsewhere.",
        arguments.join(" "),
        String::from_utf8_lossy(&output)
    );
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// When a file, or the newest file in a folder, was changed last.
fn newest(path: &Path) -> Option<SystemTime> {
    let Ok(entries) = fs::read_dir(path) else { return modified_at(path) };
    entries.flatten().map(|entry| newest(&entry.path())).max().flatten()
}
