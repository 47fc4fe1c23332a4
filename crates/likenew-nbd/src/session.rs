//! One client: its connection, what it has agreed on, and where in the protocol it is. Knows no drive.

use std::io::{self, Read, Write};

use likenew_core::units::Nanos;

use crate::errno::Errno;
use crate::export::Export;
use crate::handshake::{self, Handshake, OPTION_BYTES, OptionHead, Then};
use crate::inbox::{Filled, Inbox};
use crate::limits::{
    HANDSHAKE, NOTES_MAX, OPTION_BYTES_MAX, OPTION_BYTES_SKIPPED_MAX, OPTIONS_MAX, TURN_BYTES,
};
use crate::outbox::Outbox;
use crate::protocol::{option, rep};
use crate::reply::Reply;
use crate::request::{Agreed, Ask, Command, Header, Refusal};

/// One client.
pub(crate) struct Session<S> {
    pub(crate) id: u64,
    /// Who it is, for people.
    pub(crate) who: String,
    pub(crate) stream: S,
    inbox: Inbox,
    pub(crate) outbox: Outbox,
    phase: Phase,
    handshake: Handshake,
    pub(crate) agreed: Agreed,
    options: u32,
    /// When it came, in wall time.
    since: Nanos,
    /// Requests under way.
    pub(crate) requests: usize,
    /// Bytes of requests under way.
    pub(crate) held: u64,
    notes: u32,
    /// Whether the client sends nothing any more; what it has sent is still looked at.
    is_silent: bool,
    end: End,
}

/// Where in the protocol it is.
#[derive(Debug)]
enum Phase {
    /// Its flags come next.
    Flags,
    /// The head of an option comes next.
    Option,
    /// The data of an option.
    OptionData(OptionHead),
    /// So many bytes of data of an option that is too long.
    OptionSkipped { option: u32, left: u32 },
    /// A request comes next.
    Request,
    /// The rest of the bytes of a write.
    Payload { header: Header, bytes: Vec<u8> },
    /// So many bytes of a write that is refused.
    PayloadSkipped { header: Header, refusal: Refusal, left: u32 },
}

/// Whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It does.
    Not,
    /// Nothing more is read; what is under way is still answered.
    Read,
    /// At once.
    Now,
}

/// What parsing came to.
pub(crate) enum Parsed {
    /// A request to carry out.
    Ask(Ask),
    /// One was refused and answered.
    Refused(Errno, &'static str),
    /// The client can transmit from here on.
    Transmits,
    /// Something that changes nothing outside.
    Step,
    /// More bytes have to come.
    Starved,
}

impl<S: Read + Write> Session<S> {
    /// A client that has come just now; it is greeted.
    pub(crate) fn new(id: u64, who: String, stream: S, now: Nanos) -> Self {
        let mut outbox = Outbox::default();
        handshake::greet(&mut outbox);
        Self {
            id,
            who,
            stream,
            inbox: Inbox::default(),
            outbox,
            phase: Phase::Flags,
            handshake: Handshake::default(),
            agreed: Agreed::default(),
            options: 0,
            since: now,
            requests: 0,
            held: 0,
            notes: 0,
            is_silent: false,
            end: End::Not,
        }
    }

    /// Whether it has chosen the export.
    pub(crate) fn transmits(&self) -> bool {
        matches!(self.phase, Phase::Request | Phase::Payload { .. } | Phase::PayloadSkipped { .. })
    }

    /// When it is dropped unless it has chosen the export, in wall time.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        (!self.transmits() && self.end == End::Not).then(|| self.since + HANDSHAKE)
    }

    /// Bytes that are held for it.
    pub(crate) fn held_bytes(&self) -> u64 {
        let payload = if let Phase::Payload { bytes, .. } = &self.phase { bytes.len() } else { 0 };
        self.held + (payload + self.outbox.len()) as u64
    }

    /// Whether it may still say something.
    pub(crate) fn listens(&self) -> bool {
        self.end == End::Not
    }

    /// Nothing is read of it any more; what is under way is still answered.
    pub(crate) fn hang_up(&mut self) {
        if self.end == End::Not {
            self.end = End::Read;
        }
    }

    /// It is let go without another word.
    pub(crate) fn drop_now(&mut self) {
        self.end = End::Now;
    }

    /// Whether it can be let go.
    pub(crate) fn is_over(&self) -> bool {
        match self.end {
            End::Not => false,
            End::Read => self.requests == 0 && self.outbox.is_empty(),
            End::Now => true,
        }
    }

    /// Whether a line may still be noted of it, which is counted; how many more there may be.
    pub(crate) fn may_note(&mut self) -> Option<u32> {
        self.notes += 1;
        NOTES_MAX.checked_sub(self.notes)
    }

