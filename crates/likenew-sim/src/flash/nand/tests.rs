//! Dies and channels: what overlaps, what waits, and in which order.

use super::{CellTimes, ReadPart, *};
use crate::flash::nand::Reader;
use crate::flash::translation_layer::Cell;

fn nand(channels: u32, dies_per_channel: u32, programs_max: u32) -> Nand {
    Nand::new(NandParameters {
        channels,
        dies_per_channel,
        native: CellTimes { read: Nanos(50), program: Nanos(900) },
        slc: CellTimes { read: Nanos(20), program: Nanos(300) },
        copy: Nanos::ZERO,
        page_size: 1,
        erase: Nanos(3000),
        page_transfer: Nanos(100),
        programs_max,
        read_part: None,
    })
}

const fn unit(size: u32) -> Unit {
    Unit { cell: Cell::Native, size }
}

fn read(reader: u32) -> ReadJob {
    ReadJob { reader: Reader::Host(reader), cell: Cell::Native, senses: 1, size: 1, bytes: 4096 }
}

/// Runs until all is done; returns completions and the time of the last event.
fn run(nand: &mut Nand, events: &mut Events) -> (Vec<(u64, NandCompletion)>, u64) {
    let (mut ended, mut last) = (Vec::new(), 0);
    while let Some((now, Event::Nand(event))) = events.pop() {
        last = now.0;
        match nand.handle_event(event, true, now, events) {
            NandCompletion::Nothing => {}
            end => ended.push((now.0, end)),
        }
        nand.resume_reads(now, events);
    }
    (ended, last)
}

#[test]
fn a_program_is_a_transfer_and_a_program_time() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    nand.program(0, unit(3), Nanos(0), &mut events);
    assert!(!nand.is_idle(0));
    assert_eq!(run(&mut nand, &mut events), (vec![(300 + 900, NandCompletion::Program(0))], 1200));
    assert!(nand.is_idle(0));
}

#[test]
fn dies_of_a_channel_share_its_bus_and_dies_of_two_do_not() {
    let ends = |channels, dies_per_channel| {
        let (mut nand, mut events) = (nand(channels, dies_per_channel, 2), Events::new());
        (0..2).for_each(|die| nand.read(die, read(die), Nanos(0), &mut events));
        run(&mut nand, &mut events).0.iter().map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(ends(1, 2), [150, 250]);
    assert_eq!(ends(2, 1), [150, 150]);
}

#[test]
fn one_die_reads_one_after_the_other() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    (0..2).for_each(|tag| nand.read(0, read(tag), Nanos(0), &mut events));
    let (ended, _) = run(&mut nand, &mut events);
    assert_eq!(ended, [(150, NandCompletion::Read(read(0))), (300, NandCompletion::Read(read(1)))]);
}

#[test]
fn collection_costs_what_its_parts_cost() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    let work = Work { rows: 3, moved: 5, programs: 2, erases: 1, ..Work::NONE };
    nand.work(0, work, Nanos(0), &mut events);
    let (ended, last) = run(&mut nand, &mut events);
    assert_eq!((ended, last), (vec![(last, NandCompletion::Rest)], 3 * 50 + 5 * 200 + 2 * 900 + 3000));
    assert!(nand.is_idle(0));
}

#[test]
fn a_read_overtakes_collection_but_not_what_is_under_way() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    let work = Work { rows: 2, moved: 2, programs: 2, ..Work::NONE };
    nand.work(0, work, Nanos(0), &mut events);
    nand.read(0, read(7), Nanos(10), &mut events);
    let (ended, _) = run(&mut nand, &mut events);
    assert_eq!(ended[0], (1150 + 150, NandCompletion::Read(read(7))));
    assert_eq!((ended.len(), ended[1]), (2, (2 * 1150 + 150, NandCompletion::Rest)));
}

#[test]
fn work_is_not_starved_by_reads() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    (0..100).for_each(|tag| nand.read(0, read(tag), Nanos(0), &mut events));
    let work = Work { moved: 5, programs: 5, ..Work::NONE };
    nand.work(0, work, Nanos(0), &mut events);
    let (ended, last) = run(&mut nand, &mut events);
    let gaps: Vec<u64> = ended.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let eight = READS_IN_A_ROW_MAX as usize;
    let steps: Vec<usize> =
        (0..gaps.len()).filter(|index| gaps[*index] > 1000).map(|index| index + 1).collect();
    assert_eq!(steps, (1..=5).map(|step| step * eight).collect::<Vec<_>>(), "a move after every eight reads");
    assert!(nand.is_idle(0) && nand.may_program(0));
    assert!(last >= 100 * 150 + 5 * 1100);
}

