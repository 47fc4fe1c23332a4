//! Functions that have grown: longer ones are refused, those that were longer before may only shrink.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

use super::literals::is_for_tests;

/// Longer functions are not read in one look; chosen: what fits a tall window.
const FUNCTION_LINES_MAX: usize = 70;

/// Functions over 70 lines, outside of tests.
pub(super) fn violations(root: &Path, sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in sources {
        let name = path.strip_prefix(root)?.display().to_string();
        if name.contains("/tests/") || name.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path)?;
        let file = syn::parse_file(&text).with_context(|| format!("could not read {name} as Rust"))?;
        let mut long = LongFunctions::default();
        long.visit_file(&file);
        violations.extend(long.0.into_iter().map(|(function, lines)| {
            format!("{name}: {function} has {lines} lines, and may have {FUNCTION_LINES_MAX}")
        }));
    }
    Ok(violations)
}

#[derive(Default)]
struct LongFunctions(Vec<(String, usize)>);

impl LongFunctions {
    fn record_if_long(&mut self, name: &syn::Ident, body: &syn::Block) {
        let span = body.span();
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES_MAX {
            self.0.push((name.to_string(), lines));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.record_if_long(&function.sig.ident, &function.block);
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.record_if_long(&function.sig.ident, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }
}
