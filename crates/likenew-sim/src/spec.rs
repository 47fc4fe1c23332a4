//! The simulated drive that a user names: `sim:NAME?state=used&fill=0.8&trim=off`, or `sim:FILE.toml?…`.

use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::catalog;
use crate::error::SimError;
use crate::explain::explanation::Explanation;
use crate::model::Model;
use crate::sim_drive::SimDrive;
use crate::state::State;

/// A simulated drive and the state it is to be in.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As the user typed it.
    pub text: String,
    /// Which drive.
    pub drive: Named,
    /// Its past.
    pub state: State,
    /// The share of its addresses that hold data, `0 ..= 1`; if not said, none of a new drive and all of a used one.
    pub fill: Option<f64>,
    /// Whether TRIM works, if not as the drive itself has it.
    pub trim: Option<bool>,
}

/// How a simulated drive is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A drive of the catalogue.
    Catalog(String),
    /// A file of the same form.
    File(PathBuf),
}

const QUERY_EXPECTED: &str = "state=new, state=used, fill=0..1, trim=on and trim=off, joined by &";

impl Spec {
    /// Reads `sim:NAME` or `sim:FILE.toml`, with settings after a question mark.
    ///
    /// # Errors
    /// It does not start with `sim:`, the catalogue has no such name, or a setting is unknown, repeated or out of range;
    /// the error says what would be right.
    pub fn parse(text: &str) -> Result<Self, SimError> {
        let bad = |why: String| SimError::Spec { text: text.to_owned(), why };
        let rest = text.strip_prefix("sim:").ok_or_else(|| bad("write sim:NAME or sim:FILE.toml".into()))?;
        let (name, query) = rest.split_once('?').map_or((rest, None), |(name, query)| (name, Some(query)));
        let drive = if name.ends_with(".toml") || name.contains('/') {
            Named::File(name.into())
        } else if catalog().iter().any(|entry| entry.name == name) {
            Named::Catalog(name.to_owned())
        } else {
            return Err(bad(unknown_name(name)));
        };
        let mut spec = Self { text: text.to_owned(), drive, state: State::default(), fill: None, trim: None };
        let mut seen = Vec::new();
        for setting in query.into_iter().flat_map(|query| query.split('&')) {
            let key = spec.set(setting).map_err(bad)?;
            if seen.contains(&key) {
                return Err(bad(format!("{key} is set twice")));
            }
            seen.push(key);
        }
        Ok(spec)
    }

    /// Takes one setting and returns its key.
    fn set<'s>(&mut self, setting: &'s str) -> Result<&'s str, String> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        match (key, value) {
            ("state", "new") => self.state = State::New,
            ("state", "used") => self.state = State::Used,
            ("trim", "on") => self.trim = Some(true),
            ("trim", "off") => self.trim = Some(false),
            ("fill", share) => match share.parse::<f64>() {
                Ok(share) if (0.0..=1.0).contains(&share) => self.fill = Some(share),
                _ => return Err(format!("fill is \"{share}\": it takes a share from 0 to 1, such as 0.8")),
            },
            _ => return Err(format!("\"{setting}\" is no setting of it: there are {QUERY_EXPECTED}")),
        }
        Ok(key)
    }

    /// What the drive's file says. `read_file` reads a file that is not in the catalogue.
    ///
    /// # Errors
    /// The file can not be read, or is not as it has to be.
    pub fn model(&self, read_file: impl Fn(&Path) -> io::Result<String>) -> Result<Model, SimError> {
        match &self.drive {
            Named::Catalog(name) => {
                let entry = catalog().iter().find(|entry| entry.name == name);
                Ok(entry.expect("the name was looked up when the spec was read").model.clone())
            }
            Named::File(path) => {
                let text = read_file(path).map_err(|source| SimError::Read {
                    path: path.clone(),
                    source,
                    known: names().join(", "),
                })?;
                Model::parse(&path.display().to_string(), &text)
            }
        }
    }

    /// Explains the drive without making it.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn explain(&self, read_file: impl Fn(&Path) -> io::Result<String>) -> Result<Explanation, SimError> {
        Ok(crate::explain::explain(self, &self.model(read_file)?))
    }

    /// Makes the drive and puts it into its state, without its clock moving. Large used drives take seconds.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn open(&self, read_file: impl Fn(&Path) -> io::Result<String>) -> Result<SimDrive, SimError> {
        Ok(crate::make::drive(self, &self.model(read_file)?))
    }
}

fn names() -> Vec<&'static str> {
    catalog().iter().map(|entry| entry.name).collect()
}

fn unknown_name(name: &str) -> String {
    /// Names at least this similar are worth suggesting.
    const SIMILAR: f64 = 0.7;
    let mut near: Vec<(f64, &str)> = names()
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(similarity, known)| *similarity >= SIMILAR || (!name.is_empty() && known.contains(name)))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> = near.into_iter().take(3).map(|(_, known)| known).collect();
    let known = names().join(", ");
    match near.as_slice() {
        [] => format!("there is no drive \"{name}\"; there are {known}, and sim:FILE.toml"),
        _ => format!(
            "there is no drive \"{name}\"; did you mean {}? There are {known}, and sim:FILE.toml",
            near.join(" or ")
        ),
    }
}
