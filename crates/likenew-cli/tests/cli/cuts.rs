//! Power cuts and kills while a drive is restored: every file of the owner stays as it was.
//!
//! The real binary works on a real file system of the kernel, below which a [`recording`] logs everything
//! that reaches the drive. The [`medium`] then loses its power at hundreds of points of that recording; the
//! kernel mounts what is left, and everything the owner had made durable until then is compared byte by byte.

mod fill;
mod kill;
mod medium;
mod overwrite;
mod owner_files;
mod recorder;
mod refresh_cut;
mod run;
