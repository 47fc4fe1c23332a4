//! A real drive in wall time: io_uring, a thread pool, folders of files, nothing at all.
