//! `explain-text` and `explain-image` in a build without networks: an error that states how to build with
//! networks.

use anyhow::Result;

use crate::failure::Usage;
use crate::parse::without_networks::Any;

pub(crate) fn explain_text(_: &Any) -> Result<()> {
    refuse("explain-text")
}

pub(crate) fn explain_image(_: &Any) -> Result<()> {
    refuse("explain-image")
}

fn refuse(command: &str) -> Result<()> {
    let says = format!(
        "{command} requires the build feature networks; install it with: cargo install --path crates/cli \
         --features networks"
    );
    Err(Usage(says).into())
}
