//! `apportion inspect`: the contents of a file, and for a tree ensemble or a kernel machine also how the
//! exact method would explain it.

use std::path::Path;

use anyhow::Result;
use apportion_files::Destination;
use serde_json::Value;

use super::contents;
use super::inspect_model::{against, structure};
use crate::failure::Usage;
use crate::parse::args::{Inspect, ModelFile};
use crate::read::model;
use crate::write::Facts;

pub(crate) fn run(args: &Inspect) -> Result<()> {
    if !args.format.is_for_facts() {
        let name = args.format.name();
        let says = format!("apportion inspect does not support --format {name}; use json, csv or table");
        return Err(Usage(says).into());
    }
    let inputs = [args.file.as_deref(), args.model.as_deref(), args.background.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    let destination = Destination::new(args.out.as_deref(), &inputs)?;
    let facts = match (&args.file, &args.model_file()) {
        (Some(file), _) => contents::facts(file, args)?,
        (None, Some(model)) => of_model(model, args.background.as_deref())?,
        (None, None) => return Err(Usage("missing file to inspect; pass its path".to_owned()).into()),
    };
    destination.write(|out| Facts(facts).write(args.format, out))
}

/// Returns the contents of a model file, and the plan for explaining it with this `background`.
fn of_model(file: &ModelFile, background: Option<&Path>) -> Result<Vec<(&'static str, Value)>> {
    #[cfg(feature = "networks")]
    if let Some(facts) = contents::of_network(&file.path)? {
        return Ok(facts);
    }
    let model = model::read_file(&file.path, &file.reading)?;
    let mut facts = structure(&model)?;
    if let Some(path) = background {
        facts.push(("marginal_shapley", against(&model, path)?));
    }
    Ok(facts)
}
