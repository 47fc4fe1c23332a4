//! Applications that a command names: of the library, or described by files.

use std::path::Path;

use likenew_core::input;
use likenew_procedures::apps::application::Application;
use likenew_procedures::apps::library::{DEFAULT_GROUP, by_name};

use crate::exit::Failure;

/// Applications by name, from the library and from files.
pub(crate) fn applications(asked: &[String]) -> Result<(Vec<String>, Vec<Application>), Failure> {
    let (mut names, mut custom) = (Vec::new(), Vec::new());
    for name in asked {
        if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
            custom.push(application(name)?);
        } else {
            by_name(name).map_err(Failure::Usage)?;
            names.push(name.clone());
        }
    }
    if names.is_empty() && custom.is_empty() {
        names.push(DEFAULT_GROUP.to_owned());
    }
    Ok((names, custom))
}

fn application(file: &str) -> Result<Application, Failure> {
    let text = input::read_text(Path::new(file), input::APPLICATION);
    let text = text.map_err(|error| Failure::unreadable(file, error))?;
    Application::parse(&text).map_err(|reason| Failure::Usage(format!("{file}: {reason}")))
}
