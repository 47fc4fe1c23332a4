//! Refuses circular imports between sibling modules, and files that are not named after their module.
//!
//! Paths are followed through `use` and re-exports to the defining module. An import counts between the two siblings at
//! which importer and imported module diverge. Tests may import anything, and so may parents and children.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree};

/// Imports between sibling modules: importer, imported module, names.
type Imports = BTreeMap<ModulePath, BTreeMap<ModulePath, BTreeSet<String>>>;

/// Circles, and uses of `#[path]` in `src`.
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

/// Modules with `#[path]`. Tests and examples may share files in this way.
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

/// All circles of a crate, in words.
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

/// Sets of modules in which each module reaches all others.
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

/// All modules that a module imports, directly or indirectly.
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

/// The names on the way from a crate's root to a module.
pub(super) type ModulePath = Vec<String>;

/// Longest chain of re-exports; a longer one counts as circular.
const REEXPORTS_MAX: u32 = 12;

/// All modules of a crate, except tests.
#[derive(Default)]
pub(super) struct CrateModules {
    modules: BTreeMap<ModulePath, Module>,
}

#[derive(Default)]
struct Module {
    children: BTreeSet<String>,
    /// Names of the module's own items.
    items: BTreeSet<String>,
    uses: Vec<Import>,
    /// Paths of two or more names, besides those of `use`.
    paths: Vec<Vec<String>>,
}

/// One name of a `use`.
#[derive(Clone, PartialEq)]
struct Import {
    path: Vec<String>,
    /// The name in this module; `*` for all names.
    name: String,
}

impl CrateModules {
    /// Reads a crate, starting from its root file.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let mut modules = Self::default();
        modules.read_file(Vec::new(), file, file.parent().expect("a file lies in a folder"))?;
        Ok(modules)
    }

    fn read_file(&mut self, path: ModulePath, file: &Path, folder: &Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| format!("could not read {}", file.display()))?;
        self.read_items(path, &parsed.items, folder)
    }

    /// `folder`: where files of child modules are.
    fn read_items(&mut self, path: ModulePath, items: &[Item], folder: &Path) -> anyhow::Result<()> {
        let mut module = Module::default();
        for item in items {
            match item {
                Item::Mod(child) if !is_test(&child.attrs) => {
                    let name = child.ident.to_string();
                    let below = folder.join(&name);
                    let child_path = [path.clone(), vec![name.clone()]].concat();
                    if let Some((_, items)) = &child.content {
                        self.read_items(child_path, items, &below)?;
                    } else {
                        let beside = folder.join(format!("{name}.rs"));
                        let file = if beside.exists() { beside } else { below.join("mod.rs") };
                        self.read_file(child_path, &file, &below)?;
                    }
                    module.children.insert(name);
                }
                item => module.visit_item(item),
            }
        }
        self.modules.insert(path, module);
        Ok(())
    }

    /// All imports from other modules: importer, defining module, name.
    pub(super) fn imports(&self) -> Vec<(ModulePath, ModulePath, String)> {
        let mut imports = Vec::new();
        for (importer, module) in &self.modules {
            for path in module.uses.iter().map(|import| &import.path).chain(&module.paths) {
                if let Some((imported, name)) = self.resolve(importer, path, 0)
                    && imported != *importer
                {
                    imports.push((importer.clone(), imported, name));
                }
            }
        }
        imports
    }

    /// The module that defines an item, and the item's name; `None` for other crates.
    fn resolve(&self, from: &ModulePath, path: &[String], followed: u32) -> Option<(ModulePath, String)> {
        if followed > REEXPORTS_MAX {
            return None;
        }
        let mut module = from.clone();
        let mut names = path.iter().enumerate().peekable();
        match path.first()?.as_str() {
            "crate" => {
                module.clear();
                names.next();
            }
            "self" => drop(names.next()),
            "super" => {
                while names.next_if(|(_, name)| *name == "super").is_some() {
                    module.pop()?;
                }
            }
            first if self.modules[from].children.contains(first) => {}
            first => {
                let import = self.modules[from].uses.iter().find(|import| {
                    import.name == *first && import.path != path && self.is_own(from, &import.path[0])
                })?;
                let path = [import.path.as_slice(), &path[1..]].concat();
                return self.resolve(from, &path, followed + 1);
            }
        }
        for (index, name) in names {
            let here = self.modules.get(&module)?;
            if here.children.contains(name) {
                module.push(name.clone());
                continue;
            }
            if name == "*" || name == "self" || here.items.contains(name) {
                return Some((module, name.clone()));
            }
            return Some(
                self.re_exported(&module, &path[index..], followed).unwrap_or((module, name.clone())),
            );
        }
        Some((module, String::new()))
    }

    /// The origin of a re-exported name.
    fn re_exported(
        &self,
        module: &ModulePath,
        names: &[String],
        followed: u32,
    ) -> Option<(ModulePath, String)> {
        let own = self.modules[module].uses.iter().filter(|import| self.is_own(module, &import.path[0]));
        for import in own.clone().filter(|import| import.name == names[0] && import.path != names) {
            let path = [import.path.as_slice(), &names[1..]].concat();
            if let Some(resolved) = self.resolve(module, &path, followed + 1) {
                return Some(resolved);
            }
        }
        own.filter(|import| import.name == "*").find_map(|import| {
            let (origin, _) = self.resolve(module, &import.path, followed + 1)?;
            let known = self.modules.get(&origin)?.items.contains(&names[0]);
            known.then(|| (origin, names[0].clone()))
        })
    }

    /// Whether a path that begins with `first` leads into this crate.
    fn is_own(&self, module: &ModulePath, first: &str) -> bool {
        matches!(first, "crate" | "self" | "super") || self.modules[module].children.contains(first)
    }
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let first = list.tokens.clone().into_iter().next();
            let words = list.tokens.to_string();
            let names_test =
                words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "test");
            matches!(first, Some(TokenTree::Ident(ident)) if ident != "not") && names_test
        }
        _ => false,
    })
}

