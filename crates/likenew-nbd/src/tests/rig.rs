//! A server with a drive in memory, a clock set by hand, and clients behind byte queues.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

use likenew_core::memory::Memory;
use likenew_core::units::Nanos;

use super::replies::{Inbound, OptionReply, Reply};
use super::shapes;
use crate::handshake::Export;
use crate::protocol::{command, option, rep};
use crate::request::Header;
use crate::server::Clock;
use crate::server::{self, Server, Service};
use crate::store::{Pages, Store};

pub(super) const CAPACITY: usize = 1 << 20;
/// The drive's service time of an I/O.
pub(super) const SERVICE: Nanos = Nanos::from_micros(100);

/// A clock that tests set.
#[derive(Clone, Default)]
pub(super) struct Hand(Rc<Cell<Nanos>>);

impl Hand {
    pub(super) fn set(&self, now: Nanos) {
        assert!(now >= self.0.get(), "time never goes back");
        self.0.set(now);
    }
}

impl Clock for Hand {
    fn now(&self) -> Nanos {
        self.0.get()
    }
}

#[derive(Default)]
struct Queues {
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    client_has_gone: bool,
    server_has_gone: bool,
    /// Bytes that may wait for the client before the server's writes block.
    room: Option<usize>,
}

/// The server's end of a connection.
pub(super) struct ServerEnd(Rc<RefCell<Queues>>);

impl Read for ServerEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut queues = self.0.borrow_mut();
        if queues.to_server.is_empty() && !queues.client_has_gone {
            return Err(ErrorKind::WouldBlock.into());
        }
        queues.to_server.read(buffer)
    }
}

impl Write for ServerEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut queues = self.0.borrow_mut();
        let room = queues.room.map_or(usize::MAX, |room| room.saturating_sub(queues.to_client.len()));
        let count = bytes.len().min(room);
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        queues.to_client.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ServerEnd {
    fn drop(&mut self) {
        self.0.borrow_mut().server_has_gone = true;
    }
}

/// The client's end of a connection.
pub(super) struct Client {
    queues: Rc<RefCell<Queues>>,
    pub(super) structured: bool,
    cookie: u64,
    /// Lengths of reads by cookie.
    reads: HashMap<u64, usize>,
}

impl Client {
    pub(super) fn send(&self, bytes: &[u8]) {
        self.queues.borrow_mut().to_server.extend(bytes);
    }

    /// Takes all bytes that have arrived.
    pub(super) fn received(&self) -> Vec<u8> {
        std::mem::take(&mut self.queues.borrow_mut().to_client).into()
    }

    pub(super) fn waiting_bytes(&self) -> usize {
        self.queues.borrow().to_client.len()
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        self.queues.borrow().to_server.len()
    }

    pub(super) fn lets_lie(&self, bytes: Option<usize>) {
        self.queues.borrow_mut().room = bytes;
    }

    pub(super) fn leave(&self) {
        self.queues.borrow_mut().client_has_gone = true;
    }

    pub(super) fn was_left(&self) -> bool {
        self.queues.borrow().server_has_gone
    }

    /// Sends the same read `count` times.
    pub(super) fn ask_often(&mut self, count: usize, offset: u64, length: u32) {
        for _ in 0..count {
            self.ask(command::READ, 0, offset, length, &[]);
        }
    }

    /// Sends a request and returns its cookie.
    pub(super) fn ask(&mut self, kind: u16, flags: u16, offset: u64, length: u32, payload: &[u8]) -> u64 {
        self.cookie += 1;
        if kind == command::READ {
            self.reads.insert(self.cookie, length as usize);
        }
        let header = Header { flags, kind, cookie: self.cookie, offset, length };
        self.send(&[&shapes::request(&header)[..], payload].concat());
        self.cookie
    }
}

/// A server and its drive.
pub(super) struct Rig {
    pub(super) server: Server<'static, ServerEnd, Hand>,
    pub(super) hand: Hand,
}

pub(super) fn export() -> Export {
    Export {
        name: "twin".into(),
        description: "a drive in memory".into(),
        capacity: CAPACITY as u64,
        block: 512,
        read_only: false,
        trims: true,
        rotates: false,
    }
}

pub(super) fn drive(servers: usize) -> Memory {
    Memory::new(CAPACITY, SERVICE, servers)
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::of(drive(1), export(), Some(Box::new(Pages::new(u64::MAX))))
    }

    pub(super) fn of(drive: Memory, export: Export, store: Option<Box<dyn Store>>) -> Self {
        Self::with(drive, Service { export, store, speed: 1.0, compresses: false })
    }

    pub(super) fn with(drive: Memory, service: Service) -> Self {
        let hand = Hand::default();
        // The drive is leaked, which a test can afford.
        let lane = server::lane(Box::leak(Box::new(drive))).unwrap();
        Self { server: Server::new(lane, service, hand.clone()), hand }
    }

    /// A client that has only connected.
    pub(super) fn connect(&mut self) -> Client {
        let queues = Rc::new(RefCell::new(Queues::default()));
        self.server.connect(ServerEnd(Rc::clone(&queues)), "a test");
        Client { queues, structured: false, cookie: 0, reads: HashMap::new() }
    }

    /// A client that has selected the export.
    pub(super) fn client(&mut self, structured: bool) -> Client {
        let mut client = self.connect();
        client.send(&shapes::flags(3));
        if structured {
            client.send(&shapes::option(option::STRUCTURED_REPLY, &[]));
            client.send(&shapes::option(
                option::SET_META_CONTEXT,
                &shapes::contexts("twin", &["base:allocation"]),
            ));
        }
        client.send(&shapes::option(option::GO, &shapes::info("twin", &[])));
        self.poll();
        let replies = OptionReply::all(&client.received()[18..]);
        assert_eq!(replies.last().unwrap().kind, rep::ACK, "{replies:?}");
        client.structured = structured;
        client
    }

    /// Does one turn that reads from all clients.
    pub(super) fn poll(&mut self) {
        let everybody: Vec<u64> = self
            .server
            .interests()
            .filter(|interest| interest.reads)
            .map(|interest| interest.client)
            .collect();
        self.server.poll(&everybody).unwrap();
    }

    /// Lets this much time pass, turn by turn.
    pub(super) fn pass(&mut self, span: Nanos) {
        let until = self.hand.now() + span;
        self.poll();
        while self.hand.now() < until {
            let wake = self.server.wake_at().min(until).max(self.hand.now());
            self.hand.set(wake);
            self.poll();
        }
    }

    /// Lets time pass until this client has `count` replies; returns them in the order of arrival.
    #[track_caller]
    pub(super) fn answers(&mut self, client: &Client, count: usize) -> Vec<Reply> {
        let mut inbound = Inbound::new(client.structured);
        inbound.reads = client.reads.clone();
        for _ in 0..100_000 {
            self.poll();
            inbound.push(&client.received());
            if inbound.replies.len() >= count {
                return inbound.replies;
            }
            self.hand.set(self.server.wake_at().max(self.hand.now()));
        }
        panic!("{} of {count} answers: {:?}", inbound.replies.len(), inbound.replies);
    }

    #[track_caller]
    pub(super) fn answer(&mut self, client: &Client) -> Reply {
        self.answers(client, 1).pop().unwrap()
    }
}
