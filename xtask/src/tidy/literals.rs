//! String literals of a source file, outside of its tests.

use syn::visit::Visit;

/// Attributes whose texts users read: errors, and what clap shows.
const SHOWN: [&str; 5] = ["error", "arg", "command", "value", "group"];

/// Each literal with its line: those of macros and of shown attributes included, those of `#[cfg(test)]` and doc comments not.
pub(super) fn literals(source: &str) -> syn::Result<Vec<(usize, String)>> {
    let mut literals = Literals::default();
    literals.visit_file(&syn::parse_file(source)?);
    Ok(literals.0)
}

#[derive(Default)]
struct Literals(Vec<(usize, String)>);

impl Literals {
    fn take(&mut self, tokens: proc_macro2::TokenStream) {
        let mut is_attribute = false;
        for token in tokens {
            let follows_hash = std::mem::take(&mut is_attribute);
            match token {
                proc_macro2::TokenTree::Punct(punct) => is_attribute = punct.as_char() == '#',
                // A doc comment, most of the time.
                proc_macro2::TokenTree::Group(_) if follows_hash => {}
                proc_macro2::TokenTree::Group(group) => self.take(group.stream()),
                proc_macro2::TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.0.push((line, text.value()));
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
        self.0.push((text.span().start().line, text.value()));
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        self.take(one.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta
            && SHOWN.iter().any(|shown| list.path.is_ident(shown))
        {
            self.take(list.tokens.clone());
        }
    }
}

/// Whether it is marked `#[test]`, or `#[cfg(…)]` with `test`.
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
        let texts: Vec<String> = literals(source).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["an error", "a {}", "b"]);
    }
}
