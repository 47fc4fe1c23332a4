//! An empty drive filled in order: what it takes at a faster speed than later, and what a rest brings back of that.
//!
//! The fill is the ground for everything that needs a full drive, too.

mod cache;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Line, Mark, Series, Shape};
use likenew_core::workload::{Arrivals, Pace, Stream, Workload};
use likenew_stats::summary::median;

use super::finding::Finding;
use super::idle::Idle;
use super::probe::Probe;
use super::property::{Key, Property, State};
use super::scene::{Scene, latencies, own_name, random_reads};
use super::writing::Course;
use crate::series::{axis, speed};
pub(super) use cache::Cache;
use cache::Recovery;

pub(super) const NAME: &str = "fill";
const TRIM: &str = "trim";
const REST: &str = "let it forget";
const FOUND: &str = "read what was there";
const FULL: &str = "read what is there";
const PIECE: &str = "piece";
const PAUSE: &str = "rest";
const BURST: &str = "burst after rest";

/// The span is written in so many pieces, each with so many windows.
const PIECES: u64 = 32;
const WINDOWS: u64 = 32;
const BLOCK: u32 = 64 << 10;
const DEPTH: u32 = 8;
const TRIM_BLOCK: u32 = 16 << 20;
const LOOKS: u32 = 256;
const LOOKS_PER_S: f64 = 100.0;
/// Reads that meet no flash take less than this share of the time of those that do.
const EMPTY: f64 = 0.93;
/// A firmware that looks after itself has begun and ended by then.
const FORGETTING: Nanos = Nanos::from_secs(60);
/// Simulating more than this takes minutes.
const SIMULATED_MAX: u64 = 96 << 30;

/// Empties the drive where it can, and writes all of it once in order.
pub(super) struct FillProbe;

impl Probe for FillProbe {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        if obstacle(scene).is_some() || scene.own.iter().any(|segment| segment.errors() > 0) {
            return None;
        }
        if let Some(workload) = empty(scene) {
            return Some(workload);
        }
        let (at, end) = (filled(&scene.own), end(scene));
        if at >= end {
            return scene.ran(FULL).is_none().then(|| look(scene, FULL));
        }
        let cache = Cache::of(&before_rests(&scene.own));
        if let Some(cache) = cache.filter(|cache| cache.is_seen_after()) {
            let recovery = Recovery::of(&cache, &scene.own);
            let idle = Idle::of(&scene.own);
            if let Some(workload) = recovery.next(scene, at..end).or_else(|| idle.next(0..at, || None)) {
                return Some(workload);
            }
        }
        let length = (end / PIECES).next_multiple_of(BLOCK.into()).min(end - at);
        let count = scene.own.iter().filter(|segment| is_piece(segment)).count();
        scene.may_write(length).then(|| write(&format!("{PIECE} {}", count + 1), at, length))
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        if let Some(why) = obstacle(scene).filter(|_| scene.own.is_empty()) {
            let keys = [Key::SlcCacheBytes, Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs];
            let properties = keys.into_iter().map(|key| Property::undecided(key, why.clone())).collect();
            return Finding { properties, ..Finding::default() };
        }
        let before = before_rests(&scene.own);
        let cache = Cache::of(&before);
        let properties = match (&cache, was_empty(scene)) {
            _ if before.bytes() == 0.0 => return Finding::default(),
            _ if !scene.known.is("flash") => undecided("only flash has one, and what this is was not found"),
            (_, None) => undecided("the fill did not come to its end"),
            (_, Some(false)) => undecided(
                "the drive was not empty and could not be emptied, so collection may be what slows it down",
            ),
            (None, Some(true)) => absent(&before),
            (Some(_), Some(true)) if matches!(scene.known.word(Key::Mapping), Some("hybrid" | "block")) => {
                undecided("a map of blocks slows down when it runs out of them, too")
            }
            (Some(cache), Some(true)) => {
                let recovery = Recovery::of(cache, &scene.own);
                let idle = Idle::of(&scene.own).property(scene);
                let found = [cache.size(scene), cache.speed_after(scene), recovery.property(scene)];
                found.into_iter().chain(idle).collect()
            }
        };
        let mut picture = picture(&before);
        picture.marks = cache.iter().map(Cache::mark).collect::<Vec<Mark>>();
        Finding { properties, pictures: vec![("speed_of_first_fill", picture)], ..Finding::default() }
    }
}

/// Why it can not be asked here.
fn obstacle(scene: &Scene<'_>) -> Option<String> {
    let simulated = scene.evidence.identity.kind == Kind::Simulated;
    if scene.known.word(Key::Medium).is_some_and(|medium| medium != "flash") {
        return Some("only flash has one".into());
    }
    if !scene.is_whole() {
        return Some("that takes a whole drive that may be emptied and filled".into());
    }
    if simulated && scene.span > SIMULATED_MAX {
        return Some("simulating the fill of a drive of this size takes minutes".into());
    }
    let begun = scene.own.iter().any(|segment| is_piece(segment));
    (!begun && !scene.may_write(scene.span))
        .then(|| "that takes a drive that may be filled once, which is more than may be written".into())
}

