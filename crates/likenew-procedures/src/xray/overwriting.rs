//! A full drive overwritten: how much it takes before it has to collect, when it collects by itself, and how far apart its dies
//! erase.

mod emptying;
mod knee;
mod order;
mod spare;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::fill;
use super::finding::Finding;
use super::idle::Idle;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::{Scene, own_name};
use order::Order;
use spare::Spare;

const SCATTER: &str = "scatter";
const AGAIN: &str = "more of it";
const IN_PLACE: &str = "in place";
const ORDER: &str = "order";
const TRIM: &str = "trim";
const REST: &str = "rest";
const REST_AGAIN: &str = "another rest";

/// Places are overwritten in units that no map of pages has to complete.
const BLOCK: u32 = 16 << 10;
const DEPTH: u32 = 32;
/// The span in so many chunks, each with so many windows.
const CHUNKS: u64 = 64;
const WINDOWS: u64 = 16;
/// The firmware folds what is left in a cache by then.
const SETTLING: Nanos = Nanos::from_secs(120);
const FORGETTING: Nanos = Nanos::from_secs(60);
/// What is overwritten again and again is this share of what the part of the map that is at hand covers, at most.
const MAPPED: f64 = 0.6;

/// Overwrites a full drive.
pub(super) struct Overwriting;

impl Probe for Overwriting {
    fn name(&self) -> &'static str {
        "overwriting"
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        if obstacle(scene).is_some() || scene.own.iter().any(|segment| segment.errors() > 0) {
            return None;
        }
        type Ask = fn(&Scene<'_>) -> Option<Workload>;
        // A drive that can not be emptied shows whole blocks being erased only as long as nothing is scattered over them.
        let steps: &[Ask] = match scene.forgets() {
            true => &[settle, scatter, rests, in_place, emptied, in_order],
            false => &[settle, in_place, settle_again, scatter, rests],
        };
        steps.iter().find_map(|step| step(scene))
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        let keys = [Key::OverProvisioningPercent, Key::EraseUnitBytes];
        if let Some(why) = obstacle(scene) {
            let unasked = keys.into_iter().filter(|_| why != OTHER_MAP);
            let properties = unasked.map(|key| Property::undecided(key, why)).collect();
            return Finding { properties, ..Finding::default() };
        }
        if !scene.known.is("flash") {
            return Finding::default();
        }
        let order = Order::of(scene);
        let unit = order.property(scene);
        let spare = Spare::of(scene);
        let share = match scene.has_others() {
            true => Property::undecided(
                Key::OverProvisioningPercent,
                "others used the drive meanwhile, and what they write takes part of the spare",
            ),
            false => spare.property(scene, &unit),
        };
        let mut finding = Finding { properties: vec![share, unit], ..Finding::default() };
        let idle = Idle::of(&scene.own);
        finding.properties.extend(idle.property(scene));
        finding.pictures.extend(spare.picture().map(|picture| ("cost_of_overwriting", picture)));
        finding.pictures.extend(order.picture().map(|picture| ("pauses_of_erasing", picture)));
        finding.pictures.extend(idle.picture().map(|picture| ("reads_after_rest", picture)));
        finding
    }
}

const OTHER_MAP: &str = "its map is none of pages";

