//! The `borrowire` command: looks into frames, and works on them in bulk.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
