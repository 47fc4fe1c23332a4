//! Drives that are drawn can be built, vary, and are what their truth says.

use likenew_sim::drawn::drawn;
use likenew_sim::truth::Inside;

#[test]
fn every_seed_makes_a_drive_that_can_be_built_and_equal_seeds_the_same() {
    for seed in 0..1100 {
        let drive = drawn(seed);
        let model = drive.model().unwrap_or_else(|error| panic!("{error}\n{}", drive.file));
        assert_eq!(drive, drawn(seed));
        assert_eq!(model.model, format!("Drawn {seed}"));
        let truth = drive.truth().unwrap();
        assert!(
            truth.rows().iter().all(|(key, _, inside)| match inside {
                Inside::Number(number) => number.is_finite() && *number > 0.0,
                Inside::Hidden { low, high } => low <= high && *low > 0.0,
                Inside::Word(_) | Inside::HiddenWord(_) | Inside::Absent => !key.is_empty(),
            }),
            "{seed}: {truth:?}"
        );
    }
}
