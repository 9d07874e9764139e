//! `apportion report`: a report from results files.

use std::path::Path;

use anyhow::{Result, bail};
use apportion::plots;
use apportion_files::Destination;

use crate::failure::Usage;
use crate::parse::pictures::Report;
use crate::read::results;
use crate::write::pictures::{with_command, write_page};

pub(crate) fn run(args: &Report) -> Result<()> {
    let inputs: Vec<&Path> = args.input.iter().map(AsRef::as_ref).collect();
    let destination = Destination::from_option("--out", &args.out, &inputs)?;
    let read = |path: &Path| Ok((path.to_owned(), results::read(path, args.seed, None)?));
    let read = inputs.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let (pairs, values): (Vec<_>, Vec<_>) =
        read.iter().partition(|(_, explained)| explained.heading().interactions.is_some());
    if values.len() > 1 || pairs.len() > 1 {
        let says = "at most one results file and one interactions file can be passed to --in";
        return Err(Usage(says.to_owned()).into());
    }
    let pairs = pairs.first();
    let Some((_, explained)) = values.first().or(pairs) else { return Ok(()) };
    if let Some((path, pairs)) = pairs
        && pairs.heading().players != explained.heading().players
    {
        bail!(
            "{}: the features of the interactions differ from those of the values; compute both with the \
             same model",
            path.display()
        );
    }
    let mut page = with_command(plots::Report::new(explained), &args.command);
    if let Some((_, pairs)) = pairs {
        page = page.interactions(pairs);
    }
    if let Some(title) = &args.title {
        page = page.title(title);
    }
    write_page(&page, &destination)
}
