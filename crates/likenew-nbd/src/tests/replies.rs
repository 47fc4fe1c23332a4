//! Reads a server's replies as a strict client would.

use crate::protocol::{CHUNK_MAGIC, OPTION_REPLY_MAGIC, SIMPLE_REPLY_MAGIC};

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// A reply to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionReply {
    pub(super) option: u32,
    pub(super) kind: u32,
    pub(super) data: Vec<u8>,
}

impl OptionReply {
    /// Parses complete replies and nothing else.
    #[track_caller]
    pub(super) fn all(mut bytes: &[u8]) -> Vec<Self> {
        let mut replies = Vec::new();
        while !bytes.is_empty() {
            assert_eq!(u64_at(bytes, 0), OPTION_REPLY_MAGIC);
            let length = u32_at(bytes, 16) as usize;
            let data = bytes[20..20 + length].to_vec();
            replies.push(Self { option: u32_at(bytes, 8), kind: u32_at(bytes, 12), data });
            bytes = &bytes[20 + length..];
        }
        replies
    }
}

/// A complete reply to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) cookie: u64,
    /// Error number; 0 without an error.
    pub(super) errno: u32,
    /// The error's message and address.
    pub(super) message: String,
    pub(super) at: Option<u64>,
    /// Data of a read, with holes as zeros.
    pub(super) data: Vec<u8>,
    /// Types of the chunks, in order.
    pub(super) chunks: Vec<u16>,
    /// Lengths and flags.
    pub(super) extents: Vec<(u32, u32)>,
}

/// An address and the bytes there.
type Part = (u64, Vec<u8>);

/// Collects replies as their bytes arrive.
pub(super) struct Inbound {
    structured: bool,
    /// Lengths of reads by cookie, since a simple reply does not contain its length.
    pub(super) reads: std::collections::HashMap<u64, usize>,
    bytes: Vec<u8>,
    open: Vec<(Reply, Vec<Part>)>,
    pub(super) replies: Vec<Reply>,
}

impl Inbound {
    pub(super) fn new(structured: bool) -> Self {
        Self {
            structured,
            reads: Default::default(),
            bytes: Vec::new(),
            open: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// Adds bytes and parses complete replies. A simple reply has as much data as `reads` says, or else none.
    #[track_caller]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        while self.bytes.len() >= 16 {
            let used = if self.structured && u32_at(&self.bytes, 0) == CHUNK_MAGIC {
                self.chunk()
            } else {
                self.simple()
            };
            let Some(used) = used else { return };
            self.bytes.drain(..used);
        }
    }

    fn simple(&mut self) -> Option<usize> {
        let bytes = &self.bytes;
        assert_eq!(u32_at(bytes, 0), SIMPLE_REPLY_MAGIC, "this is no reply: {:02x?}", &bytes[..16]);
        let (errno, cookie) = (u32_at(bytes, 4), u64_at(bytes, 8));
        let length = match errno {
            0 => self.reads.get(&cookie).copied().unwrap_or(0),
            _ => 0,
        };
        let data = bytes.get(16..16 + length)?.to_vec();
        self.replies.push(Reply { cookie, errno, data, ..Reply::default() });
        Some(16 + length)
    }

    fn chunk(&mut self) -> Option<usize> {
        if self.bytes.len() < 20 {
            return None;
        }
        let bytes = &self.bytes;
        let (flags, kind, cookie) = (u16_at(bytes, 4), u16_at(bytes, 6), u64_at(bytes, 8));
        let length = u32_at(bytes, 16) as usize;
        let data = bytes.get(20..20 + length)?.to_vec();
        let index = self.open.iter().position(|(reply, _)| reply.cookie == cookie).unwrap_or_else(|| {
            self.open.push((Reply { cookie, ..Reply::default() }, Vec::new()));
            self.open.len() - 1
        });
        let (reply, parts) = &mut self.open[index];
        reply.chunks.push(kind);
        match kind {
            0 => assert!(data.is_empty() && flags == 1),
            1 => parts.push((u64_at(&data, 0), data[8..].to_vec())),
            2 => parts.push((u64_at(&data, 0), vec![0; u32_at(&data, 8) as usize])),
            5 => {
                assert_eq!(u32_at(&data, 0), 1);
                let extents = data[4..].as_chunks::<8>().0;
                reply.extents = extents.iter().map(|extent| (u32_at(extent, 0), u32_at(extent, 4))).collect();
            }
            0x8001 | 0x8002 => {
                reply.errno = u32_at(&data, 0);
                let message = 6 + u16_at(&data, 4) as usize;
                reply.message = String::from_utf8(data[6..message].to_vec()).unwrap();
                reply.at = (kind == 0x8002).then(|| u64_at(&data, message));
                assert_eq!(data.len(), message + if kind == 0x8002 { 8 } else { 0 });
            }
            other => panic!("a chunk of kind {other}"),
        }
        if flags & 1 == 1 {
            let (mut reply, mut parts) = self.open.swap_remove(index);
            parts.sort();
            assert!(
                parts.windows(2).all(|two| two[0].0 + two[0].1.len() as u64 == two[1].0),
                "gaps or overlaps"
            );
            reply.data = parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().concat();
            self.replies.push(reply);
        }
        Some(20 + length)
    }
}
