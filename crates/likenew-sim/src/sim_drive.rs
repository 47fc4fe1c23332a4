//! A simulated drive as the run loop sees it: one lane, virtual time, and data only if requested or stamped.

mod probing;

use std::io::{self, Write};
use std::ops::Range;

use likenew_core::counters::{Counters, FlashCounters};
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::io::{Completion, Io, Op, Slot};
use likenew_core::probe::{Probe, ProbeResult, TrimPath};
use likenew_core::target::{Clock, Geometry, Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;

use crate::device::{Device, NO_IO, SelfCounts};
use crate::host::{CountingDevice, PageCache};
use crate::machine_facts::StaticFacts;
use crate::situations::HypervisorCache;
use crate::snapshot::{Header, VERSION};
use crate::{snapshot, wording};

/// A simulated drive. It keeps its state and clock between workloads.
pub struct SimDrive {
    identity: Identity,
    geometry: Geometry,
    /// The geometry as the host sees it: [narrower](Self::narrowed_to) than that of the drive, or the same.
    visible: Geometry,
    device: CountingDevice,
    /// The page cache: the host's, once anything was buffered, or a hypervisor's.
    cache: Option<PageCache>,
    /// Whether the cache is a hypervisor's, which all I/O passes through.
    is_cached_below: bool,
    /// Host memory for buffered data.
    host_bytes: u64,
    /// What its layers report about TRIM.
    trim_path: TrimPath,
    /// What a machine would report about the drive, if anything.
    static_facts: Option<StaticFacts>,
    /// The range without files.
    free: Range<u64>,
    now: Nanos,
    /// The spec and file that it was made from.
    origin: Origin,
}

/// What a drive was made from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) spec: String,
    pub(crate) text: String,
}

impl SimDrive {
    pub(crate) fn new(
        identity: Identity,
        trim_path: TrimPath,
        static_facts: Option<StaticFacts>,
        device: Box<dyn Device>,
        host_bytes: u64,
        free: Range<u64>,
        origin: Origin,
    ) -> Self {
        let geometry = Geometry {
            capacity: identity.capacity_bytes,
            block: identity.block_bytes,
            boundary: None,
            writable: true,
            trims: trim_path.blocked_by().is_none(),
            carries_data: device.keeps_data(),
            clock: Clock::Virtual,
        };
        Self {
            identity,
            visible: geometry.clone(),
            geometry,
            device: CountingDevice::new(device),
            trim_path,
            static_facts,
            free,
            cache: None,
            is_cached_below: false,
            host_bytes,
            now: Nanos::ZERO,
            origin,
        }
    }

    /// Puts a hypervisor's cache in front of the drive.
    pub(crate) fn behind(mut self, hypervisor: Option<HypervisorCache>) -> Self {
        let Some(mode) = hypervisor.filter(|mode| *mode != HypervisorCache::Off) else { return self };
        let mut cache = PageCache::new(self.host_bytes, self.geometry.capacity);
        cache.buffered = true;
        cache.ignores_flushes = mode == HypervisorCache::Unsafe;
        (self.cache, self.is_cached_below) = (Some(cache), true);
        self
    }

    /// The drive with the addresses of another target: a run in a folder only had those of its files. `None` if the
    /// drive is smaller or has larger blocks.
    pub fn narrowed_to(self, other: &Geometry) -> Option<Self> {
        let fits =
            other.capacity <= self.geometry.capacity && other.block.is_multiple_of(self.geometry.block);
        let Geometry { capacity, block, boundary, .. } = *other;
        let visible = Geometry { capacity, block, boundary, ..self.geometry.clone() };
        fits.then_some(Self { visible, ..self })
    }

    /// Whether its medium rotates.
    pub fn rotates(&self) -> bool {
        self.trim_path.rotates == Some(true)
    }

    fn self_counts(&self) -> SelfCounts {
        self.device.self_counts(self.now)
    }

    /// Leaves the drive idle for a time. No I/O may be in flight.
    fn rest(&mut self, span: Nanos) {
        let mut done = Vec::new();
        self.wait(self.now + span, 0, &mut done);
        assert!(done.is_empty(), "nothing was in flight");
    }

