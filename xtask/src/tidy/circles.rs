//! Modules that stand side by side do not import each other in a circle, and every module's file is found by its name.
//!
//! Paths are followed through `use` and re-exports to the module that defines an item. Of an import the two modules count
//! at which its ends part, with all that is below them. Tests may import what they like, and so may parents and children.

mod crate_modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate_modules::{CrateModules, ModulePath};

/// What modules that stand side by side import from each other: importer, imported, names.
type Imports = BTreeMap<ModulePath, BTreeMap<ModulePath, BTreeSet<String>>>;

/// Circles, and `#[path]` in `src`.
pub(super) fn violations(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut violations = path_attributes(root, sources)?;
    let mut folders = vec![root.join("xtask")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    folders.sort();
    for folder in folders {
        let name = folder.strip_prefix(root)?.display();
        for file in ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)) {
            if file.exists() {
                let circles = all_circles(&CrateModules::read(&file)?);
                violations.extend(circles.iter().map(|circle| format!("{name}: {circle}")));
            }
        }
    }
    Ok(violations)
}

/// Modules whose file has another name; tests and examples may share a file.
fn path_attributes(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in sources {
        let name = path.strip_prefix(root)?;
        if !name.iter().any(|part| part == "src") {
            continue;
        }
        let name = name.display();
        let text = std::fs::read_to_string(path)?;
        let lines = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("#[path"));
        violations.extend(lines.map(|(index, _)| {
            format!("{name}:{}: a #[path]; give the file the name of its module", index + 1)
        }));
    }
    Ok(violations)
}

/// Every circle of a crate in words.
fn all_circles(modules: &CrateModules) -> Vec<String> {
    let mut levels: BTreeMap<ModulePath, Imports> = BTreeMap::new();
    for (importer, imported, name) in modules.imports() {
        let shared = importer.iter().zip(&imported).take_while(|(one, other)| one == other).count();
        if shared < importer.len() && shared < imported.len() {
            let level = levels.entry(importer[..shared].to_vec()).or_default();
            let names = level.entry(importer[..=shared].to_vec()).or_default();
            names.entry(imported[..=shared].to_vec()).or_default().insert(name);
        }
    }
    levels
        .values()
        .flat_map(|level| circles(level).into_iter().map(|circle| in_words(&circle, level)))
        .collect()
}

/// Sets of two or more modules each of which reaches all others of its set.
fn circles(imports: &Imports) -> Vec<Vec<&ModulePath>> {
    let mut circles: Vec<Vec<&ModulePath>> = Vec::new();
    for module in imports.keys() {
        if circles.iter().any(|circle| circle.contains(&module)) {
            continue;
        }
        let others = reached_from(module, imports).into_iter();
        let circle: Vec<_> = others.filter(|other| reached_from(other, imports).contains(module)).collect();
        if circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

/// Everything that a module imports, and what that imports.
fn reached_from<'a>(module: &ModulePath, imports: &'a Imports) -> BTreeSet<&'a ModulePath> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&ModulePath> = imports.get(module).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(imports.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

fn in_words(circle: &[&ModulePath], imports: &Imports) -> String {
    let mut uses = Vec::new();
    for importer in circle {
        for (imported, names) in imports.get(*importer).into_iter().flatten() {
            if circle.contains(&imported) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                uses.push(format!("{} uses {} ({})", last(importer), last(imported), names.join(", ")));
            }
        }
    }
    let names: Vec<&str> = circle.iter().map(|module| last(module)).collect();
    format!("modules import each other in a circle: {}. {}", names.join(", "), uses.join("; "))
}

fn last(module: &ModulePath) -> &str {
    module.last().map_or("crate", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_may_lie_below_a_folder_of_that_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("src/likenew");
        let sources = ["crates/a/tests/t.rs", "crates/a/src/x.rs"].map(|name| root.join(name));
        for source in &sources {
            std::fs::create_dir_all(source.parent().unwrap()).unwrap();
            std::fs::write(source, "#[path = \"y.rs\"]\nmod x;\n").unwrap();
        }
        let violations = path_attributes(&root, &sources).unwrap();
        assert_eq!(violations, ["crates/a/src/x.rs:1: a #[path]; give the file the name of its module"]);
    }

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let folder =
            std::env::temp_dir().join(format!("likenew-circles-{}-{}", std::process::id(), files[0].1.len()));
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let modules = CrateModules::read(&folder.join("lib.rs")).unwrap();
        let found = all_circles(&modules);
        std::fs::remove_dir_all(&folder).unwrap();
        found
    }

    #[test]
    fn a_circle_is_found_through_re_exports_and_macros() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { println!(\"{}\", super::c::f()); }"),
            ("c.rs", "use super::a::A; pub fn f() -> u8 { 1 }"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("in a circle: a, b, c. a uses b (B); b uses c (f); c uses a (A)"),
            "{found:?}"
        );
    }

    #[test]
    fn tests_and_parents_may_import_in_circles() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b; pub fn f() {}"),
            ("a.rs", "mod inner; use inner::X; use crate::f; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("a/inner.rs", "pub struct X; use super::Y;"),
            ("b.rs", "use crate::a; pub struct B;"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
