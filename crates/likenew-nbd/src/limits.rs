//! Limits on clients, which keep memory bounded whatever they send.

use likenew_core::units::Nanos;

/// The longest payload of a read or a write, in bytes: what doc/proto.md expects of every server.
pub(crate) const PAYLOAD_MAX: u32 = 32 << 20;
/// The longest I/O sent to the drive, in bytes. Longer requests reach it in pieces, all at once, as Linux
/// sends them (`max_sectors_kb` is 1280).
pub(crate) const PIECE_MAX: u32 = 1 << 20;
/// The longest range in one TRIM to the drive, in bytes: Linux has 2 GiB less a sector (`discard_max_bytes`).
pub(crate) const TRIM_MAX: u32 = 1 << 30;
/// I/Os that the drive's lane takes at once. Further ones queue.
pub(crate) const DEPTH: u32 = 1024;
/// Requests of one client that may be under way; beyond them it is not read from.
pub(crate) const REQUESTS_MAX: usize = 1024;
/// Bytes held for one client: of requests under way, and of replies that it has not read.
pub(crate) const HELD_BYTES_MAX: u64 = 64 << 20;
/// The same for all clients together, beside what each may hold in any case.
pub(crate) const HELD_BYTES_MAX_OF_ALL: u64 = 256 << 20;
/// Bytes that a client may hold whatever others do. Chosen: more than one request of the kernel or of usual programs.
pub(crate) const HELD_BYTES_SHARE: u64 = 4 << 20;
/// Clients at once.
pub(crate) const CONNECTIONS_MAX: usize = 32;
/// A client that has not chosen the export within this wall time is dropped.
pub(crate) const HANDSHAKE: Nanos = Nanos::from_secs(10);
/// Options that a client may send.
pub(crate) const OPTIONS_MAX: u32 = 256;
/// The longest data of an option that is parsed: a name has 4096 bytes at most.
pub(crate) const OPTION_BYTES_MAX: u32 = 16 << 10;
/// Longer data of an option ends the connection, without skipping it.
pub(crate) const OPTION_BYTES_SKIPPED_MAX: u32 = 1 << 20;
/// Bytes that are read from one client before others have their turn.
pub(crate) const TURN_BYTES: usize = 512 << 10;
/// Notes about one client, at most.
pub(crate) const NOTES_MAX: u32 = 5;
/// The most extents in an answer to BLOCK_STATUS.
pub(crate) const EXTENTS_MAX: usize = 4096;
/// How long clients may take to fetch their answers once the server ends, in wall time. Chosen: a client that
/// is alive fetches at once; one that hangs must not keep the server.
pub(crate) const FAREWELL: Nanos = Nanos::from_secs(10);
/// How often an idle drive is advanced to the present, in wall time. Chosen: often enough for its background
/// work, too rarely to use the processor.
pub(crate) const IDLE: Nanos = Nanos::from_millis(100);