    /// Renames a saved drive to the name that the user gave.
    pub(crate) fn with_name(mut self, name: &str) -> Self {
        self.identity.name = name.to_owned();
        self.identity.facts.push(("saved as".to_owned(), self.origin.spec.clone()));
        self
    }

    /// Saves the drive after all written data has reached its medium. Opening `sim:FILE.snapshot` gives the
    /// same drive with a new clock and new counters. Caches and temperature are not saved.
    ///
    /// # Errors
    /// Writing to `out` failed.
    pub fn save(&mut self, out: impl Write) -> io::Result<()> {
        self.make_cold();
        self.now = self.device.settle(self.now);
        let Origin { spec, text } = self.origin.clone();
        let state = self.device.save(self.now);
        snapshot::write(&Header { version: VERSION.into(), spec, text }, &state, out)
    }

    fn next_at(&self) -> Option<Nanos> {
        self.cache.as_ref().map_or_else(|| self.device.next_at(), |cache| cache.next_at(&self.device))
    }

    fn accept(&mut self, io: &Io) {
        match &mut self.cache {
            None => self.device.accept(io, self.now),
            Some(cache) => cache.accept(&mut self.device, io, self.now),
        }
    }

    /// The buffer of an I/O, by its slot at the drive.
    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        let slot = if self.cache.is_some() { PageCache::slot_at_drive(slot) } else { slot };
        self.device.data(slot)
    }

    /// Makes everything in the page cache durable and empties the cache, in the drive's time.
    fn make_cold(&mut self) {
        if let Some(cache) = &mut self.cache {
            self.now = cache.make_cold(&mut self.device, self.now);
        }
    }

    /// Advances time until an I/O has ended, or until `until`.
    fn wait(&mut self, until: Nanos, in_flight: usize, done: &mut Vec<Completion>) {
        let (until, before) = (until.max(self.now), done.len());
        while let Some(next) = self.next_at().filter(|next| *next <= until) {
            if done.len() > before && next > self.now {
                return;
            }
            self.now = self.now.max(next);
            match &mut self.cache {
                None => self.device.step(done),
                Some(cache) => cache.step(&mut self.device, done),
            }
        }
        if done.len() == before {
            assert!(until != Nanos::NEVER, "the drive would rest for ever with {in_flight} I/Os in flight");
            self.now = until;
        }
    }
}

impl Drive for SimDrive {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn geometry(&self) -> Geometry {
        self.visible.clone()
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        let name = &self.identity.name;
        if access == Access::Null {
            return Err(TargetError::Unsuitable(wording::null_access(name)));
        }
        if access == Access::Buffered && self.geometry.carries_data {
            return Err(TargetError::Unsuitable(wording::buffered_data(name)));
        }
        if access == Access::Buffered && self.cache.is_none() {
            self.cache = Some(PageCache::new(self.host_bytes, self.geometry.capacity));
        }
        // A guest cannot drop its host's cache.
        if cold && !self.is_cached_below {
            self.make_cold();
        }
        if let Some(cache) = &mut self.cache {
            cache.buffered = access == Access::Buffered || self.is_cached_below;
        }
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        self.static_facts.as_ref()?;
        // Counters lie below the hypervisor, where no guest can read them.
        if self.is_cached_below {
            return None;
        }
        let SelfCounts { neighbor_io, kernel, .. } = self.self_counts();
        // The kernel counts the I/O of all programs.
        let io_time = neighbor_io.io_time.or(Some(Nanos::ZERO));
        let neighbor_io = Counters {
            discards: Some(0),
            bytes_discarded: Some(0),
            flushes: Some(0),
            io_time,
            kernel,
            ..neighbor_io
        };
        Some(self.device.counters(self.now).plus(&neighbor_io))
    }

