//! One question per file pair.
