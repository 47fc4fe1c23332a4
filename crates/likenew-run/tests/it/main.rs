//! The loop, replays and the runner of procedures, on drives in memory.

mod compressors;
mod io_loop;
mod replay;
mod runner;
mod silent_drive;
