//! `likenew sim serve`: a simulated drive as a network block device in real time.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use likenew_core::counters::{Counters, FlashCounters};
use likenew_core::drive::Drive as _;
use likenew_core::units::Nanos;
use likenew_nbd::Export;
use likenew_nbd::listener::{ListenError, Listener, Stream};
use likenew_nbd::server::{self, Clock, ServeStats, Server, Service};
use likenew_nbd::store::{Image, Pages, Store};
use likenew_real::clock::{Monotonic, WaitEvent, Waiter};
use likenew_sim::{SimDrive, Spec};
use serde::Serialize;

use super::SimServe;
use super::image::StoreFile;
use crate::exit::{Exit, Failure, Result};
use crate::resolved_target::read_file;
use crate::wording::{error as error_line, sim as wording};
use crate::{interrupt, output};

/// Time between two status lines. Chosen: often enough to follow, without filling a screen.
const STATUS: Nanos = Nanos::from_secs(20);
/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Nanos = Nanos::from_millis(200);
/// Time without accepting clients after the system had no room for one. Chosen: a second keeps a full system from spinning.
const PAUSE: Nanos = Nanos::from_secs(1);

/// The machine's clock, as the server reads it.
struct WallClock(Monotonic);

impl Clock for WallClock {
    fn now(&self) -> Nanos {
        self.0.now()
    }
}

type DriveServer<'a> = Server<'a, Stream, WallClock>;

pub(super) fn run(command: &SimServe) -> Result<Exit> {
    command.json.as_deref().map_or(Ok(()), output::check_file)?;
    let spec = super::spec(&command.target)?;
    let model = spec.model(read_file)?;
    let changes_bytes = model.faults.as_ref().is_some_and(|faults| faults.change_bytes());
    if command.store.is_some() && (changes_bytes || spec.data) {
        return Err(Failure::Usage(wording::keeps_its_bytes(&spec.text, changes_bytes)));
    }
    let listener = listen(command, &spec)?;
    let store = command.store.as_deref();
    let bytes = spec.capacity_bytes(read_file)?;
    let mut store = store.map(|path| StoreFile::open(path, &spec.text, bytes)).transpose()?;
    let mut drive = open(Spec { data: spec.data || changes_bytes, ..spec.clone() }, store.as_ref())?;
    let capacity_bytes = drive.geometry().capacity;
    let service = Service {
        export: export(command, &spec, &drive),
        store: byte_store(command, &drive, store.as_mut())?,
        speed: command.speed,
        compresses: model.mechanism.compresses(),
    };
    interrupt::listen_saying(None)?;
    let uri = listener.uri(&command.export_name);
    let Export { description, capacity, block, .. } = &service.export;
    print(command, &wording::invitation(description, *capacity, *block, command.speed, &uri))?;
    let clock = Monotonic::start();
    let mut server = Server::new(server::lane(&mut drive)?, service, WallClock(clock));
    let drive_began = server.drive_now();
    let exit = serve(&mut server, &listener, command, clock)?;
    let (stats, elapsed) = (server.stats(), clock.now());
    let drive_time = server.drive_now().since(drive_began);
    drop(server);
    drop(listener);
    let accounting = drive.flash_counters();
    print(command, &wording::summary(&stats, elapsed, drive_time, accounting))?;
    if let Some(store) = &mut store {
        store.end(&mut drive)?;
    }
    if let Some(path) = &command.json {
        let report = ServeReport {
            schema: 1,
            target: spec.text,
            model: drive.identity().model,
            capacity_bytes,
            speed: command.speed,
            elapsed_ns: elapsed.0,
            drive_ns: drive_time.0,
            stats,
            accounting,
            counters: drive.counters(),
        };
        output::write_json(path, &report)?;
    }
    Ok(exit)
}

