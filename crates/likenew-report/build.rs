//! Embeds the page that Vite built, if it was built.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where documents and their plain form go; `src/html.rs` replaces the same texts.
const PLACES: [&str; 2] = [include_str!("src/html/documents.place"), include_str!("src/html/plain.place")];

fn main() {
    let web = Path::new("../../web");
    let page = web.join("dist/index.html");
    let bundle = match fs::read_to_string(&page) {
        Ok(text) => {
            println!("cargo::rerun-if-changed={}", page.display());
            Some(checked(text, &page))
        }
        Err(_) => {
            // Cargo takes a watched file that is missing for changed every time, so its folder is watched instead.
            let watched = if web.exists() { web } else { Path::new("build.rs") };
            println!("cargo::rerun-if-changed={}", watched.display());
            None
        }
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo gives build scripts an OUT_DIR"));
    let source =
        format!("/// The page that Vite built, if it was.\nconst BUNDLE: Option<&str> = {bundle:?};\n");
    fs::write(out.join("bundle.rs"), source).expect("OUT_DIR can be written");
}

fn checked(text: String, page: &Path) -> String {
    for place in PLACES {
        let count = text.matches(place.trim()).count();
        assert!(
            count == 1,
            "{} has {count} places like {}, and needs exactly one: build it again with `npm run build` in web/",
            page.display(),
            place.trim()
        );
    }
    text
}
