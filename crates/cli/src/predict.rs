//! `apportion predict`: raw margins, before any link, or the outputs behind it.

use anyhow::{Result, bail};
use apportion::games::parallel;
use apportion::{Model, Rows};

use crate::args::{Predict, Space};
use crate::input::{self, Input};
use crate::output::{Destination, Predictions};
use crate::rows;
use crate::threads;

/// Rows that one thread predicts at a time.
const BLOCK: usize = 256;

pub(crate) fn run(args: &Predict) -> Result<()> {
    input::check(&args.input, args.output.format)?;
    let destination =
        Destination::new(args.output.out.as_deref(), &[&args.input.model.path, &args.input.rows])?;
    let input = Input::read(&args.input)?;
    let (columns, outputs) = (input.table.columns, input.model.outputs());
    let gathered = input.table.gather(&input.selected);
    let mut margins = vec![0.0; input.selected.len() * outputs];
    let linked = match args.space {
        Space::Margin => None,
        Space::Probability => Some(input.model.linked()?),
    };
    let model: &(dyn Model + Sync) = match &linked {
        Some(outputs) => outputs,
        None => &input.model,
    };
    let predicted = threads::run(&args.threads, || {
        let blocks = margins.chunks_mut(BLOCK * outputs).zip(gathered.chunks(BLOCK * columns));
        parallel::try_map(blocks, |(margins, rows)| model.predict(Rows::new(rows, columns), margins))
    })?;
    if let Err(error) = predicted {
        return Err(anyhow::Error::from_boxed(error).context("the model failed"));
    }
    if let Some(at) = margins.iter().position(|margin| !margin.is_finite()) {
        bail!("the model says {} for row {}; check the model", margins[at], input.selected[at / outputs]);
    }
    let ids = rows::ids_of(&input.table, &input.selected);
    let results = Predictions { outputs, ids, rows: input.selected, margins };
    destination.write(|out| results.write(args.output.format, out))
}
