//! One client: its connection, its negotiated options, and its state in the protocol. Knows no drive.

use std::io::{self, Read, Write};

use likenew_core::units::Nanos;

use crate::handshake::Export;
use crate::handshake::{self, Handshake, HandshakeStep, OPTION_BYTES, OptionHead};
use crate::outbox::{Inbox, Outbox, ReadOutcome};
use crate::protocol::{
    Errno, HANDSHAKE, NOTES_MAX, OPTION_BYTES_MAX, OPTION_BYTES_SKIPPED_MAX, OPTIONS_MAX, TURN_BYTES, option,
    rep,
};
use crate::reply::Reply;
use crate::request::{Command, Header, NegotiatedOptions, Refusal, ValidRequest};
use crate::wording;

/// One client.
pub(crate) struct Session<S> {
    pub(crate) id: u64,
    /// A description of the client for people.
    pub(crate) peer: String,
    pub(crate) stream: S,
    inbox: Inbox,
    pub(crate) outbox: Outbox,
    phase: Phase,
    handshake: Handshake,
    pub(crate) negotiation: NegotiatedOptions,
    options: u32,
    /// Wall time of the connection.
    since: Nanos,
    /// Requests in progress.
    pub(crate) requests: usize,
    /// Bytes of requests in progress.
    pub(crate) request_bytes: u64,
    notes: u32,
    /// Whether the client has closed its side. What it sent before is still parsed.
    is_silent: bool,
    end: End,
}

/// The input that is expected next.
#[derive(Debug)]
enum Phase {
    /// The client's flags.
    Flags,
    /// The head of an option.
    Option,
    /// The data of an option.
    OptionData(OptionHead),
    /// Data of an option that is too long; `remaining` bytes are skipped.
    OptionSkipped { option: u32, remaining: u32 },
    /// The head of a request.
    Request,
    /// The data of a write.
    Payload { header: Header, bytes: Vec<u8> },
    /// Data of a write that is refused; `remaining` bytes are skipped.
    PayloadSkipped { header: Header, refusal: Refusal, remaining: u32 },
}

/// Whether and how the session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The session continues.
    Open,
    /// Input is ignored, and requests in progress are still answered.
    AfterReplies,
    /// The session ends at once.
    Immediate,
}

/// The result of parsing.
pub(crate) enum ParseOutcome {
    /// A request to carry out.
    Request(ValidRequest),
    /// A request was refused and answered.
    Refused(Errno, &'static str),
    /// The client selected the export; requests follow.
    Transmits,
    /// Input was consumed, and the server need not act.
    Step,
    /// More input is needed.
    NeedMore,
}

impl<S: Read + Write> Session<S> {
    /// Greets a client that has just connected.
    pub(crate) fn new(id: u64, peer: String, stream: S, now: Nanos) -> Self {
        let mut outbox = Outbox::default();
        handshake::greet(&mut outbox);
        Self {
            id,
            peer,
            stream,
            inbox: Inbox::default(),
            outbox,
            phase: Phase::Flags,
            handshake: Handshake::default(),
            negotiation: NegotiatedOptions::default(),
            options: 0,
            since: now,
            requests: 0,
            request_bytes: 0,
            notes: 0,
            is_silent: false,
            end: End::Open,
        }
    }

    /// Whether the client has selected the export.
    pub(crate) fn transmits(&self) -> bool {
        matches!(self.phase, Phase::Request | Phase::Payload { .. } | Phase::PayloadSkipped { .. })
    }

    /// Wall time by which the client must select the export, if that is still due.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        (!self.transmits() && self.end == End::Open).then(|| self.since + HANDSHAKE)
    }

    /// Bytes held for the client, including all data of a write that has begun.
    pub(crate) fn buffered_bytes(&self) -> u64 {
        let payload = if let Phase::Payload { header, .. } = &self.phase { header.length } else { 0 };
        self.request_bytes + u64::from(payload) + self.outbox.capacity() as u64
    }

