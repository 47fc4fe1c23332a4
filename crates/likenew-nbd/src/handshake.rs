//! The export, and the negotiation before the first request, in which a client selects it and the form of replies. Each
//! option is answered at once.

use super::outbox::Outbox;
use super::protocol::{
    NBD_MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, PAYLOAD_MAX, allocation, handshake, info, option, rep,
    transmission,
};
use super::wording;

/// Bytes of an option's head.
pub(crate) const OPTION_BYTES: usize = 16;
/// Zeros after the answer to EXPORT_NAME, unless both sides agreed to omit them.
const ZEROES: [u8; 124] = [0; 124];

/// The options negotiated so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    no_zeroes: bool,
    pub(crate) structured: bool,
    /// The export of which the client may ask for allocation.
    allocation: Option<Vec<u8>>,
}

/// What follows an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeStep {
    /// The next option.
    Continue,
    /// Requests. `allocation`: whether the client may ask which parts are allocated.
    Transmit { allocation: bool },
    /// The end, on the client's request.
    Abort,
    /// The client is dropped for this reason.
    Drop(&'static str),
}

/// The head of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionHead {
    pub(crate) option: u32,
    pub(crate) length: u32,
}

impl OptionHead {
    /// Reads the head; `None` without its magic number.
    pub(crate) fn read(bytes: &[u8; OPTION_BYTES]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (option, rest) = rest.split_first_chunk::<4>()?;
        let (length, _) = rest.split_first_chunk::<4>()?;
        let is_option = u64::from_be_bytes(*magic) == OPTION_MAGIC;
        is_option.then(|| Self { option: u32::from_be_bytes(*option), length: u32::from_be_bytes(*length) })
    }
}