impl Module {
    fn add_use(&mut self, tree: &UseTree, front: &[String]) {
        let with = |name: &str| [front, &[name.to_owned()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, front)),
            UseTree::Name(name) if name.ident == "self" => {
                self.uses
                    .push(Import { path: front.to_vec(), name: front.last().cloned().unwrap_or_default() });
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                self.uses.push(Import { path: with(&name), name });
            }
            UseTree::Rename(rename) => {
                let path =
                    if rename.ident == "self" { front.to_vec() } else { with(&rename.ident.to_string()) };
                self.uses.push(Import { path, name: rename.rename.to_string() });
            }
            UseTree::Glob(_) => self.uses.push(Import { path: with("*"), name: "*".to_owned() }),
        }
    }

    /// Finds paths in the tokens of a macro, which syn does not parse.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_path(&std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.add_path(&std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(&path);
    }

    fn add_path(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.paths.push(path.to_vec());
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Union(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Impl(item) => (None, &item.attrs),
            Item::Use(item) => (None, &item.attrs),
            Item::Mod(item) => (None, &item.attrs),
            _ => return,
        };
        if is_test(attributes) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        syn::visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use(&item.tree, &[]);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add_path(&names);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, macro_call: &'ast syn::Macro) {
        self.add_tokens(macro_call.tokens.clone());
        syn::visit::visit_macro(self, macro_call);
    }
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
        let circles = all_circles(&modules);
        std::fs::remove_dir_all(&folder).unwrap();
        circles
    }

    #[test]
    fn a_circle_is_found_through_re_exports_and_macros() {
        let circles = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { println!(\"{}\", super::c::f()); }"),
            ("c.rs", "use super::a::A; pub fn f() -> u8 { 1 }"),
        ]);
        assert_eq!(circles.len(), 1, "{circles:?}");
        assert!(
            circles[0].contains("in a circle: a, b, c. a uses b (B); b uses c (f); c uses a (A)"),
            "{circles:?}"
        );
    }

    #[test]
    fn tests_and_parents_may_import_in_circles() {
        let circles = circles_of(&[
            ("lib.rs", "mod a; mod b; pub fn f() {}"),
            ("a.rs", "mod inner; use inner::X; use crate::f; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("a/inner.rs", "pub struct X; use super::Y;"),
            ("b.rs", "use crate::a; pub struct B;"),
        ]);
        assert_eq!(circles, Vec::<String>::new());
    }
}
