//! `apportion completions` and `apportion man`: shell completions and manual pages, generated from the
//! definition of the command.

use anyhow::Result;
use apportion_files::Destination;

use crate::failure::Usage;
use crate::parse::manual::{Completions, Man};

/// The name of the program in shells.
const NAME: &str = "apportion";

/// Writes the script that completes `command` in a shell.
pub(crate) fn completions(args: &Completions, mut command: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, NAME, &mut script);
    Destination::Standard.write(|out| Ok(out.write_all(&script)?))
}

/// Writes the manual page of the command `all` or of one of its subcommands, in roff.
pub(crate) fn man(args: &Man, mut all: clap::Command) -> Result<()> {
    // Fill in the full names and usages of the subcommands.
    all.build();
    let command = match &args.command {
        None => all,
        Some(name) => {
            let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
            let unknown =
                || Usage(format!("unknown command {name:?}; expected one of: {}", known.join(", ")));
            let found = all.find_subcommand(name).ok_or_else(unknown)?;
            let page = format!("{NAME}-{}", found.get_name());
            found.clone().name(page)
        }
    };
    let page = clap_mangen::Man::new(command.version(env!("CARGO_PKG_VERSION")));
    Destination::Standard.write(|out| Ok(page.render(out)?))
}