    /// Bytes that the next request will need, if its head has arrived.
    pub(crate) fn next_bytes(&self) -> u64 {
        self.inbox.peek().and_then(Header::read).map_or(0, |header| header.buffered_bytes().into())
    }

    /// Whether input is still parsed.
    pub(crate) fn listens(&self) -> bool {
        self.end == End::Open
    }

    /// Ignores further input, and still answers requests in progress.
    pub(crate) fn hang_up(&mut self) {
        if self.end == End::Open {
            self.end = End::AfterReplies;
        }
    }

    /// Ends the session without further replies.
    pub(crate) fn drop_now(&mut self) {
        self.end = End::Immediate;
    }

    /// Whether the session can be removed.
    pub(crate) fn is_over(&self) -> bool {
        match self.end {
            End::Open => false,
            End::AfterReplies => self.requests == 0 && self.outbox.is_empty(),
            End::Immediate => true,
        }
    }

    /// Counts a note about the client, and returns how many more may follow; `None` if there were too many.
    pub(crate) fn may_note(&mut self) -> Option<u32> {
        self.notes += 1;
        NOTES_MAX.checked_sub(self.notes)
    }

    /// Reads available input, up to what one turn allows.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        /// Bytes of one system call.
        const READ: usize = 128 << 10;
        // Earlier input is parsed first: the inbox holds at most the bytes of a turn.
        while self.has_room() {
            match self.inbox.fill(&mut self.stream, READ)? {
                ReadOutcome::Some(READ) => {}
                ReadOutcome::Some(_) | ReadOutcome::Nothing => break,
                ReadOutcome::Closed => {
                    self.is_silent = true;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether more input may be read.
    pub(crate) fn has_room(&self) -> bool {
        self.listens() && !self.is_silent && self.inbox.len() < TURN_BYTES
    }

    /// Whether the next input is the head of a request.
    pub(crate) fn is_between_requests(&self) -> bool {
        matches!(self.phase, Phase::Request)
    }

    /// Called when the input ends within a message. If the client has closed its side, the session ends.
    pub(crate) fn starve(&mut self) {
        if self.is_silent {
            self.hang_up();
        }
    }

    /// Parses the next message. `ending`: the server shuts down and refuses everything.
    ///
    /// # Errors
    /// The reason for which the client is dropped.
    pub(crate) fn parse(&mut self, export: &Export, ending: bool) -> Result<ParseOutcome, &'static str> {
        if self.end == End::Immediate {
            return Ok(ParseOutcome::NeedMore);
        }
        match &mut self.phase {
            Phase::Flags => {
                let Some(flags) = self.inbox.take_array() else { return Ok(ParseOutcome::NeedMore) };
                let then = self.handshake.take_flags(u32::from_be_bytes(flags));
                self.after_option(then)
            }
            Phase::Option => self.parse_option(),
            Phase::OptionData(head) => {
                let head = *head;
                let Some(data) = self.inbox.take(head.length as usize) else {
                    return Ok(ParseOutcome::NeedMore);
                };
                if ending {
                    handshake::answer(
                        &mut self.outbox,
                        head.option,
                        rep::ERR_SHUTDOWN,
                        wording::OPTION_AT_END,
                    );
                    return self.after_option(HandshakeStep::Continue);
                }
                let then = self.handshake.take(head.option, data, export, &mut self.outbox);
                self.after_option(then)
            }
            Phase::OptionSkipped { option, remaining } => {
                *remaining -= self.inbox.skip((*remaining).into()) as u32;
                if *remaining > 0 {
                    return Ok(ParseOutcome::NeedMore);
                }
                let option = *option;
                handshake::answer(&mut self.outbox, option, rep::ERR_TOO_BIG, wording::OPTION_DATA_LONG);
                self.after_option(HandshakeStep::Continue)
            }
            Phase::Request => self.parse_request(export, ending),
            Phase::Payload { header, bytes } => {
                let remaining = header.length as usize - bytes.len();
                let part = remaining.min(self.inbox.len());
                bytes.extend_from_slice(self.inbox.take(part).expect("so many are there"));
                if part < remaining {
                    return Ok(ParseOutcome::NeedMore);
                }
                let (header, payload) = (*header, std::mem::take(bytes));
                self.phase = Phase::Request;
                Ok(ParseOutcome::Request(to_request(&header, Command::Write, payload)))
            }
            Phase::PayloadSkipped { header, refusal, remaining } => {
                *remaining -= self.inbox.skip((*remaining).into()) as u32;
                if *remaining > 0 {
                    return Ok(ParseOutcome::NeedMore);
                }
                let (header, refusal) = (*header, *refusal);
                self.phase = Phase::Request;
                Ok(self.refuse(&header, refusal))
            }
        }
    }

    fn parse_option(&mut self) -> Result<ParseOutcome, &'static str> {
        let Some(bytes) = self.inbox.take_array::<OPTION_BYTES>() else { return Ok(ParseOutcome::NeedMore) };
        let head = OptionHead::read(&bytes).ok_or(wording::NO_OPTION)?;
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return Err(wording::ONLY_OPTIONS);
        }
        self.phase = match head.length {
            0..=OPTION_BYTES_MAX => Phase::OptionData(head),
            length @ ..=OPTION_BYTES_SKIPPED_MAX if head.option != option::EXPORT_NAME => {
                Phase::OptionSkipped { option: head.option, remaining: length }
            }
            _ => return Err(wording::LONG_OPTION),
        };
        Ok(ParseOutcome::Step)
    }

