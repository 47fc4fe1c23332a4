//! The loop, replays and the runner of procedures, on drives in memory.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod compressors;
mod io_loop;
mod replay;
mod runner;
mod silent_drive;
