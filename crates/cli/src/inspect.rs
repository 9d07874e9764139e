//! `apportion inspect`: what a model file holds.

use anyhow::Result;
use apportion::Ensemble;
use serde_json::json;

use crate::args::{Game, Inspect};
use crate::failure::Usage;
use crate::model;
use crate::output::{Destination, Facts, Format};

pub(crate) fn run(args: &Inspect) -> Result<()> {
    if args.format == Format::Npy {
        return Err(
            Usage("facts about a model are no array; give --format json, csv or table".to_owned()).into()
        );
    }
    let destination = Destination::new(args.out.as_deref(), &[&args.model])?;
    let facts = facts(&model::read(&args.model)?);
    destination.write(|out| facts.write(args.format, out))
}

fn facts(model: &Ensemble) -> Facts {
    let origin = model.origin();
    let base_margin = match model.base_margins() {
        [margin] => json!(margin),
        margins => json!(margins),
    };
    let games = match model.check_covers() {
        Ok(()) => vec![Game::Marginal.name(), Game::PathDependent.name()],
        Err(_) => vec![Game::Marginal.name()],
    };
    Facts(vec![
        ("format", json!(origin.format)),
        ("version", json!(origin.version)),
        ("booster", json!(origin.booster)),
        ("objective", json!(origin.objective)),
        ("trees", json!(model.tree_count())),
        ("depth", json!(model.depth())),
        ("leaves", json!(model.leaf_count())),
        ("features", json!(model.feature_count())),
        ("feature_names", json!(model.feature_names())),
        ("outputs", json!(model.output_count())),
        ("base_margin", base_margin),
        ("games", json!(games)),
    ])
}