/// Writes the server's first bytes to a new client.
pub(crate) fn greet(out: &mut Outbox) {
    out.put_u64(NBD_MAGIC);
    out.put_u64(OPTION_MAGIC);
    out.put_u16(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
}

/// Writes a reply to an option.
pub(crate) fn answer(out: &mut Outbox, option: u32, kind: u32, data: &[u8]) {
    out.put_u64(OPTION_REPLY_MAGIC);
    out.put_u32(option);
    out.put_u32(kind);
    out.put_u32(data.len() as u32);
    out.put(data);
}

impl Handshake {
    /// Takes the client's flags, the first bytes that it sends.
    pub(crate) fn take_flags(&mut self, flags: u32) -> HandshakeStep {
        if flags & !u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES) != 0 {
            return HandshakeStep::Drop(wording::OTHER_FLAGS);
        }
        self.no_zeroes = flags & u32::from(handshake::NO_ZEROES) != 0;
        HandshakeStep::Continue
    }

    /// Takes an option with its data and answers it.
    pub(crate) fn take(
        &mut self,
        option: u32,
        data: &[u8],
        export: &Export,
        out: &mut Outbox,
    ) -> HandshakeStep {
        match option {
            option::EXPORT_NAME => return self.take_export_name(data, export, out),
            option::ABORT => {
                answer(out, option, rep::ACK, &[]);
                return HandshakeStep::Abort;
            }
            option::INFO | option::GO => return self.take_info(option, data, export, out),
            option::LIST if data.is_empty() => {
                answer(out, option, rep::SERVER, &with_length(export.name.as_bytes()));
                answer(out, option, rep::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                answer(out, option, rep::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY => {
                answer(out, option, rep::ERR_INVALID, wording::OPTION_WITH_DATA);
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.take_contexts(option, data, export, out);
            }
            option::STARTTLS => answer(out, option, rep::ERR_UNSUP, wording::OPTION_TLS),
            _ => answer(out, option, rep::ERR_UNSUP, wording::OPTION_UNKNOWN),
        }
        HandshakeStep::Continue
    }

    /// Answers the old option that selects an export. It has no reply for a refusal.
    fn take_export_name(&mut self, name: &[u8], export: &Export, out: &mut Outbox) -> HandshakeStep {
        if !export.is_named(name) {
            return HandshakeStep::Drop(wording::OTHER_EXPORT);
        }
        out.put_u64(export.capacity);
        out.put_u16(export.flags(self.structured));
        if !self.no_zeroes {
            out.put(&ZEROES);
        }
        HandshakeStep::Transmit { allocation: self.wants_allocation(name) }
    }

    fn take_info(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Outbox) -> HandshakeStep {
        let Some((name, wanted)) = read_info(data) else {
            answer(out, option, rep::ERR_INVALID, wording::OPTION_LENGTHS);
            return HandshakeStep::Continue;
        };
        if !export.is_named(name) {
            answer(out, option, rep::ERR_UNKNOWN, wording::OPTION_EXPORT);
            return HandshakeStep::Continue;
        }
        let mut say = |kind: u16, data: &[u8]| {
            answer(out, option, rep::INFO, &[&kind.to_be_bytes()[..], data].concat());
        };
        let size = export.capacity.to_be_bytes();
        say(info::EXPORT, &[&size[..], &export.flags(self.structured).to_be_bytes()].concat());
        if wanted.contains(&info::NAME) {
            say(info::NAME, export.name.as_bytes());
        }
        if wanted.contains(&info::DESCRIPTION) {
            say(info::DESCRIPTION, export.description.as_bytes());
        }
        // Sent without being asked for, since requests of other sizes are refused.
        let sizes = [export.block, export.preferred_block(), PAYLOAD_MAX];
        say(info::BLOCK_SIZE, &sizes.map(u32::to_be_bytes).concat());
        answer(out, option, rep::ACK, &[]);
        match option {
            option::GO => HandshakeStep::Transmit { allocation: self.wants_allocation(name) },
            _ => HandshakeStep::Continue,
        }
    }

    fn take_contexts(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Outbox) {
        let sets = option == option::SET_META_CONTEXT;
        if sets {
            self.allocation = None;
        }
        if !self.structured {
            return answer(out, option, rep::ERR_INVALID, wording::OPTION_TOO_EARLY);
        }
        let Some((name, queries)) = read_contexts(data) else {
            return answer(out, option, rep::ERR_INVALID, wording::OPTION_LENGTHS);
        };
        if !export.is_named(name) {
            return answer(out, option, rep::ERR_UNKNOWN, wording::OPTION_EXPORT);
        }
        let context = allocation::NAME.as_bytes();
        let is_wanted = if sets {
            queries.contains(&context)
        } else {
            queries.is_empty() || queries.iter().any(|query| *query == b"base:" || *query == context)
        };
        if is_wanted {
            // In a list, contexts have no ID.
            let id = if sets { allocation::ID } else { 0 };
            answer(out, option, rep::META_CONTEXT, &[&id.to_be_bytes()[..], context].concat());
        }
        if sets && is_wanted {
            self.allocation = Some(name.to_owned());
        }
        answer(out, option, rep::ACK, &[]);
    }

    /// Whether the context was set for the export with this name.
    fn wants_allocation(&self, name: &[u8]) -> bool {
        self.structured && self.allocation.as_deref() == Some(name)
    }
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

/// Parses INFO and GO: the export's name and the kinds of information.
fn read_info(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let (name, rest) = read_with_length(data)?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let (kinds, beyond) = rest.as_chunks::<2>();
    let fits = beyond.is_empty() && kinds.len() == usize::from(u16::from_be_bytes(*count));
    fits.then(|| (name, kinds.iter().map(|kind| u16::from_be_bytes(*kind)).collect()))
}

/// Parses the options about metadata contexts: the export's name and the queries.
fn read_contexts(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = read_with_length(data)?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let mut queries = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        let (query, behind) = read_with_length(rest)?;
        queries.push(query);
        rest = behind;
    }
    rest.is_empty().then_some((name, queries))
}

/// Splits off bytes that are preceded by their length.
fn read_with_length(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

/// One drive as an export. Clients reach it by its name or as the default export, whose name is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name in the NBD URI.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// Capacity in bytes; a multiple of `block`.
    pub capacity: u64,
    /// Unit of offsets and lengths of requests, in bytes.
    pub block: u32,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Whether the drive supports TRIM.
    pub trims: bool,
    /// Whether the drive is a rotating disk.
    pub rotates: bool,
}

impl Export {
    /// Whether this name selects the export.
    pub(crate) fn is_named(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// Transmission flags. A client may open several connections: all of them reach the same drive, and a flush covers
    /// the writes of all.
    pub(crate) fn flags(&self, structured: bool) -> u16 {
        let when = |condition: bool, flag: u16| if condition { flag } else { 0 };
        let writable = !self.read_only;
        transmission::HAS_FLAGS
            | transmission::SEND_FLUSH
            | transmission::CAN_MULTI_CONN
            | transmission::SEND_CACHE
            | when(self.read_only, transmission::READ_ONLY)
            | when(
                writable,
                transmission::SEND_FUA | transmission::SEND_WRITE_ZEROES | transmission::SEND_FAST_ZERO,
            )
            | when(writable && self.trims, transmission::SEND_TRIM)
            | when(self.rotates, transmission::ROTATIONAL)
            | when(structured, transmission::SEND_DF)
    }

    /// The preferred request size: a memory page, or a block of the drive if that is larger.
    pub(crate) fn preferred_block(&self) -> u32 {
        const PAGE: u32 = 4096;
        self.block.max(PAGE)
    }
}
