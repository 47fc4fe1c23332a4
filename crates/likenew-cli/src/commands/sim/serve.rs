//! `likenew sim serve`: a simulated drive as a network block device in real time.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use likenew_core::drive::Drive as _;
use likenew_core::units::Nanos;
use likenew_nbd::clock_scale::Clock;
use likenew_nbd::export::Export;
use likenew_nbd::listener::{ListenError, Listener, Stream};
use likenew_nbd::server::{self, Server, Service};
use likenew_nbd::store::{Image, Pages, Store};
use likenew_real::clock::{Monotonic, WaitEvent, Waiter};
use likenew_sim::{SimDrive, Spec};

use super::image::StoreFile;
use super::serve_report::ServeReport;
use super::status::Status;
use crate::arguments::SimServe;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output;
use crate::resolved_target::read_file;
use crate::wording::error as error_line;
use crate::wording::serve as wording;

/// Time between two status lines. Chosen: often enough to follow, without filling a screen.
const STATUS: Nanos = Nanos::from_secs(20);
/// Time between checks for signals. Chosen: Ctrl-C feels immediate.
const SLICE: Nanos = Nanos::from_millis(200);
/// Time without new clients after the system had no room for one. Chosen: a second keeps a full system from
/// spinning.
const PAUSE: Nanos = Nanos::from_secs(1);

/// The machine's clock, as the server reads it.
struct WallClock(Monotonic);

impl Clock for WallClock {
    fn now(&self) -> Nanos {
        self.0.now()
    }
}

type DriveServer<'a> = Server<'a, Stream, WallClock>;

pub(super) fn run(command: &SimServe) -> Result<Exit, Failure> {
    command.json.as_deref().map_or(Ok(()), output::check_file)?;
    let spec = super::spec(&command.target)?;
    let usage = |error: likenew_sim::SimError| Failure::Usage(error.to_string());
    let model = spec.model(read_file).map_err(usage)?;
    let changes_bytes = model.faults.as_ref().is_some_and(|faults| faults.change_bytes());
    if command.store.is_some() && (changes_bytes || spec.data) {
        return Err(Failure::Usage(wording::keeps_its_bytes(&spec.text, changes_bytes)));
    }
    let listener = listen(command, &spec)?;
    let mut store = match &command.store {
        Some(path) => Some(StoreFile::open(path, &spec.text, model.capacity_bytes)?),
        None => None,
    };
    let mut drive = open(Spec { data: spec.data || changes_bytes, ..spec.clone() }, store.as_ref())?;
    let capacity_bytes = drive.geometry().capacity;
    let service = Service {
        export: export(command, &spec, &drive),
        store: byte_store(command, &drive, store.as_mut())?,
        speed: command.speed,
        compresses: model.mechanism.compresses(),
    };
    interrupt::listen_saying(None)?;
    print(command, &invitation(&listener, command, &service.export))?;
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
        let text = serde_json::to_string_pretty(&report).expect("counters are plain values");
        output::write_to(path, &format!("{text}\n"))?;
    }
    Ok(exit)
}

/// Serves until the user stops it, or until the last client has left with `--once`.
fn serve(
    server: &mut DriveServer<'_>,
    listener: &Listener,
    command: &SimServe,
    clock: Monotonic,
) -> Result<Exit, Failure> {
    let waiter = Waiter::with_clock(clock);
    let (mut status, mut status_at) = (Status::default(), STATUS);
    let (mut exit, mut listens_at) = (Exit::Fine, Nanos::ZERO);
    let (mut ready, mut readable) = (Vec::new(), Vec::new());
    while !server.has_ended() {
        let now = clock.now();
        let comes_in = wait(server, listener, now >= listens_at, &waiter, now, (&mut ready, &mut readable));
        if comes_in && let Err(error) = accept_clients(server, listener) {
            crate::standard_error::note(error_line(wording::client_refused(error)));
            listens_at = clock.now() + PAUSE;
        }
        server.poll(&readable)?;
        for note in server.notes() {
            crate::standard_error::note(error_line(note));
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
            line.into_iter().for_each(crate::standard_error::note);
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

/// Listens where clients find it.
fn listen(command: &SimServe, spec: &Spec) -> Result<Listener, Failure> {
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
        crate::standard_error::note(error_line(wording::open_to_all(address)));
    }
    Ok(listener)
}

/// A socket with the drive's name.
fn default_socket(spec: &Spec) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let name = spec.text.trim_start_matches("sim:");
    let name = name.split('?').next().unwrap_or(name);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    runtime.unwrap_or_else(std::env::temp_dir).join(format!("likenew-{}.sock", name.trim_matches('-')))
}

/// The drive, with its internal state from the store.
fn open(spec: Spec, store: Option<&StoreFile>) -> Result<SimDrive, Failure> {
    if let Some(remark) = store.and_then(StoreFile::remark) {
        crate::standard_error::note(error_line(remark));
    }
    let Some(saved) = store.and_then(StoreFile::saved_target) else {
        return spec.open(read_file).map_err(|error| Failure::Usage(error.to_string()));
    };
    Spec::parse(&saved)
        .and_then(|spec| spec.open(read_file))
        .map_err(|error| Failure::Usage(wording::state_lost(error)))
}

/// Where the bytes are stored, unless the drive itself does.
fn byte_store(
    command: &SimServe,
    drive: &SimDrive,
    store: Option<&mut StoreFile>,
) -> Result<Option<Box<dyn Store>>, Failure> {
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

/// The commands to use it.
fn invitation(listener: &Listener, command: &SimServe, export: &Export) -> String {
    let uri = listener.uri(&command.export_name);
    wording::invitation(&export.description, export.capacity, export.block, command.speed, &uri)
}

/// To standard output, unless that is for JSON only.
fn print(command: &SimServe, text: &str) -> Result<(), Failure> {
    if command.json.as_deref() == Some(Path::new("-")) {
        crate::standard_error::note(text.trim_end());
        return Ok(());
    }
    output::print(text)
}
