//! Extracts the string literals of a source file, except those of its tests.

use syn::visit::Visit;

/// Attributes whose texts users read: errors, and clap's help.
const SHOWN: [&str; 5] = ["error", "arg", "command", "value", "group"];

/// Macros whose texts only a developer reads.
const ASSERTING: [&str; 9] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "concat",
];

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The literal's first line, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) place: LiteralContext,
}

/// Where a literal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum LiteralContext {
    /// In code.
    #[default]
    Code,
    /// In an attribute that users see: an error or clap's help.
    Attribute,
    /// In an assertion, or in `expect`.
    Assertion,
}

/// All literals, including those of macros and shown attributes, but not of `#[cfg(test)]` and doc comments.
pub(super) fn literals(source: &str) -> syn::Result<Vec<Literal>> {
    let mut literals = Literals::default();
    literals.visit_file(&syn::parse_file(source)?);
    Ok(literals.found)
}

#[derive(Default)]
struct Literals {
    found: Vec<Literal>,
    place: LiteralContext,
}

impl Literals {
    fn push(&mut self, line: usize, text: String) {
        self.found.push(Literal { line, text, place: self.place });
    }

    /// Visits `inside` in this context. Within an assertion, everything belongs to the assertion.
    fn at(&mut self, place: LiteralContext, inside: impl FnOnce(&mut Self)) {
        let outside = self.place;
        if outside == LiteralContext::Code {
            self.place = place;
        }
        inside(self);
        self.place = outside;
    }

    fn take(&mut self, tokens: proc_macro2::TokenStream) {
        let mut is_attribute = false;
        for token in tokens {
            let follows_hash = std::mem::take(&mut is_attribute);
            match token {
                proc_macro2::TokenTree::Punct(punct) => is_attribute = punct.as_char() == '#',
                // Usually a doc comment.
                proc_macro2::TokenTree::Group(_) if follows_hash => {}
                proc_macro2::TokenTree::Group(group) => self.take(group.stream()),
                proc_macro2::TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.push(line, text.value());
                    }
                }
                proc_macro2::TokenTree::Ident(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_for_tests(&function.attrs) {
            syn::visit::visit_item_fn(self, function);
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.push(text.span().start().line, text.value());
    }

    fn visit_macro(&mut self, macro_call: &'ast syn::Macro) {
        let name =
            macro_call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let place =
            if ASSERTING.contains(&name.as_str()) { LiteralContext::Assertion } else { LiteralContext::Code };
        self.at(place, |literals| literals.take(macro_call.tokens.clone()));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let place = if call.method == "expect" || call.method == "expect_err" {
            LiteralContext::Assertion
        } else {
            LiteralContext::Code
        };
        self.at(place, |literals| call.args.iter().for_each(|argument| literals.visit_expr(argument)));
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta
            && SHOWN.iter().any(|shown| list.path.is_ident(shown))
        {
            self.at(LiteralContext::Attribute, |literals| literals.take(list.tokens.clone()));
        }
    }
}

/// Whether the item has `#[test]`, or `#[cfg(…)]` with `test`.
pub(super) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => {
            let mut tokens = list.tokens.clone().into_iter();
            list.path.is_ident("cfg") && tokens.any(|token| token.to_string() == "test")
        }
        syn::Meta::NameValue(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_and_errors_are_read_and_tests_are_not() {
        let source = "/// a comment\n#[derive(Debug)]\n#[error(\"an error\")]\nstruct E;\n#[doc = \"no\"]\nfn f() { format!(\"a {}\", g(\"b\")); table! { /// no\n x } }\n\
            #[cfg(test)]\nmod tests { fn t() { \"no\" } }\n#[test]\nfn t() { \"no\" }\n";
        let texts: Vec<String> = literals(source).unwrap().into_iter().map(|literal| literal.text).collect();
        assert_eq!(texts, ["an error", "a {}", "b"]);
    }

    #[test]
    fn the_place_of_a_literal_is_told() {
        let source = "#[error(\"an error\")]\nstruct E;\nfn f() { assert!(x, \"an assertion\"); f(\"code\").expect(\"a mistake\"); }\n";
        let places: Vec<LiteralContext> =
            literals(source).unwrap().into_iter().map(|literal| literal.place).collect();
        assert_eq!(
            places,
            [
                LiteralContext::Attribute,
                LiteralContext::Assertion,
                LiteralContext::Code,
                LiteralContext::Assertion
            ]
        );
    }
}