/// Serves until the user stops it, or until the last client has left with `--once`.
fn serve(
    server: &mut DriveServer<'_>,
    listener: &Listener,
    command: &SimServe,
    clock: Monotonic,
) -> Result<Exit> {
    let waiter = Waiter::with_clock(clock);
    let (mut status, mut status_at) = (Status::default(), STATUS);
    let (mut exit, mut listens_at) = (Exit::Fine, Nanos::ZERO);
    let (mut ready, mut readable) = (Vec::new(), Vec::new());
    while !server.has_ended() {
        let now = clock.now();
        let comes_in = wait(server, listener, now >= listens_at, &waiter, now, (&mut ready, &mut readable));
        if comes_in && let Err(error) = accept_clients(server, listener) {
            crate::console::note(error_line(wording::client_refused(error)));
            listens_at = clock.now() + PAUSE;
        }
        server.poll(&readable)?;
        for note in server.notes() {
            crate::console::note(error_line(note));
        }
        if interrupt::is_requested() && exit == Exit::Fine {
            exit = Exit::Interrupted;
            server.end();
        }
        if command.once && server.has_no_clients() {
            server.end();
        }
        if clock.now() >= status_at {
            status_at = clock.now() + STATUS;
            let line = status.line(clock.now(), server.clients(), server.stats(), server.flash_counters());
            line.into_iter().for_each(crate::console::note);
        }
    }
    Ok(exit)
}

/// Waits until there is something to do. Returns whether a client wants to connect, and whose streams are
/// readable.
fn wait(
    server: &DriveServer<'_>,
    listener: &Listener,
    listens: bool,
    waiter: &Waiter,
    now: Nanos,
    (ready, readable): (&mut Vec<bool>, &mut Vec<u64>),
) -> bool {
    let mut events = vec![WaitEvent { fd: listener.as_fd(), reads: listens, writes: false }];
    let mut clients = Vec::new();
    // Streams without interest are left out: a closed one would be ready all the time.
    for interest in server.interests().filter(|interest| interest.reads || interest.writes) {
        let (reads, writes) = (interest.reads, interest.writes);
        events.push(WaitEvent { fd: interest.stream.as_fd(), reads, writes });
        clients.push((interest.client, reads));
    }
    waiter.wait(&events, server.wake_at().min(now + SLICE), ready);
    readable.clear();
    let of_ready = clients.iter().zip(&ready[1..]).filter(|((_, reads), ready)| *reads && **ready);
    readable.extend(of_ready.map(|((client, _), _)| *client));
    ready[0]
}

fn accept_clients(server: &mut DriveServer<'_>, listener: &Listener) -> std::io::Result<()> {
    while let Some((stream, who)) = listener.accept()? {
        server.connect(stream, &who);
    }
    Ok(())
}

/// Listens on the address or socket of the command line, or on the default socket.
fn listen(command: &SimServe, spec: &Spec) -> Result<Listener> {
    let listener = match command.listen {
        Some(address) => Listener::tcp(address),
        None => Listener::unix(&command.socket.clone().unwrap_or_else(|| default_socket(spec))),
    };
    let listener = listener.map_err(|error| match error {
        ListenError::Live(_) | ListenError::NoSocket(_) => Failure::Refused(error.to_string()),
        ListenError::System { .. } => Failure::Other(error.into()),
    })?;
    if let Listener::Tcp(_, address) = &listener
        && !address.ip().is_loopback()
    {
        crate::console::note(error_line(wording::open_to_all(address)));
    }
    Ok(listener)
}

/// Path of the default socket, named after the drive.
fn default_socket(spec: &Spec) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let name = spec.text.trim_start_matches("sim:");
    let name = name.split('?').next().unwrap_or(name);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    runtime.unwrap_or_else(std::env::temp_dir).join(format!("likenew-{}.sock", name.trim_matches('-')))
}

/// Opens the drive, with its internal state from the store if one was saved.
fn open(spec: Spec, store: Option<&StoreFile>) -> Result<SimDrive> {
    if let Some(remark) = store.and_then(StoreFile::remark) {
        crate::console::note(error_line(remark));
    }
    let Some(saved) = store.and_then(StoreFile::saved_target) else {
        return Ok(spec.open(read_file)?);
    };
    Spec::parse(&saved)
        .and_then(|spec| spec.open(read_file))
        .map_err(|error| Failure::Usage(wording::state_lost(error)))
}

