//! Dies and channels: what overlaps, what waits, and in which order.

use super::*;

fn nand(channels: u32, dies_per_channel: u32, programs_max: u32) -> Nand {
    Nand::new(NandParameters {
        channels,
        dies_per_channel,
        read: Nanos(50),
        program: Nanos(900),
        erase: Nanos(3000),
        page_transfer: Nanos(100),
        programs_max,
    })
}

fn read(reader: u32) -> ReadJob {
    ReadJob { reader: Reader::Host(reader), pages: 1, bytes: 4096 }
}

/// Lets everything happen; what ended for somebody, and the end of all.
fn run(nand: &mut Nand, events: &mut EventQueue<NandEvent>) -> (Vec<(u64, Ended)>, u64) {
    let (mut ended, mut last) = (Vec::new(), 0);
    while let Some((now, event)) = events.pop() {
        last = now.0;
        match nand.happen(event, now, events) {
            Ended::Nothing => {}
            end => ended.push((now.0, end)),
        }
    }
    (ended, last)
}

#[test]
fn a_program_is_a_transfer_and_a_program_time() {
    let (mut nand, mut events) = (nand(1, 1, 1), EventQueue::new());
    nand.program(0, 3, Work::NONE, Nanos(0), &mut events);
    assert!(!nand.is_idle(0));
    assert_eq!(run(&mut nand, &mut events), (vec![(300 + 900, Ended::Program(0))], 1200));
    assert!(nand.is_idle(0));
}

#[test]
fn dies_of_a_channel_share_its_bus_and_dies_of_two_do_not() {
    let ends = |channels, dies_per_channel| {
        let (mut nand, mut events) = (nand(channels, dies_per_channel, 2), EventQueue::new());
        (0..2).for_each(|die| nand.read(die, read(die), Nanos(0), &mut events));
        run(&mut nand, &mut events).0.iter().map(|(at, _)| *at).collect::<Vec<_>>()
    };
    assert_eq!(ends(1, 2), [150, 250]);
    assert_eq!(ends(2, 1), [150, 150]);
}

#[test]
fn one_die_reads_one_after_the_other() {
    let (mut nand, mut events) = (nand(1, 1, 1), EventQueue::new());
    (0..2).for_each(|tag| nand.read(0, read(tag), Nanos(0), &mut events));
    let (ended, _) = run(&mut nand, &mut events);
    assert_eq!(ended, [(150, Ended::Read(read(0))), (300, Ended::Read(read(1)))]);
}

#[test]
fn collection_costs_what_its_parts_cost() {
    let (mut nand, mut events) = (nand(1, 1, 1), EventQueue::new());
    let work = Work { rows: 3, pages: 5, programs: 2, erases: 1 };
    nand.collect(0, work, Nanos(0), &mut events);
    let (ended, last) = run(&mut nand, &mut events);
    assert_eq!((ended.len(), last), (0, 3 * 50 + 5 * 200 + 2 * 900 + 3000));
    assert!(nand.is_idle(0));
}

#[test]
fn a_read_overtakes_collection_but_not_what_is_under_way() {
    let (mut nand, mut events) = (nand(1, 1, 1), EventQueue::new());
    let work = Work { rows: 2, pages: 2, programs: 2, erases: 0 };
    nand.collect(0, work, Nanos(0), &mut events);
    nand.read(0, read(7), Nanos(10), &mut events);
    let (ended, last) = run(&mut nand, &mut events);
    assert_eq!(ended, [(1150 + 150, Ended::Read(read(7)))]);
    assert_eq!(last, 2 * 1150 + 150);
}

#[test]
fn work_is_not_starved_by_reads() {
    let (mut nand, mut events) = (nand(1, 1, 1), EventQueue::new());
    nand.read(0, read(0), Nanos(0), &mut events);
    nand.program(0, 1, Work::NONE, Nanos(0), &mut events);
    (1..100).for_each(|tag| nand.read(0, read(tag), Nanos(0), &mut events));
    let (ended, _) = run(&mut nand, &mut events);
    let position = ended.iter().position(|(_, end)| *end == Ended::Program(0));
    assert_eq!(position, Some(READS_IN_A_ROW_MAX as usize));
}

#[test]
fn so_many_dies_program_at_once_and_the_others_wait_in_line() {
    let (mut nand, mut events) = (nand(4, 1, 2), EventQueue::new());
    (0..4).for_each(|die| nand.program(die, 1, Work::NONE, Nanos(0), &mut events));
    let (ended, _) = run(&mut nand, &mut events);
    let order = [(1000, 0), (1000, 1), (2000, 2), (2000, 3)];
    assert_eq!(ended, order.map(|(at, die)| (at, Ended::Program(die))));
}

#[test]
fn a_die_in_line_still_reads() {
    let (mut nand, mut events) = (nand(2, 1, 1), EventQueue::new());
    (0..2).for_each(|die| nand.program(die, 1, Work::NONE, Nanos(0), &mut events));
    nand.read(1, read(5), Nanos(0), &mut events);
    let (ended, last) = run(&mut nand, &mut events);
    assert_eq!(ended[0], (150, Ended::Read(read(5))));
    assert_eq!(last, 2000);
}

#[test]
fn idle_dies_are_taken_in_turn() {
    let (mut nand, mut events) = (nand(2, 2, 4), EventQueue::<NandEvent>::new());
    assert_eq!(nand.next_idle(|_| true), Some(0));
    assert_eq!(nand.next_idle(|_| true), Some(1));
    nand.program(2, 1, Work::NONE, Nanos(0), &mut events);
    assert_eq!(nand.next_idle(|_| true), Some(3));
    assert_eq!(nand.next_idle(|die| die == 1), Some(1));
    assert_eq!(nand.next_idle(|die| die == 2), None);
}