#[test]
fn a_program_is_not_starved_by_reads() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    (0..100).for_each(|tag| nand.read(0, read(tag), Nanos(0), &mut events));
    let (mut reads, mut before) = (0, Vec::new());
    while let Some((now, Event::Nand(event))) = events.pop() {
        match nand.handle_event(event, true, now, &mut events) {
            NandCompletion::Read(_) => reads += 1,
            NandCompletion::Program(_) => before.push(reads),
            _ => {}
        }
        if nand.may_program(0) && before.len() < 5 {
            nand.program(0, unit(1), now, &mut events);
        }
        nand.resume_reads(now, &mut events);
    }
    let eight = READS_IN_A_ROW_MAX;
    assert_eq!((before, reads), ((1..=5).map(|program| program * eight).collect(), 100));
    assert!(nand.is_idle(0));
}

#[test]
fn so_many_dies_program_at_once() {
    let (mut nand, mut events) = (nand(4, 1, 2), Events::new());
    (0..2).for_each(|die| nand.program(die, unit(1), Nanos(0), &mut events));
    nand.work(1, Work { erases: 1, ..Work::NONE }, Nanos(0), &mut events);
    assert_eq!((nand.next_idle(|_| true), nand.may_program(2)), (None, false));
    let Some((now, Event::Nand(event))) = events.pop() else { panic!("a die goes on") };
    assert_eq!(nand.handle_event(event, true, now, &mut events), NandCompletion::Program(0));
    assert_eq!(nand.next_idle(|_| true), Some(2));
    nand.program(2, unit(1), now, &mut events);
    let Some((now, Event::Nand(event))) = events.pop() else { panic!("a die goes on") };
    assert_eq!(nand.handle_event(event, true, now, &mut events), NandCompletion::Program(1));
    assert_eq!(nand.next_idle(|_| true), None, "an erasure counts");
}

#[test]
fn a_read_that_comes_at_the_very_end_of_work_leaves_nothing_behind() {
    let (mut nand, mut events) = (nand(1, 1, 1), Events::new());
    nand.work(0, Work { moved: 1, programs: 1, ..Work::NONE }, Nanos(0), &mut events);
    nand.read(0, read(1), Nanos(1000), &mut events);
    run(&mut nand, &mut events);
    assert!(nand.may_program(0));
}

#[test]
fn a_transfer_waits_half_a_page_where_the_channel_moves_in_the_background() {
    let (mut nand, mut events) = (nand(1, 2, 2), Events::new());
    nand.work(0, Work { moved: 9, ..Work::NONE }, Nanos(0), &mut events);
    nand.read(1, read(1), Nanos(0), &mut events);
    let (ended, _) = run(&mut nand, &mut events);
    assert_eq!(ended[0], (50 + 50 + 100, NandCompletion::Read(read(1))));
}

#[test]
fn a_busy_channel_stretches_work() {
    let (mut nand, mut events) = (nand(1, 4, 4), Events::new());
    let work = Work { moved: 10, ..Work::NONE };
    (0..4).for_each(|die| nand.work(die, work, Nanos(0), &mut events));
    let (_, last) = run(&mut nand, &mut events);
    assert_eq!(last, 4 * 10 * 200, "the bus moves everything one after the other");
}

#[test]
fn idle_dies_are_taken_in_turn() {
    let (mut nand, mut events) = (nand(2, 2, 4), Events::new());
    assert_eq!(nand.next_idle(|_| true), Some(0));
    nand.program(0, unit(1), Nanos(0), &mut events);
    assert_eq!(nand.next_idle(|_| true), Some(1));
    nand.program(2, unit(1), Nanos(0), &mut events);
    assert_eq!(nand.next_idle(|_| true), Some(3));
    assert_eq!(nand.next_idle(|die| die == 1), Some(1));
    assert_eq!(nand.next_idle(|die| die == 2), None);
}

#[test]
fn the_host_reads_the_chips_pages_it_wants_and_a_fill_the_whole_page() {
    let time = |reader, bytes| {
        let mut nand = nand(1, 1, 1);
        nand.parameters.read_part =
            Some(ReadPart { bytes: 8192, transfer: Nanos(25), rows: 1, row_parts: 4 });
        let mut events = Events::new();
        nand.read(0, ReadJob { reader, bytes, ..read(0) }, Nanos(0), &mut events);
        run(&mut nand, &mut events).1
    };
    assert_eq!([4096, 8192, 8193, 32_768].map(|bytes| time(Reader::Host(0), bytes)), [75, 75, 100, 150]);
    assert_eq!(time(Reader::Fill(0), 0), 150);
}

mod die_set {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_search_goes_round(members in prop::collection::btree_set(0..DIES_MAX, 0..5), start in 0..DIES_MAX) {
            let mut set = DieSet::default();
            members.iter().for_each(|die| set.set(*die, true));
            let expected = members.range(start..).next().or(members.first()).copied();
            prop_assert_eq!(set.next_from(start), expected);
            members.iter().for_each(|die| set.set(*die, false));
            prop_assert_eq!(set.next_from(start), None);
        }
    }
}
