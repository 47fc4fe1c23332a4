//! Reads a trace line by line, whatever its format.

use std::io;

use likenew_core::trace::{TraceIo, TraceSource};
use likenew_core::units::Nanos;

use crate::error::{LineError, LineProblem, TraceError, locate};
use crate::formats::Parse;
use crate::head::TraceHead;
use crate::intake::Intake;
use crate::lines::{LINE_MAX, Lines, ReadFailure};
use crate::notes::Note;
use crate::wording;

/// Lines that are searched for volumes, where one has to be chosen.
const CENSUS_LINES: u64 = 1_000_000;

/// The source of a trace.
pub(crate) struct Source {
    /// Its name as it was given.
    pub(crate) file: String,
    /// Its compression.
    pub(crate) compression: Option<&'static str>,
    pub(crate) lines: Lines,
}

/// A trace under way.
pub(crate) struct Reader<P> {
    file: String,
    compression: Option<&'static str>,
    lines: Lines,
    parser: P,
    intake: Intake,
    /// When the first record left, in the file's own time.
    first: Option<Nanos>,
    at_end: bool,
}

/// The interface of an open trace, whatever its format.
pub(crate) trait TraceReader: TraceSource {
    /// Reads until there is a record or the end.
    fn prime(&mut self) -> Result<(), TraceError>;

    /// The trace's header.
    fn head(&self) -> Option<&TraceHead>;

    /// What was skipped so far, and what could not be determined.
    fn notes(&self) -> Vec<String>;

    /// The volume that is read.
    fn volume(&self) -> Option<String>;

    /// Events that are no I/O, by their first names.
    fn other_events(&self) -> &[String];
}

impl<P: Parse> Reader<P> {
    pub(crate) fn new(source: Source, parser: P, intake: Intake) -> Self {
        let Source { file, compression, lines } = source;
        Self { file, compression, lines, parser, intake, first: None, at_end: false }
    }

    /// Takes the next line.
    fn advance(&mut self) -> Result<(), TraceError> {
        let line = match self.lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return self.end(),
            Err(broken) => return self.report_failure(broken),
        };
        if !line.is_complete {
            if let Some(error) = self.lines.failure() {
                return self.report_failure(ReadFailure::Stream(error));
            }
            if self.parser.forgives_torn_end() {
                self.intake.notes.add(Note::LastLineCut);
                return self.end();
            }
        }
        let text = self.lines.text(&line);
        if text.is_empty() {
            return Ok(());
        }
        match self.parser.line(text, &mut self.intake) {
            Ok(()) => Ok(()),
            Err(LineError::AnotherVolume) => {
                self.intake.volumes.begin_census();
                // Records are only counted now; another volume is not an error.
                let _ = self.parser.line(text, &mut self.intake);
                Err(self.census())
            }
            Err(line_error) => {
                let number = self.lines.number();
                Err(locate(&self.file, number, text, line_error))
            }
        }
    }

    fn end(&mut self) -> Result<(), TraceError> {
        self.at_end = true;
        let flawed = |line_error| locate(&self.file, self.lines.number(), b"", line_error);
        self.parser.end(&mut self.intake).and_then(|()| self.intake.end()).map_err(flawed)?;
        match self.intake.volumes.missing() {
            None => Ok(()),
            Some(missing) => {
                let (file, volumes) = (self.file.clone(), self.intake.volumes.volume_list());
                Err(match volumes.is_empty() {
                    true => TraceError::NoRecords { file, volume: missing },
                    false => TraceError::NoSuchVolume { file, volume: missing, volumes },
                })
            }
        }
    }

    /// Why the lines stop early; no error where a recorder that was killed leaves its file so.
    fn report_failure(&mut self, broken: ReadFailure) -> Result<(), TraceError> {
        let error = match broken {
            ReadFailure::Endless => return Err(self.invalid_line(LineProblem::TooLong { max: LINE_MAX })),
            ReadFailure::Stream(error) => error,
        };
        if self.parser.forgives_torn_end() && error.kind() == io::ErrorKind::UnexpectedEof {
            self.intake.notes.add(Note::CompressedEnd);
            return self.end();
        }
        match (self.compression, error.kind()) {
            (None, _) => Err(TraceError::File { action: "read", file: self.file.clone(), error }),
            (Some(compression), io::ErrorKind::UnexpectedEof) => {
                Err(self.invalid_line(LineProblem::CompressedEnd { compression }))
            }
            (Some(compression), _) => {
                let error = error.to_string();
                Err(self.invalid_line(LineProblem::CompressedDamage { compression, error }))
            }
        }
    }

    /// What is wrong with the line that was read last.
    fn invalid_line(&self, problem: LineProblem) -> TraceError {
        TraceError::InvalidLine { file: self.file.clone(), line: self.lines.number(), problem }
    }

    /// Counts the volumes on the lines that follow, and returns them.
    fn census(&mut self) -> TraceError {
        let mut left = CENSUS_LINES;
        while left > 0
            && let Ok(Some(line)) = self.lines.next()
        {
            let text = self.lines.text(&line);
            if !text.is_empty() && self.parser.line(text, &mut self.intake).is_err() {
                break;
            }
            left -= 1;
        }
        TraceError::SeveralVolumes {
            file: self.file.clone(),
            lines: self.lines.number(),
            volumes: self.intake.volumes.volume_list(),
        }
    }

    fn step(&mut self) -> Result<Option<TraceIo>, TraceError> {
        loop {
            if let Some(mut io) = self.intake.pop(self.at_end) {
                let first = *self.first.get_or_insert(io.at);
                io.at = io.at - first;
                return Ok(Some(io));
            }
            if self.at_end {
                return Ok(None);
            }
            self.advance()?;
        }
    }
}

impl<P: Parse> TraceSource for Reader<P> {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        self.step().map_err(|error| {
            self.at_end = true;
            self.intake.clear();
            error.to_string()
        })
    }

    fn applications(&self) -> &[String] {
        self.intake.applications.names()
    }

    fn capacity(&self) -> Option<u64> {
        self.intake.capacity
    }
}

impl<P: Parse> TraceReader for Reader<P> {
    fn prime(&mut self) -> Result<(), TraceError> {
        while !self.at_end && self.intake.is_empty() {
            self.advance()?;
        }
        Ok(())
    }

    fn head(&self) -> Option<&TraceHead> {
        self.parser.head()
    }

    fn notes(&self) -> Vec<String> {
        wording::notes(&self.intake.notes)
    }

    fn volume(&self) -> Option<String> {
        self.intake.volumes.selection()
    }

    fn other_events(&self) -> &[String] {
        self.intake.notes.events()
    }
}
