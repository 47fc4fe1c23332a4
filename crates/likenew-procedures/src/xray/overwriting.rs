//! A full drive overwritten: how much it takes before it has to collect, when it collects by itself, and how far apart its dies
//! erase.

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
const ORDER: &str = "order";
const TRIM: &str = "trim";
const REST: &str = "rest";

/// Places are overwritten in units that no map of pages has to complete.
const BLOCK: u32 = 16 << 10;
const DEPTH: u32 = 32;
/// The span in so many chunks, each with so many windows.
const CHUNKS: u64 = 64;
const WINDOWS: u64 = 16;
/// The firmware folds what is left in a cache by then.
const SETTLING: Nanos = Nanos::from_secs(120);
const FORGETTING: Nanos = Nanos::from_secs(60);
const TRIM_BLOCK: u32 = 16 << 20;

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
        let last = [scatter as fn(&Scene<'_>) -> Option<Workload>, rests];
        // An empty drive takes writes into its cache, whose blocks hold less.
        let empties = forgets(scene) && fill::drop_of(scene).is_none();
        let steps: Vec<fn(&Scene<'_>) -> Option<Workload>> = match empties {
            true => [&last[..], &[emptied, in_order]].concat(),
            false => [&[in_order as fn(&Scene<'_>) -> Option<Workload>], &last[..]].concat(),
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
        let mut finding =
            Finding { properties: vec![spare.property(scene, &unit), unit], ..Finding::default() };
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

/// Whether what is trimmed is forgotten.
fn forgets(scene: &Scene<'_>) -> bool {
    scene.evidence.geometry.trims && scene.known.word(Key::Trim) != Some("ignored")
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
    let wanted = fill::drop_of(scene).is_some() && scene.ran(REST).is_none();
    wanted.then(|| Workload { name: REST.into(), ..Workload::rest(SETTLING) })
}

/// Overwrites scattered places until it has to collect.
fn scatter(scene: &Scene<'_>) -> Option<Workload> {
    if let Some(rest) = settle(scene) {
        return Some(rest);
    }
    let enough = Spare::of(scene).is_settled() || ran_in_all(scene, SCATTER) > scene.span / 2;
    (!enough).then(|| scattered(scene, format!("{SCATTER} {}", counted(scene, SCATTER) + 1))).flatten()
}

/// Rests until it collects by itself. A cache says that already.
fn rests(scene: &Scene<'_>) -> Option<Workload> {
    if fill::cache_of(scene).is_some() || !Spare::of(scene).has_begun() {
        return None;
    }
    // Once for each time that it has begun.
    Idle::of(&scene.own).next(0..scene.span, None, || scattered(scene, AGAIN.into()))
}

/// Empties it again.
fn emptied(scene: &Scene<'_>) -> Option<Workload> {
    let forgotten = "rest of trim";
    if scene.ran(TRIM).is_none() {
        let place = Place::Forward(Region::bytes(0..scene.span));
        let block = TRIM_BLOCK.min(scene.span as u32);
        let stream = Stream::closed(Mix::Only(Op::Trim), block, place, 1, DataClass::Random);
        return Some(Workload::new(TRIM, Until::bytes(scene.span), vec![stream]));
    }
    let at_once = scene.known.word(Key::Trim) == Some("immediate");
    (!at_once && scene.ran(forgotten).is_none())
        .then(|| Workload { name: forgotten.into(), ..Workload::rest(FORGETTING) })
}

/// Overwrites in order until pauses come at equal distances.
fn in_order(scene: &Scene<'_>) -> Option<Workload> {
    if let Some(rest) = settle(scene) {
        return Some(rest);
    }
    let at = ran_in_all(scene, ORDER);
    let most = if forgets(scene) { scene.span / 3 } else { scene.span / 2 };
    let length = (scene.span / 32).min(1 << 30).next_multiple_of(BLOCK.into());
    if Order::of(scene).is_settled() || at + length > most || !scene.may_write(length) {
        return None;
    }
    let place = Place::Forward(Region::bytes(at..at + length));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let name = format!("{ORDER} {}", counted(scene, ORDER) + 1);
    let samples = (length / u64::from(BLOCK)) as u32;
    Some(Workload { samples, ..Workload::new(name, Until::bytes(length), vec![stream]) })
}