/// The next step of emptying it, and a look at what reads of it take then.
fn empty(scene: &Scene<'_>) -> Option<Workload> {
    let ignored = scene.known.word(Key::Trim) == Some("ignored");
    if scene.evidence.geometry.trims && !ignored && scene.ran(TRIM).is_none() {
        let place = Place::Forward(Region::bytes(0..scene.span));
        let stream = Stream::closed(
            Mix::Only(Op::Trim),
            TRIM_BLOCK.min(scene.span as u32),
            place,
            1,
            DataClass::Random,
        );
        return Some(Workload::new(TRIM, Until::bytes(scene.span), vec![stream]));
    }
    if scene.ran(REST).is_none() {
        return Some(Workload { name: REST.into(), ..Workload::rest(FORGETTING) });
    }
    scene.ran(FOUND).is_none().then(|| look(scene, FOUND))
}

/// Random reads that are in no hurry, and keep the drive from resting.
fn look(scene: &Scene<'_>, name: &str) -> Workload {
    let stream = random_reads(0..scene.span, scene.block().max(4096), 1);
    let pace = Pace::Open { per_second: LOOKS_PER_S, arrivals: Arrivals::Even, depth_max: 4 };
    let streams = vec![Stream { pace, ..stream }];
    Workload { samples: LOOKS, ..Workload::new(name, Until::ops(LOOKS.into()), streams) }
}

/// Writes so many bytes in order from there on.
fn write(name: &str, at: u64, length: u64) -> Workload {
    let place = Place::Forward(Region::bytes(at..at + length));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let window = (length / WINDOWS).max(1).next_multiple_of(BLOCK.into());
    Workload { window: Some(window), ..Workload::new(name, Until::bytes(length), vec![stream]) }
}

/// Bytes to fill.
fn end(scene: &Scene<'_>) -> u64 {
    scene.span - scene.span % u64::from(BLOCK)
}

fn is_piece(segment: &Segment) -> bool {
    own_name(segment).starts_with(PIECE) || own_name(segment).starts_with(BURST)
}

/// Where the fill goes on.
fn filled(own: &[&Segment]) -> u64 {
    own.iter().filter(|segment| is_piece(segment)).filter_map(|segment| segment.workload.until.bytes).sum()
}

/// The part of the fill that nothing has interrupted yet.
fn before_rests(own: &[&Segment]) -> Course {
    let uninterrupted = own.iter().take_while(|segment| !own_name(segment).starts_with(PAUSE));
    Course::of(uninterrupted.copied().filter(|segment| is_piece(segment)))
}

/// Whether reads before the fill met no flash: they took less time than the same reads after it, when what the fill had left over was
/// done. `None` before both were seen.
fn was_empty(scene: &Scene<'_>) -> Option<bool> {
    let late = |segment: &Segment| {
        let all = latencies(segment);
        median(&all[all.len() / 2..])
    };
    Some(late(scene.ran(FOUND)?)? < EMPTY * late(scene.ran(FULL)?)?)
}

/// Whether the probe has filled an empty drive, as far as that can be told.
pub(super) fn filled_whole(scene: &Scene<'_>) -> bool {
    scene.anyone_ran(&format!("{NAME}: {FULL}")).is_some()
}

/// The cache that the fill has shown, if it has shown one.
pub(super) fn cache_of(scene: &Scene<'_>) -> Option<Cache> {
    let is_claimed = matches!(scene.known.property(Key::SlcCacheBytes).state, State::Number { .. });
    drop_of(scene).filter(|_| is_claimed)
}

/// What looked like a cache in the fill, whether or not it is claimed to be one.
pub(super) fn drop_of(scene: &Scene<'_>) -> Option<Cache> {
    Cache::of(&before_rests(&super::of(NAME, &scene.evidence.segments)))
}

/// The course of the pieces that were written without a rest before them.
pub(super) fn pieces<'a>(scene: &Scene<'a>) -> Vec<&'a Segment> {
    let name = format!("{NAME}: {PIECE}");
    scene.evidence.segments.iter().filter(|segment| segment.workload.name.starts_with(&name)).collect()
}

fn undecided(why: &str) -> Vec<Property> {
    let keys = [Key::SlcCacheBytes, Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs];
    keys.into_iter().map(|key| Property::undecided(key, why)).collect()
}

fn absent(course: &Course) -> Vec<Property> {
    let why = format!(
        "all of the empty drive was filled at {}, without a lasting drop",
        likenew_core::units::rate(1e9 * course.bytes() / course.ns())
    );
    let keys = [Key::SlcCacheBytes, Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs];
    keys.into_iter().map(|key| Property::absent(key, 0.97, why.clone())).collect()
}

fn picture(course: &Course) -> Series {
    let title = "How fast is an empty drive filled, by what it has taken so far?";
    Series::new(title, Shape::Line, axis("written in order", "bytes"), speed())
        .lines([Line::new("fill", course.speeds(512))])
}
