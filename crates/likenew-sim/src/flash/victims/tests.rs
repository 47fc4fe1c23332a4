//! Each policy chooses the block that its definition says.

use super::*;
use crate::flash::FlashGeometry;

fn victims(dies: u32, blocks_per_die: u32, collection: Collection) -> Victims {
    let flash = FlashGeometry {
        dies,
        blocks_per_die,
        pages_per_block: 4,
        row_pages: 1,
        unit_pages: 1,
        user_pages: 1,
    };
    Victims::new(flash.dies, flash.blocks_per_die, flash.pages_per_block, collection)
}

fn close(victims: &mut Victims, blocks: &[(u32, u16)]) {
    for (block, valid) in blocks {
        (0..*valid).for_each(|_| victims.gain(*block));
        victims.close(*block);
    }
}

fn take(victims: &mut Victims, die: u32) -> Option<u32> {
    let block = victims.choose(die)?;
    victims.take(block);
    victims.erase(block);
    Some(block)
}

#[test]
fn greedy_takes_the_emptiest_closed_block_of_a_die() {
    let mut victims = victims(2, 3, Collection::Greedy);
    close(&mut victims, &[(0, 3), (1, 2), (2, 4), (3, 1), (4, 4)]);
    assert_eq!((victims.choose(0), victims.choose(1)), (Some(1), Some(3)));
    assert_eq!(victims.lose(2), 0);
    (0..2).for_each(|_| assert_eq!(victims.lose(0), 0));
    assert_eq!(take(&mut victims, 0), Some(0));
    assert_eq!(take(&mut victims, 0), Some(1));
    assert_eq!(take(&mut victims, 0), Some(2));
    assert_eq!(take(&mut victims, 0), None);
    assert_eq!(take(&mut victims, 1), Some(3));
    assert_eq!(victims.lose(4), 1);
    assert_eq!(victims.choose(1), Some(4));
}

#[test]
fn fifo_takes_blocks_in_the_order_of_their_closing() {
    let mut victims = victims(1, 4, Collection::Fifo);
    close(&mut victims, &[(2, 4), (0, 1), (3, 0), (1, 2)]);
    victims.lose(0);
    victims.take(3);
    assert_eq!([0; 4].map(|_| take(&mut victims, 0)), [Some(2), Some(0), Some(1), None]);
}

#[test]
fn many_choices_are_greedy_and_one_is_random() {
    let blocks: Vec<(u32, u16)> = (0..8).map(|block| (block, if block == 5 { 1 } else { 2 })).collect();
    let mut many = victims(1, 9, Collection::Choices(1000));
    close(&mut many, &blocks);
    assert_eq!(take(&mut many, 0), Some(5));
    let mut one = victims(1, 9, Collection::Choices(1));
    close(&mut one, &blocks);
    let mut drawn = [0; 9];
    (0..8000).for_each(|_| drawn[one.choose(0).unwrap() as usize] += 1);
    assert_eq!(drawn[8], 0, "an open block is no victim");
    // Six standard deviations of a count with mean 1000.
    assert!(drawn[..8].iter().all(|count| (823..1178).contains(count)), "{drawn:?}");
}

#[test]
fn cost_benefit_weighs_gain_against_age() {
    let mut victims = victims(1, 4, Collection::CostBenefit);
    close(&mut victims, &[(0, 4), (1, 4), (2, 4)]);
    [0, 1, 2, 2].iter().for_each(|block| {
        victims.lose(*block);
    });
    assert_eq!(victims.choose(0), Some(0), "4 × 1/6 is more than 0 × 2/4: age counts from the last loss");
    victims.lose(1);
    assert_eq!(victims.choose(0), Some(0), "4 × 1/6 is more than 1 × 2/4");
    victims.lose(1);
    assert_eq!(victims.choose(0), Some(2), "2 × 2/4 is more than 5 × 1/6");
    victims.lose(1);
    assert_eq!(take(&mut victims, 0), Some(1), "what holds nothing costs nothing");
    assert_eq!(take(&mut victims, 0), Some(2));
    assert_eq!(take(&mut victims, 0), Some(0));
    assert_eq!(take(&mut victims, 0), None);
}

#[test]
fn an_open_block_is_no_victim() {
    let policies = [Collection::Greedy, Collection::Fifo, Collection::Choices(2), Collection::CostBenefit];
    for policy in policies {
        let mut victims = victims(1, 2, policy);
        victims.gain(0);
        victims.lose(0);
        assert_eq!((victims.choose(0), victims.any_gains(0)), (None, false));
        victims.close(0);
        assert_eq!((victims.choose(0), victims.any_gains(0)), (Some(0), true));
    }
}
