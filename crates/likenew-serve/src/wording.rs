//! Sentences of the server.

pub(crate) const NO_SECRET: &str =
    "this page needs the address that likenew serve has printed, with its secret: open that one";
pub(crate) const OTHER_HOST: &str =
    "this server does not answer to that name; use the address that it has printed";
pub(crate) const OTHER_ORIGIN: &str = "another page asked, so nothing was done";
pub(crate) const NO_SUCH_PAGE: &str = "there is no such page";
pub(crate) const NO_SUCH_JOB: &str = "there is no such run on this server; it may be among the earlier runs";
pub(crate) const NO_SUCH_ESTIMATE: &str =
    "this run was started already, or its cost was asked long ago; ask what it costs, and start it then";
pub(crate) const JOB_IS_OVER: &str = "this run is over";
pub(crate) const JOB_OF_OTHERS: &str =
    "this run was not started here; cancel it with Ctrl-C in the terminal where it was";
pub(crate) const TOO_SLOW: &str = "the request took too long";

likenew_core::sentences! {
    pub(crate) fn no_such_run(name: &str) = "there is no run {name:?} in the archive";
    pub(crate) fn damaged_run(reason: impl std::fmt::Display) = "this run cannot be read: {reason}";
    pub(crate) fn unknown_command(name: &str) = "{name:?} cannot be started here; run it in a terminal";
    pub(crate) fn unknown_option(command: &str, option: &str) =
        "{command} has no option {option:?} here; run it in a terminal";
    pub(crate) fn wrong_value(option: &str) =
        "the value of {option:?} has to be text without line breaks, or true for a switch";
    pub(crate) fn too_many_jobs(most: usize) =
        "{most} runs are under way; wait for one to end, or cancel one";
    pub(crate) fn not_started(error: impl std::fmt::Display) = "could not start likenew: {error}";
    pub(crate) fn too_many_compared(most: usize) = "at most {most} runs are compared at once; choose fewer";
}

pub(crate) const NO_TARGET: &str =
    "give a folder, a device that is only read, or a simulated drive such as sim:tiny-flash";

/// What a program printed, or that it ended without a result.
pub(crate) fn failed(messages: &str) -> String {
    match messages.trim() {
        "" => "likenew ended without a result".to_owned(),
        said => said.to_owned(),
    }
}

/// Meaning of an exit code (`likenew help exit-codes`).
pub(crate) fn outcome(code: Option<i32>) -> &'static str {
    match code {
        Some(0) => "Done.",
        Some(10) => "Done, and found a problem.",
        Some(130) => "Canceled; it can be resumed.",
        Some(2) => "Refused.",
        Some(3) => "Refused for safety.",
        Some(_) => "Could not finish.",
        None => "Ended by a signal.",
    }
}

pub(crate) const INDEX_ENDED: &str = "the index of runs is not there any more; start likenew serve again";
pub(crate) const NO_SUCH_DRIVE: &str = "no kept run is of such a drive";
