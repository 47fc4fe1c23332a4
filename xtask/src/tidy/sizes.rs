//! Names files and functions that have grown: each is a question, not a violation.

use std::path::PathBuf;

use anyhow::Context as _;
use syn::spanned::Spanned as _;
use syn::visit::Visit;

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 70;

/// Files over 400 lines and functions over 70.
pub(super) fn questions(sources: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut questions = Vec::new();
    for path in sources {
        let name = path.display();
        let text = std::fs::read_to_string(path)?;
        let lines = text.lines().count();
        if lines > FILE_LINES {
            questions.push(format!("{name} has {lines} lines"));
        }
        let file = syn::parse_file(&text).with_context(|| format!("could not read {name} as Rust"))?;
        let mut long = LongFunctions::default();
        long.visit_file(&file);
        questions
            .extend(long.0.iter().map(|(function, lines)| format!("{name}: {function} has {lines} lines")));
    }
    Ok(questions)
}

#[derive(Default)]
struct LongFunctions(Vec<(String, usize)>);

impl LongFunctions {
    fn look(&mut self, name: &syn::Ident, body: &syn::Block) {
        let span = body.span();
        let lines = span.end().line - span.start().line + 1;
        if lines > FUNCTION_LINES {
            self.0.push((name.to_string(), lines));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.look(&function.sig.ident, &function.block);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.look(&function.sig.ident, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }
}