    /// Opens the single lane at any depth. I/Os beyond the link's command slots wait in the host.
    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        if need.lanes != 1 {
            return Err(TargetError::Unsuitable(wording::several_lanes(&self.identity.name, need.lanes)));
        }
        match &mut self.cache {
            None => self.device.announce_slots(need.depth),
            Some(cache) => cache.announce_slots(&mut self.device, need.depth),
        }
        let lane = SimLane {
            drive: self,
            in_flight: vec![false; need.depth as usize],
            in_flight_count: 0,
            ios: vec![NO_IO; need.depth as usize],
            buffers: vec![Vec::new(); need.depth as usize],
            length_max: need.length_max as usize,
        };
        Ok(vec![Box::new(lane)])
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        probing::probe(self, probe)
    }

    /// Bytes written and programmed, and erases, since the drive was opened; making its state does not count.
    /// Free blocks are the present ones. A disk has neither erases nor free blocks.
    fn flash_counters(&self) -> Option<FlashCounters> {
        Some(self.device.flash_counters())
    }
}

/// The lane of a simulated drive.
struct SimLane<'a> {
    drive: &'a mut SimDrive,
    /// By slot: whether an I/O is in flight.
    in_flight: Vec<bool>,
    in_flight_count: usize,
    /// By slot; empty before first use.
    buffers: Vec<Vec<u8>>,
    length_max: usize,
    /// I/Os in flight that have bytes, by slot.
    ios: Vec<Io>,
}

impl Target for SimLane<'_> {
    #[expect(
        clippy::misnamed_getters,
        reason = "a lane sees what the drive shows, which may be a part of it"
    )]
    fn geometry(&self) -> &Geometry {
        &self.drive.visible
    }

    fn now(&self) -> Nanos {
        self.drive.now
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.in_flight[slot.index()], "the buffer of {slot:?} is in flight");
        room(&mut self.buffers[slot.index()], self.length_max)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        for io in batch {
            check(io, &self.drive.geometry);
            let in_flight = &mut self.in_flight[io.slot.index()];
            assert!(!*in_flight, "{:?} is in flight already", io.slot);
            *in_flight = true;
            self.in_flight_count += 1;
            self.ios[io.slot.index()] = *io;
            if self.drive.device.brings_bytes(io) {
                let buffer = room(&mut self.buffers[io.slot.index()], self.length_max);
                let data = self.drive.data(io.slot);
                data.resize(io.length as usize, 0);
                if io.op == Op::Write {
                    data.copy_from_slice(&buffer[..io.length as usize]);
                }
            }
            self.drive.accept(io);
        }
        Ok(self.drive.now)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let before = done.len();
        self.drive.wait(until, self.in_flight_count, done);
        for completion in &done[before..] {
            let in_flight = &mut self.in_flight[completion.slot.index()];
            assert!(*in_flight, "{:?} completes without having been submitted", completion.slot);
            *in_flight = false;
            self.in_flight_count -= 1;
            let io = &self.ios[completion.slot.index()];
            if io.op == Op::Read && self.drive.device.brings_bytes(io) {
                let data = self.drive.data(completion.slot);
                self.buffers[completion.slot.index()][..data.len()].copy_from_slice(data);
            }
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.drive.device.health()
    }

    fn next_at(&self) -> Option<Nanos> {
        self.drive.next_at()
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        Drive::flash_counters(self.drive)
    }
}

impl Drop for SimLane<'_> {
    /// Waits for I/Os in flight, in the drive's time.
    fn drop(&mut self) {
        let mut done = Vec::new();
        while self.in_flight_count > 0 && !std::thread::panicking() {
            self.drive.wait(Nanos::NEVER, self.in_flight_count, &mut done);
            self.in_flight_count -= done.drain(..).count();
        }
    }
}

/// A slot's buffer, allocated at its first use.
fn room(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.is_empty() {
        *buffer = vec![0; length];
    }
    buffer
}

/// Asserts that an I/O respects the lane's geometry.
fn check(io: &Io, geometry: &Geometry) {
    let block = u64::from(geometry.block);
    let length = u64::from(io.length);
    assert!(
        io.offset.is_multiple_of(block) && length.is_multiple_of(block),
        "{io:?} is not made of whole blocks"
    );
    assert!(length > 0 || io.op == Op::Flush, "{io:?} is empty");
    let fits = io.offset.checked_add(length).is_some_and(|end| end <= geometry.capacity);
    assert!(fits, "{io:?} reaches beyond {} bytes", geometry.capacity);
}
