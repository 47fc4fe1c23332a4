//! Generated drives can be built, vary, and agree with their truth.

use std::path::Path;

use likenew_core::laws;
use likenew_sim::generator::{Family, generate};
use likenew_sim::truth::{TrueValue, Truth};
use likenew_sim::{Spec, State};

#[test]
fn every_seed_makes_a_drive_that_can_be_built_and_equal_seeds_the_same() {
    for seed in 0..1100 {
        let drive = generate(seed);
        let model = drive.model().unwrap_or_else(|error| panic!("{error}\n{}", drive.file));
        assert_eq!(drive, generate(seed));
        assert_eq!(model.model, format!("Drawn {seed}"));
        let truth = drive.truth().unwrap();
        assert!(
            truth.rows().iter().all(|(key, _, inside)| match inside {
                TrueValue::Number(number) => number.is_finite() && *number > 0.0,
                TrueValue::Hidden { low, high } => low <= high && *low > 0.0,
                TrueValue::Word(_) | TrueValue::HiddenWord(_) | TrueValue::Absent => !key.is_empty(),
            }),
            "{seed}: {truth:?}"
        );
    }
}

#[test]
fn a_name_stands_for_the_drive_in_its_drawn_state_and_settings_change_it() {
    let seed = (0..).find(|seed| generate(*seed).state.contains("age=")).unwrap();
    let spec = |query: &str| Spec::parse(&format!("sim:generated-{seed}{query}")).unwrap();
    assert_eq!(spec("").state, State::Used);
    assert!(spec("").age > spec("?age=1d").age && spec("?age=1d").state == State::Used);
    assert_eq!((spec("?state=new").state, spec("?state=new").age.0), (State::New, 0));
}

#[test]
fn one_drive_of_each_family_keeps_the_laws_and_its_stamps() {
    for seed in 0..Family::ALL.len() as u64 {
        let open = || {
            let no_files = |_: &Path| unreachable!("no file is named");
            Spec::parse(&generate(seed).target()).unwrap().open(no_files).unwrap()
        };
        laws::all(open);
        laws::keeps_stamps(&mut open(), 5, 2000);
    }
}

#[test]
fn drives_differ_in_what_an_x_ray_asks_for() {
    let truths: Vec<Truth> = (0..220).map(|seed| generate(seed).truth().unwrap()).collect();
    for (index, key) in Truth::keys().into_iter().enumerate() {
        let all: Vec<TrueValue> = truths.iter().map(|truth| truth.rows()[index].2).collect();
        let known =
            all.iter().filter(|inside| matches!(inside, TrueValue::Number(_) | TrueValue::Word(_))).count();
        let mut values: Vec<String> = all.iter().map(|inside| format!("{inside:?}")).collect();
        values.sort();
        values.dedup();
        let few = matches!(key, "medium" | "mapping" | "compression" | "trim" | "map_page_bytes");
        assert!(known >= 10, "{key}: {known} drives have it");
        assert!(few || values.len() >= 10, "{key}: {values:?}");
    }
}
