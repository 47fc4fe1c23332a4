//! Traces of every format, read and written.

mod formats;
mod own_format;
mod reference;
mod support;
