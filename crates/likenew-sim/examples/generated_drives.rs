//! Prints the truth of generated drives, one a line, to see how they vary:
//! `cargo run -p likenew-sim --example generated_drives 200`.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use likenew_core::units::amount;
use likenew_sim::generator::generate;
use likenew_sim::model::{Layer, Mechanism};
use likenew_sim::truth::TrueValue;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    for seed in 1..=count {
        let drive = generate(seed);
        let (model, truth) =
            (drive.model().expect("it can be built"), drive.truth().expect("it can be built"));
        let layout = match &model.mechanism {
            Mechanism::Flash(flash) => {
                let nand = flash.parameters.nand;
                let reserve = match &flash.layer {
                    Layer::Page(page) => page.reserve_blocks(),
                    Layer::Compressing(map) => map.free_blocks_min,
                    _ => 0,
                };
                format!(
                    "{}x{} dies, {} blocks a die ({reserve} kept), tR {} +{} cmd {}",
                    nand.channels,
                    nand.dies_per_channel,
                    flash.flash.blocks_per_die,
                    nand.native.read,
                    nand.page_transfer,
                    flash.parameters.firmware.read_command
                )
            }
            _ => String::new(),
        };
        let numbers: Vec<String> = truth
            .rows()
            .into_iter()
            .filter_map(|(key, unit, inside)| match inside {
                TrueValue::Number(number) if unit == "bytes" => {
                    Some(format!("{key} {}", amount(number as u64)))
                }
                TrueValue::Number(number) => Some(format!("{key} {number:.4}")),
                TrueValue::Hidden { low, high } => Some(format!("({key} {low:.0}-{high:.0})")),
                TrueValue::Word(word) => Some(word.to_owned()),
                TrueValue::HiddenWord(_) | TrueValue::Absent => None,
            })
            .collect();
        println!(
            "{seed} {}: {} {}; {}; {layout}; {}",
            drive.family.name(),
            amount(model.capacity_bytes),
            model.technology,
            drive.state,
            numbers.join(", ")
        );
    }
}
