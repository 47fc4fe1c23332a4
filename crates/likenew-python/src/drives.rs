//! Simulated drives as files: the catalog, parameters, and draws of other values.

use likenew_sim::generator::generate;
use likenew_sim::model::Model;
use likenew_sim::{Spec, SpecName};
use pyo3::prelude::*;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulation::read_file;
use crate::{errors, wording};

/// Names of the simulated drives in the package.
#[pyfunction]
pub(crate) fn catalog() -> Vec<&'static str> {
    likenew_sim::catalog().iter().map(|entry| entry.name).collect()
}

/// The file of the drive that `sim:NAME` names: from the catalog, generated, or from the file system.
#[pyfunction]
pub(crate) fn drive_file(name: &str) -> PyResult<String> {
    let spec = Spec::parse(&format!("sim:{name}")).map_err(errors::usage)?;
    match &spec.drive {
        SpecName::Catalog(name) => {
            let entry = likenew_sim::catalog().iter().find(|entry| entry.name == name);
            Ok(entry.expect("a name that was read is in the catalog").text.to_owned())
        }
        SpecName::Generated(seed) => Ok(generate(*seed).file),
        SpecName::File(path) => {
            let bytes = read_file(path, None);
            let text = bytes.map_err(|error| errors::unfinished(wording::unreadable_drive(name, error)))?;
            String::from_utf8(text).map_err(|error| errors::usage(wording::unreadable_drive(name, error)))
        }
        SpecName::Snapshot(_) => Err(errors::usage(wording::saved_drive(name))),
    }
}

/// Parameters of a drive file, which must be valid: key, value as written, source, and whether it is assumed.
#[pyfunction]
pub(crate) fn drive_parameters(name: &str, text: &str) -> PyResult<Vec<(String, String, String, bool)>> {
    let model = Model::parse(name, text).map_err(errors::usage)?;
    let entry = |entry: &likenew_sim::SourceEntry| {
        (entry.key.clone(), entry.value.clone(), entry.source.clone(), entry.is_assumed())
    };
    Ok(model.sources.iter().map(entry).collect())
}

/// Draws values for every parameter with a range, evenly over the ranges (Latin hypercube). A draw lists key, value as
/// written, and position in the range.
///
/// Each range is divided into as many equal parts as there are draws. Each part is drawn from once, in a random order
/// for each parameter (McKay, Beckman and Conover, Technometrics 21(2), 1979).
#[pyfunction]
pub(crate) fn draw_parameters(
    name: &str,
    text: &str,
    count: usize,
    seed: u64,
) -> PyResult<Vec<Vec<(String, String, f64)>>> {
    let model = Model::parse(name, text).map_err(errors::usage)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draws = vec![Vec::new(); count];
    for (entry, range) in model.sources.iter().filter_map(|entry| Some((entry, entry.range.as_ref()?))) {
        let mut parts: Vec<usize> = (0..count).collect();
        parts.shuffle(&mut random);
        for (draw, part) in draws.iter_mut().zip(parts) {
            let position = (part as f64 + random.random::<f64>()) / count as f64;
            draw.push((entry.key.clone(), range.at(position), position));
        }
    }
    Ok(draws)
}

/// Checks that this target can be opened. `text` is the drive file if it is not in the file system.
#[pyfunction]
#[pyo3(signature = (target, text))]
pub(crate) fn check_target(target: &str, text: Option<&str>) -> PyResult<()> {
    let spec = Spec::parse(target).map_err(errors::usage)?;
    spec.explain(|path| read_file(path, text)).map(drop).map_err(errors::usage)
}