    /// Reads what there is, but only so much that others have their turn.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        /// Bytes of one read.
        const READ: usize = 128 << 10;
        // What was read before goes first: an inbox holds a turn's bytes at most.
        while self.has_room() {
            match self.inbox.fill(&mut self.stream, READ)? {
                Filled::Some(READ) => {}
                Filled::Some(_) | Filled::Nothing => break,
                Filled::Ended => {
                    self.is_silent = true;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether there is room for more bytes of it.
    pub(crate) fn has_room(&self) -> bool {
        self.listens() && !self.is_silent && self.inbox.len() < TURN_BYTES
    }

    /// Whether the next thing that it says is a new request.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(self.phase, Phase::Request)
    }

    /// All that has come was looked at, and what is left is not whole: it never will be if nothing more comes.
    pub(crate) fn starve(&mut self) {
        if self.is_silent {
            self.hang_up();
        }
    }

    /// Takes the next thing that has come. `ending` refuses everything since the server ends.
    ///
    /// # Errors
    /// The client is to be dropped, and why.
    pub(crate) fn parse(&mut self, export: &Export, ending: bool) -> Result<Parsed, &'static str> {
        if self.end == End::Now {
            return Ok(Parsed::Starved);
        }
        match &mut self.phase {
            Phase::Flags => {
                let Some(flags) = self.inbox.take_array() else { return Ok(Parsed::Starved) };
                let then = self.handshake.take_flags(u32::from_be_bytes(flags));
                self.go_on(then)
            }
            Phase::Option => self.parse_option(),
            Phase::OptionData(head) => {
                let head = *head;
                let Some(data) = self.inbox.take(head.length as usize) else { return Ok(Parsed::Starved) };
                if ending {
                    handshake::answer(&mut self.outbox, head.option, rep::ERR_SHUTDOWN, b"the server ends");
                    return self.go_on(Then::Haggle);
                }
                let then = self.handshake.take(head.option, data, export, &mut self.outbox);
                self.go_on(then)
            }
            Phase::OptionSkipped { option, left } => {
                *left -= self.inbox.skip((*left).into()) as u32;
                if *left > 0 {
                    return Ok(Parsed::Starved);
                }
                let option = *option;
                handshake::answer(&mut self.outbox, option, rep::ERR_TOO_BIG, b"its data is too long");
                self.go_on(Then::Haggle)
            }
            Phase::Request => self.parse_request(export, ending),
            Phase::Payload { header, bytes } => {
                let left = header.length as usize - bytes.len();
                let part = left.min(self.inbox.len());
                bytes.extend_from_slice(self.inbox.take(part).expect("so many are there"));
                if part < left {
                    return Ok(Parsed::Starved);
                }
                let (header, payload) = (*header, std::mem::take(bytes));
                self.phase = Phase::Request;
                Ok(Parsed::Ask(ask(&header, Command::Write, payload)))
            }
            Phase::PayloadSkipped { header, refusal, left } => {
                *left -= self.inbox.skip((*left).into()) as u32;
                if *left > 0 {
                    return Ok(Parsed::Starved);
                }
                let (header, refusal) = (*header, *refusal);
                self.phase = Phase::Request;
                Ok(self.refuse(&header, refusal))
            }
        }
    }

    fn parse_option(&mut self) -> Result<Parsed, &'static str> {
        let Some(bytes) = self.inbox.take_array::<OPTION_BYTES>() else { return Ok(Parsed::Starved) };
        let head = OptionHead::read(&bytes).ok_or("what it has sent is no option")?;
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return Err("it does nothing but send options");
        }
        self.phase = match head.length {
            0..=OPTION_BYTES_MAX => Phase::OptionData(head),
            length @ ..=OPTION_BYTES_SKIPPED_MAX if head.option != option::EXPORT_NAME => {
                Phase::OptionSkipped { option: head.option, left: length }
            }
            _ => return Err("an option of it is far too long"),
        };
        Ok(Parsed::Step)
    }

    fn parse_request(&mut self, export: &Export, ending: bool) -> Result<Parsed, &'static str> {
        let Some(bytes) = self.inbox.take_array::<{ Header::BYTES }>() else { return Ok(Parsed::Starved) };
        let header = Header::read(&bytes).ok_or("what it has sent is no request")?;
        let command = match header.command(export, self.agreed) {
            Ok(_) if ending => Err(Refusal { errno: Errno::Shutdown, why: "the server ends" }),
            other => other,
        };
        let left = header.payload_bytes();
        match command {
            Ok(Command::Disconnect) => {
                self.hang_up();
                Ok(Parsed::Starved)
            }
            Ok(Command::Write) => {
                // It grows as the bytes come: a client that promises much and sends nothing gets no memory.
                self.phase = Phase::Payload { header, bytes: Vec::new() };
                Ok(Parsed::Step)
            }
            Ok(command) => Ok(Parsed::Ask(ask(&header, command, Vec::new()))),
            Err(refusal) if left > 0 => {
                self.phase = Phase::PayloadSkipped { header, refusal, left };
                Ok(Parsed::Step)
            }
            Err(refusal) => Ok(self.refuse(&header, refusal)),
        }
    }

    fn refuse(&mut self, header: &Header, refusal: Refusal) -> Parsed {
        self.reply(header.cookie).error(&mut self.outbox, refusal.errno, refusal.why, None);
        Parsed::Refused(refusal.errno, refusal.why)
    }

    /// How a request of it is answered.
    pub(crate) fn reply(&self, cookie: u64) -> Reply {
        Reply { cookie, structured: self.agreed.structured }
    }

    fn go_on(&mut self, then: Then) -> Result<Parsed, &'static str> {
        match then {
            Then::Haggle => self.phase = Phase::Option,
            Then::Transmit { allocation } => {
                self.agreed = Agreed { structured: self.handshake.structured, allocation };
                self.phase = Phase::Request;
                return Ok(Parsed::Transmits);
            }
            Then::Leave => self.hang_up(),
            Then::Drop(why) => return Err(why),
        }
        Ok(Parsed::Step)
    }
}

fn ask(header: &Header, command: Command, payload: Vec<u8>) -> Ask {
    use crate::protocol::flag;
    Ask {
        cookie: header.cookie,
        command,
        offset: header.offset,
        length: header.length,
        durable: header.flags & flag::FUA != 0,
        payload,
    }
}
