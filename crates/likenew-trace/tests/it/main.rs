//! Traces of every format, read and written.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod blktrace;
mod formats;
mod own_format;
mod reference;
mod support;