fn obstacle(scene: &Scene<'_>) -> Option<&'static str> {
    if matches!(scene.known.word(Key::Mapping), Some("hybrid" | "block")) {
        return Some(OTHER_MAP);
    }
    if scene.known.word(Key::Medium).is_some_and(|medium| medium != "flash") {
        return Some("only flash has one");
    }
    (!fill::filled_whole(scene)).then_some("that takes a drive that was filled")
}

fn ran_in_all(scene: &Scene<'_>, name: &str) -> u64 {
    let own = scene.own.iter().filter(|segment| own_name(segment).starts_with(name));
    own.filter_map(|segment| segment.workload.until.bytes).sum()
}

fn counted(scene: &Scene<'_>, name: &str) -> usize {
    scene.own.iter().filter(|segment| own_name(segment).starts_with(name)).count()
}

fn scattered(scene: &Scene<'_>, name: String) -> Option<Workload> {
    let length = (scene.span / CHUNKS).next_multiple_of(BLOCK.into());
    let place = Place::Uniform(Region::bytes(0..scene.span));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let window = (length / WINDOWS).next_multiple_of(BLOCK.into());
    let workload = Workload::new(name, Until::bytes(length), vec![stream]);
    scene.may_write(length).then_some(Workload { window: Some(window), ..workload })
}

/// Lets a cache be emptied.
fn settle(scene: &Scene<'_>) -> Option<Workload> {
    settled_by(scene, REST)
}

fn settle_again(scene: &Scene<'_>) -> Option<Workload> {
    settled_by(scene, REST_AGAIN)
}

fn settled_by(scene: &Scene<'_>, rest: &str) -> Option<Workload> {
    let wanted = fill::drop_of(scene).is_some() && scene.ran(rest).is_none();
    wanted.then(|| Workload { name: rest.into(), ..Workload::rest(SETTLING) })
}

/// Overwrites scattered places until it has to collect.
fn scatter(scene: &Scene<'_>) -> Option<Workload> {
    let scattered_last = scene.own.last().is_some_and(|segment| own_name(segment).starts_with(SCATTER));
    let has_begun = counted(scene, SCATTER) > 0;
    let enough = || Spare::of(scene).is_settled() || ran_in_all(scene, SCATTER) > scene.span / 2;
    let is_done = has_begun && (!scattered_last || enough());
    (!is_done).then(|| scattered(scene, format!("{SCATTER} {}", counted(scene, SCATTER) + 1))).flatten()
}

/// Rests until it collects by itself. A cache says that already.
fn rests(scene: &Scene<'_>) -> Option<Workload> {
    if fill::cache_of(scene).is_some() || !Spare::of(scene).has_begun() {
        return None;
    }
    // Once for each time that it has begun.
    Idle::of(&scene.own).next(0..scene.span, None, || scattered(scene, AGAIN.into()))
}

/// Overwrites the same addresses in order again and again: few enough that the map of all of them is at hand, and all blocks that they lay in
/// are free of anything else when their turn comes. What went into a cache stays there, beyond reach, so that the cache is not used again.
fn in_place(scene: &Scene<'_>) -> Option<Workload> {
    let most = if scene.forgets() { scene.span / 10 } else { scene.span / 2 };
    if scene.ran(TRIM).is_some() || ran_in_all(scene, IN_PLACE) >= most {
        return None;
    }
    let length = order_length(scene);
    let cached = Order::cached(scene);
    let start = cached as u64 * length;
    let mapped = scene.known.number(Key::MapCacheBytes).map_or(length, |bytes| (MAPPED * bytes) as u64);
    let is_cached = cached == counted(scene, IN_PLACE) && fill::drop_of(scene).is_some();
    let window = if is_cached { length } else { mapped.min(length).next_multiple_of(BLOCK.into()) };
    let place = Place::Forward(Region::bytes(start..start + window));
    (start + length <= scene.span).then(|| ordered(scene, IN_PLACE, place, length)).flatten()
}

/// Empties it again where overwriting in place has not shown enough.
fn emptied(scene: &Scene<'_>) -> Option<Workload> {
    if !scene.forgets() || Order::of(scene).is_settled() {
        return None;
    }
    let forgotten = "rest of trim";
    if scene.ran(TRIM).is_none() {
        return Some(scene.trim(TRIM));
    }
    let at_once = scene.known.word(Key::Trim) == Some("immediate");
    (!at_once && scene.ran(forgotten).is_none())
        .then(|| Workload { name: forgotten.into(), ..Workload::rest(FORGETTING) })
}

/// Overwrites an empty drive in order until pauses come at equal distances.
fn in_order(scene: &Scene<'_>) -> Option<Workload> {
    scene.ran(TRIM)?;
    let at = ran_in_all(scene, ORDER);
    let length = order_length(scene);
    let place = Place::Forward(Region::bytes(at..at + length));
    // What goes into a cache has no part in it.
    let cached = fill::drop_of(scene).map_or(0, |cache| cache.bytes as u64);
    let end = scene.span.min(cached + scene.span / 32 * 7);
    (at + length <= end).then(|| ordered(scene, ORDER, place, length)).flatten()
}

fn order_length(scene: &Scene<'_>) -> u64 {
    (scene.span / 32).min(1 << 30).next_multiple_of(BLOCK.into())
}

/// A chunk of what is overwritten in order, unless that has been seen or is too much.
fn ordered(scene: &Scene<'_>, name: &str, place: Place, length: u64) -> Option<Workload> {
    // A drive that can not be emptied has nothing to erase before its spare is used up.
    if scene.forgets() && Order::of(scene).is_settled() || !scene.may_write(length) {
        return None;
    }
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let name = format!("{name} {}", counted(scene, name) + 1);
    let samples = (length / u64::from(BLOCK)) as u32;
    Some(Workload { samples, ..Workload::new(name, Until::bytes(length), vec![stream]) })
}
