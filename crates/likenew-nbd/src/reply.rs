//! Writes replies to requests that have ended, with the bytes read: simple replies, or structured ones if the client
//! negotiated them.

use std::io;

use super::engine::Job;
use super::outbox::Outbox;
use super::protocol::{CHUNK_MAGIC, EXTENTS_MAX, Errno, SIMPLE_REPLY_MAGIC, allocation, chunk};
use super::request::{Command, ValidRequest};
use super::store::Store;
use super::wording;

/// Identifies the request, and the form of its reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) cookie: u64,
    pub(crate) structured: bool,
}

impl Reply {
    /// A reply without an error and without data.
    pub(crate) fn ok(self, out: &mut Outbox) {
        if self.structured { self.chunk(out, chunk::DONE, chunk::NONE, 0) } else { self.simple(out, 0) }
    }

    /// An error. `at` is the address where the drive failed, if known.
    pub(crate) fn error(self, out: &mut Outbox, errno: Errno, reason: &str, at: Option<u64>) {
        if !self.structured {
            return self.simple(out, errno.number());
        }
        let length = 4 + 2 + reason.len() as u32;
        match at {
            None => self.chunk(out, chunk::DONE, chunk::ERROR_ALONE, length),
            Some(_) => self.chunk(out, chunk::DONE, chunk::ERROR_OFFSET, length + 8),
        }
        out.put_u32(errno.number());
        out.put_u16(reason.len() as u16);
        out.put(reason.as_bytes());
        at.into_iter().for_each(|at| out.put_u64(at));
    }

    /// The head of a chunk with `length` bytes from `offset`; the bytes follow.
    pub(crate) fn data_chunk(self, out: &mut Outbox, is_last: bool, offset: u64, length: u32) {
        self.chunk(out, last(is_last), chunk::OFFSET_DATA, length + 8);
        out.put_u64(offset);
    }

    /// A chunk that stands for zeros.
    pub(crate) fn hole_chunk(self, out: &mut Outbox, is_last: bool, offset: u64, length: u32) {
        self.chunk(out, last(is_last), chunk::OFFSET_HOLE, 12);
        out.put_u64(offset);
        out.put_u32(length);
    }

    /// The allocation of extents, beginning at the start of the range: their lengths, and whether they are allocated.
    pub(crate) fn extents(self, out: &mut Outbox, extents: &[(u32, bool)]) {
        self.chunk(out, chunk::DONE, chunk::BLOCK_STATUS, 4 + 8 * extents.len() as u32);
        out.put_u32(allocation::ID);
        for (length, is_held) in extents {
            out.put_u32(*length);
            out.put_u32(if *is_held { allocation::DATA } else { allocation::HOLE_OF_ZEROS });
        }
    }

    /// The head of a simple reply; the bytes read follow.
    fn simple(self, out: &mut Outbox, errno: u32) {
        out.put_u32(SIMPLE_REPLY_MAGIC);
        out.put_u32(errno);
        out.put_u64(self.cookie);
    }

    fn chunk(self, out: &mut Outbox, flags: u16, kind: u16, length: u32) {
        out.put_u32(CHUNK_MAGIC);
        out.put_u16(flags);
        out.put_u16(kind);
        out.put_u64(self.cookie);
        out.put_u32(length);
    }
}

fn last(is_last: bool) -> u16 {
    if is_last { chunk::DONE } else { 0 }
}

/// Replies to a request that has ended. Returns the store's error, if the store failed.
pub(crate) fn answer(
    out: &mut Outbox,
    reply: Reply,
    job: &Job,
    store: Option<&mut Box<dyn Store>>,
) -> Option<io::Error> {
    if let Some((errno, at)) = job.error {
        reply.error(out, errno, reason(errno), at);
        return None;
    }
    let Command::Read { single_reply } = job.request.command else {
        reply.ok(out);
        return None;
    };
    let mark = out.mark();
    let brought = match store {
        Some(store) => bring(out, reply, &job.request, single_reply, &mut **store),
        None => {
            head(out, reply, &job.request);
            out.put(&job.read);
            Ok(())
        }
    };
    let error = brought.err()?;
    out.rewind(mark);
    reply.error(out, Errno::of_store(&error), &error.to_string(), Some(job.request.offset));
    Some(error)
}

/// Replies which parts of a range are allocated. If the drive holds the data, all parts count as allocated.
pub(crate) fn answer_status(
    out: &mut Outbox,
    reply: Reply,
    request: &ValidRequest,
    single_extent: bool,
    store: Option<&mut Box<dyn Store>>,
) {
    let end = request.offset + u64::from(request.length);
    let extents_max = if single_extent { 1 } else { EXTENTS_MAX };
    let Some(store) = store else { return reply.extents(out, &[(request.length, true)]) };
    let (mut extents, mut at): (Vec<(u32, bool)>, u64) = (Vec::new(), request.offset);
    while at < end && extents.len() < extents_max {
        match store.stretch(at..end) {
            Ok(stretch) => {
                extents.push(((stretch.end - at) as u32, stretch.is_held));
                at = stretch.end;
            }
            Err(error) => {
                return reply.error(out, Errno::of_store(&error), &error.to_string(), Some(at));
            }
        }
    }
    reply.extents(out, &extents);
}

/// Writes the bytes read. In a structured reply, holes are reported in place of zeros.
fn bring(
    out: &mut Outbox,
    reply: Reply,
    request: &ValidRequest,
    single_reply: bool,
    store: &mut dyn Store,
) -> io::Result<()> {
    let end = request.offset + u64::from(request.length);
    let has_chunks = reply.structured && request.length > 0;
    let first = if has_chunks { Some(store.stretch(request.offset..end)?) } else { None };
    let Some(mut stretch) = first.filter(|first| !single_reply || first.end == end) else {
        head(out, reply, request);
        return store.read(request.offset, out.room(request.length as usize));
    };
    let mut at = request.offset;
    loop {
        let (is_last, length) = (stretch.end == end, (stretch.end - at) as u32);
        if stretch.is_held {
            reply.data_chunk(out, is_last, at, length);
            store.read(at, out.room(length as usize))?;
        } else {
            reply.hole_chunk(out, is_last, at, length);
        }
        if is_last {
            return Ok(());
        }
        at = stretch.end;
        stretch = store.stretch(at..end)?;
    }
}

/// The head of a reply that has all bytes in one chunk.
fn head(out: &mut Outbox, reply: Reply, request: &ValidRequest) {
    match (reply.structured, request.length) {
        (false, _) => reply.simple(out, 0),
        (true, 0) => reply.ok(out),
        (true, length) => reply.data_chunk(out, true, request.offset, length),
    }
}

/// The message for an error of the drive or the store.
fn reason(errno: Errno) -> &'static str {
    match errno {
        Errno::NoSpace => wording::NO_SPACE,
        Errno::NotSupported => wording::NO_FAST_ZEROS,
        _ => wording::DRIVE_ERROR,
    }
}