/// The store of written bytes; `None` if the drive itself stores them.
fn byte_store(
    command: &SimServe,
    drive: &SimDrive,
    store: Option<&mut StoreFile>,
) -> Result<Option<Box<dyn Store>>> {
    let geometry = drive.geometry();
    if geometry.carries_data {
        return match store {
            None => Ok(None),
            Some(_) => Err(Failure::Usage(wording::KEEPS_ITS_BYTES.into())),
        };
    }
    let Some(store) = store else { return Ok(Some(Box::new(Pages::new(command.memory)))) };
    let image = Image::new(store.begin()?, geometry.capacity);
    let image = image.map_err(|error| anyhow::Error::new(error).context(wording::STORE_TOO_SHORT))?;
    Ok(Some(Box::new(image)))
}

fn export(command: &SimServe, spec: &Spec, drive: &SimDrive) -> Export {
    let (identity, geometry) = (drive.identity(), drive.geometry());
    Export {
        name: command.export_name.clone(),
        description: wording::export_description(identity.model.as_deref(), &spec.text),
        capacity: geometry.capacity,
        block: geometry.block,
        read_only: command.read_only,
        trims: geometry.trims,
        rotates: drive.rotates(),
    }
}

/// Prints to standard output, or to standard error if JSON has standard output.
fn print(command: &SimServe, text: &str) -> Result<()> {
    if command.json.as_deref() == Some(Path::new("-")) {
        crate::console::note(text.trim_end());
        return Ok(());
    }
    output::print(text)
}

/// Counts since the last status line.
#[derive(Debug, Default)]
struct Status {
    reported_at: Nanos,
    last_report: ServeStats,
}

impl Status {
    /// A status line; `None` if no request or client came since the last one.
    fn line(
        &mut self,
        now: Nanos,
        clients: usize,
        stats: ServeStats,
        counters: Option<FlashCounters>,
    ) -> Option<String> {
        let span = now.since(self.reported_at).as_secs_f64().max(1e-9);
        self.reported_at = now;
        let before = std::mem::replace(&mut self.last_report, stats);
        let after = &self.last_report;
        if (after.requests(), after.clients) == (before.requests(), before.clients) {
            return None;
        }
        let per_second = |after: u64, before: u64| (after - before) as f64 / span;
        let line = wording::status(
            clients,
            per_second(after.requests(), before.requests()),
            per_second(after.bytes_read, before.bytes_read),
            per_second(after.bytes_written, before.bytes_written),
            &after.lag,
        );
        Some(match counters {
            Some(counters) => wording::with_counters(&line, &counters, after.bytes_trimmed),
            None => line,
        })
    }
}

/// The JSON of `--json`.
#[derive(Debug, Serialize)]
struct ServeReport {
    schema: u32,
    /// The target as typed.
    target: String,
    model: Option<String>,
    capacity_bytes: u64,
    /// Drive seconds per second of wall time.
    speed: f64,
    /// Time on the wall clock.
    elapsed_ns: u64,
    /// Time on the drive's clock.
    drive_ns: u64,
    /// Requests of clients.
    stats: ServeStats,
    /// Flash counters of a simulated drive.
    accounting: Option<FlashCounters>,
    /// I/Os that reached the drive.
    counters: Option<Counters>,
}

#[cfg(test)]
mod tests {
    use likenew_nbd::server::Lag;

    use super::*;

    #[test]
    fn a_line_is_of_what_happened_since_the_last_one() {
        let mut status = Status::default();
        let stats = ServeStats { clients: 1, reads: 1000, bytes_read: 4_096_000, ..ServeStats::default() };
        let line = status.line(Nanos::from_secs(2), 1, stats.clone(), None).unwrap();
        assert!(line.starts_with("1 client; 500 IOPS, 2.05 MB/s read"), "{line}");
        assert_eq!(status.line(Nanos::from_secs(4), 1, stats.clone(), None), None);
        let more = ServeStats { reads: 1200, ..stats };
        let line = status.line(Nanos::from_secs(5), 2, more, None).unwrap();
        assert!(line.starts_with("2 clients; 200 IOPS"), "{line}");
    }

    #[test]
    fn a_late_simulation_is_reported() {
        let stats = |mean_ns| ServeStats {
            lag: Lag { answers: 1, mean_ns, ..Lag::default() },
            ..ServeStats::default()
        };
        let summary_text =
            |mean_ns| wording::summary(&stats(mean_ns), Nanos::from_secs(1), Nanos::from_secs(1), None);
        assert!(summary_text(2e6).contains("slower than the drive") && !summary_text(1e4).contains("slower"));
    }
}
