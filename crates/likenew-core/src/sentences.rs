//! Sentences as lists.

/// Sentences without a branch, each a function from its typed parts to the text:
/// `pub(super) fn too_little(left: Size) = "only {left} may still be written";`. What is not a part itself follows as a value:
/// `fn two(bytes: u64) = "both hold {}", Size(bytes);`.
#[macro_export]
macro_rules! sentences {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident($($part:ident: $type:ty),*) = $text:literal $(, $value:expr)*;)*) => {
        $($(#[$doc])* $visibility fn $name($($part: $type),*) -> String { format!($text $(, $value)*) })*
    };
}
