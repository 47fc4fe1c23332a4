//! The reply to a request that has ended, with the bytes that it read.

use std::io;

use crate::engine::DataOwner;
use crate::job::Job;
use crate::outbox::Outbox;
use crate::protocol::{EXTENTS_MAX, Errno};
use crate::reply::Reply;
use crate::request::{Command, ValidRequest};
use crate::store::Store;
use crate::wording;

/// Answers a request that has ended. Returns the store's error, if it failed.
pub(crate) fn answer(out: &mut Outbox, reply: Reply, job: &Job, keeper: &mut DataOwner) -> Option<io::Error> {
    if let Some((errno, at)) = job.error {
        reply.error(out, errno, reason(errno), at);
        return None;
    }
    let Command::Read { single_reply } = job.ask.command else {
        reply.ok(out);
        return None;
    };
    let mark = out.mark();
    let brought = match keeper {
        DataOwner::Store(store) => bring(out, reply, &job.ask, single_reply, &mut **store),
        DataOwner::Drive => {
            head(out, reply, &job.ask);
            out.put(&job.read);
            Ok(())
        }
    };
    let error = brought.err()?;
    out.rewind(mark);
    reply.error(out, Errno::of_store(&error), &error.to_string(), Some(job.ask.offset));
    Some(error)
}

/// Reports which parts of a range are allocated. A drive that keeps its bytes itself does not say, so all of
/// it counts.
pub(crate) fn answer_status(
    out: &mut Outbox,
    reply: Reply,
    ask: &ValidRequest,
    single_extent: bool,
    keeper: &mut DataOwner,
) {
    let end = ask.offset + u64::from(ask.length);
    let extents_max = if single_extent { 1 } else { EXTENTS_MAX };
    let DataOwner::Store(store) = keeper else { return reply.extents(out, &[(ask.length, true)]) };
    let (mut extents, mut at): (Vec<(u32, bool)>, u64) = (Vec::new(), ask.offset);
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

/// The bytes read, in chunks where the client takes them: holes are reported instead of sent.
fn bring(
    out: &mut Outbox,
    reply: Reply,
    ask: &ValidRequest,
    single_reply: bool,
    store: &mut dyn Store,
) -> io::Result<()> {
    let end = ask.offset + u64::from(ask.length);
    if !reply.structured || ask.length == 0 {
        head(out, reply, ask);
        return store.read(ask.offset, out.room(ask.length as usize));
    }
    let first = store.stretch(ask.offset..end)?;
    if single_reply && first.end < end {
        head(out, reply, ask);
        return store.read(ask.offset, out.room(ask.length as usize));
    }
    let (mut at, mut stretch) = (ask.offset, first);
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

/// The header of an answer with all bytes in one chunk.
fn head(out: &mut Outbox, reply: Reply, ask: &ValidRequest) {
    match (reply.structured, ask.length) {
        (false, _) => reply.simple_data(out),
        (true, 0) => reply.ok(out),
        (true, length) => reply.data_chunk(out, true, ask.offset, length),
    }
}

/// What the number means here.
fn reason(errno: Errno) -> &'static str {
    match errno {
        Errno::NoSpace => wording::NO_SPACE,
        Errno::NotSupported => wording::NO_FAST_ZEROS,
        _ => wording::DRIVE_ERROR,
    }
}
