//! `apportion compile-background`: compiles a background for the trees of a model, for repeated use.

use anyhow::{Context, Result};
use apportion::Rows;
use apportion::trees::{BackgroundCompiler, CompiledBackground};
use apportion_files::Destination;

use super::threads;
use crate::failure::Usage;
use crate::messages;
use crate::parse::args::CompileBackground;
use crate::read::model::{self, AnyModel};
use crate::read::rows;

pub(crate) fn run(args: &CompileBackground) -> Result<()> {
    let destination = Destination::new(Some(&args.out), &[&args.model.path, &args.background])?;
    let model = AnyModel::Trees(Box::new(model::read_trees(&args.model)?));
    let compiled = threads::run(&args.threads, || compile(&model, args))??;
    destination.write(|out| -> Result<()> { Ok(compiled.write(out)?) })?;
    messages::note(format_args!(
        "compiled {} into {} at the leaves of the trees",
        messages::counted(compiled.row_count(), "row"),
        messages::counted(compiled.pattern_count(), "pattern")
    ));
    Ok(())
}

fn compile(model: &AnyModel, args: &CompileBackground) -> Result<CompiledBackground> {
    let wanted = model.row_options(&args.columns)?;
    let model = model.ensemble("compile-background")?;
    let mut compiler = BackgroundCompiler::new(model)?;
    let mut rows_before = 0;
    let notes = rows::each_block(&args.background, &wanted, |block| {
        let rows = Rows::new(&block.values, model.feature_count());
        if let Some(column) = args.columns.weights.as_ref().filter(|_| block.weights.is_empty()) {
            let says = format!(
                "unknown column {column:?} in --weights; expected a column of the background {}",
                args.background.display()
            );
            return Err(Usage(says).into());
        }
        let weights = args.columns.weights.is_some().then_some(&block.weights[..]);
        compiler.add(rows, weights).with_context(|| match rows_before {
            0 => "cannot use the background".to_owned(),
            rows => format!(
                "cannot use the background (the row number in this message counts from row {rows} of the \
                 file)"
            ),
        })?;
        rows_before += rows.len();
        Ok(())
    })?;
    for note in &notes {
        messages::note(format_args!("{}: {note}", args.background.display()));
    }
    Ok(compiler.finish()?)
}
