//! The power goes, or the program is killed, while a drive is brought back: every file of the owner's stays as it was.
//!
//! The real binary works on a real file system of the kernel, below which a [`recording`] writes down all that reaches the drive. The
//! [`medium`] then loses its power at places in that recording, hundreds of times; what it leaves is mounted by the kernel, and everything
//! the owner had made durable until then is compared byte by byte.

mod fill;
mod kill;
mod medium;
mod overwrite;
mod owner_files;
mod recorder;
mod refresh_cut;
mod run;