    fn parse_request(&mut self, export: &Export, ending: bool) -> Result<ParseOutcome, &'static str> {
        let Some(bytes) = self.inbox.take_array::<{ Header::BYTES }>() else {
            return Ok(ParseOutcome::NeedMore);
        };
        let header = Header::read(&bytes).ok_or(wording::NO_REQUEST)?;
        let command = match header.command(export, self.negotiation) {
            Ok(_) if ending => Err(Refusal { errno: Errno::Shutdown, reason: wording::REQUEST_AT_END }),
            other => other,
        };
        let remaining = header.payload_bytes();
        match command {
            Ok(Command::Disconnect) => {
                self.hang_up();
                Ok(ParseOutcome::NeedMore)
            }
            Ok(Command::Write) => {
                // Grows as data arrives, so that a client cannot make the server allocate what it never sends.
                self.phase = Phase::Payload { header, bytes: Vec::new() };
                Ok(ParseOutcome::Step)
            }
            Ok(command) => Ok(ParseOutcome::Request(to_request(&header, command, Vec::new()))),
            Err(refusal) if remaining > 0 => {
                self.phase = Phase::PayloadSkipped { header, refusal, remaining };
                Ok(ParseOutcome::Step)
            }
            Err(refusal) => Ok(self.refuse(&header, refusal)),
        }
    }

    fn refuse(&mut self, header: &Header, refusal: Refusal) -> ParseOutcome {
        self.reply(header.cookie).error(&mut self.outbox, refusal.errno, refusal.reason, None);
        ParseOutcome::Refused(refusal.errno, refusal.reason)
    }

    /// Identifies the reply to the request with this cookie.
    pub(crate) fn reply(&self, cookie: u64) -> Reply {
        Reply { cookie, structured: self.negotiation.structured }
    }

    fn after_option(&mut self, then: HandshakeStep) -> Result<ParseOutcome, &'static str> {
        match then {
            HandshakeStep::Continue => self.phase = Phase::Option,
            HandshakeStep::Transmit { allocation } => {
                self.negotiation = NegotiatedOptions { structured: self.handshake.structured, allocation };
                self.phase = Phase::Request;
                return Ok(ParseOutcome::Transmits);
            }
            HandshakeStep::Abort => self.hang_up(),
            HandshakeStep::Drop(reason) => return Err(reason),
        }
        Ok(ParseOutcome::Step)
    }
}

fn to_request(header: &Header, command: Command, payload: Vec<u8>) -> ValidRequest {
    use crate::protocol::flag;
    ValidRequest {
        cookie: header.cookie,
        command,
        offset: header.offset,
        length: header.length,
        durable: header.flags & flag::FUA != 0,
        payload,
    }
}
