//! A macro that declares sentences in lists.

/// Declares sentences without a branch, each as a function from typed parts to text: `pub(super) fn
/// too_little(left: Size) = "only {left} may still be written";`. A value that is not itself a part follows
/// the text: `fn two(bytes: u64) = "both hold {}", Size(bytes);`.
#[macro_export]
macro_rules! sentences {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident($($part:ident: $type:ty),*) = $text:literal $(, $value:expr)*;)*) => {
        $($(#[$doc])* $visibility fn $name($($part: $type),*) -> String { format!($text $(, $value)*) })*
    };
}
