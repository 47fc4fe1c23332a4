//! The `likenew` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    let program = std::env::current_exe().map_or_else(|_| "likenew".into(), Into::into);
    ExitCode::from(likenew_cli::main(std::env::args_os().collect(), vec![program]))
}
