//! `apportion predict`: margins, or outputs after the link function.

use std::path::Path;

use anyhow::{Result, bail};
use apportion::games::parallel;
use apportion::{Model, Rows};
use apportion_files::Destination;
use apportion_results::{self as results, Predictions};

use super::stream;
use super::threads;
use crate::failure::Usage;
use crate::parse::args::{Predict, Space};
use crate::read::input::{self, Batch, Input, check_for_model};

/// The minimum number of rows that a thread predicts at a time.
const BLOCK: usize = 256;

pub(crate) fn run(args: &Predict) -> Result<()> {
    input::check(&args.input, args.output.format)?;
    let inputs: Vec<&Path> =
        args.input.model.path.as_deref().into_iter().chain([args.input.rows.as_path()]).collect();
    let destination = Destination::new(args.output.out.as_deref(), &inputs)?;
    let (input, mut batches) = Input::read(&args.input, |model, _| model.outputs())?;
    let (columns, outputs) = (input.columns, input.model.outputs());
    let linked = match &args.space {
        Space::Margin => None,
        Space::Probability => Some(input.model.ensemble("--output probability")?.linked()?),
        Space::LogLoss(_) => {
            let says = "apportion predict does not support --output log-loss; use --output probability and \
                take the negative logarithm";
            return Err(Usage(says.to_owned()).into());
        }
    };
    let model: &(dyn Model + Sync) = match &linked {
        Some(outputs) => outputs,
        None => input.model.as_model(),
    };
    let pool = threads::pool(&args.threads)?;
    let predict = |batch: Batch| -> Result<results::Batch> {
        let rows = Rows::new(&batch.values, columns);
        check_for_model(&input, rows, |row| format!("row {}", batch.rows[row]))?;
        let mut margins = vec![0.0; batch.rows.len() * outputs];
        let predicted = pool.install(|| {
            let rows = model.rows_per_call().max(BLOCK);
            let blocks = margins.chunks_mut(rows * outputs).zip(batch.values.chunks(rows * columns));
            let predict =
                |(margins, rows): (&mut [f64], &[f64])| model.predict(Rows::new(rows, columns), margins);
            match model.parallel() {
                true => parallel::try_map(blocks, predict).map(drop),
                false => blocks.into_iter().try_for_each(predict),
            }
        });
        if let Err(error) = predicted {
            return Err(anyhow::Error::from_boxed(error).context("the model failed"));
        }
        if let Some(at) = margins.iter().position(|margin| !margin.is_finite()) {
            bail!(
                "the prediction for row {} is {}; predictions must be finite, so check the model",
                batch.rows[at / outputs],
                margins[at]
            );
        }
        Ok(results::Batch {
            rows: batch.rows,
            ids: batch.ids,
            predictions: margins,
            ..results::Batch::default()
        })
    };
    let results = |first: &results::Batch| {
        Ok(Predictions { outputs, classes: input.model.classes(), has_ids: first.ids.is_some() })
    };
    let target = (&destination, args.output.format);
    stream::write(&pool, target, &mut batches, results, predict).map(drop)
}
