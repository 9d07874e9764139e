//! Trees that XGBoost dumped as JSON (`dump_model`, `get_dump`): a list with the root of each tree.
//!
//! A dump is not a complete model. It lacks the base score, the objective, the number of outputs, the dropout
//! weights, and features on which no tree splits. Margins are the sum of all trees, which is correct up to a
//! constant for models with one output and without dropout.

use std::collections::HashMap;

use crate::ensemble::{CategorySet, Ensemble, EnsembleParts, Origin, Rule, TreeParts, Width};
use crate::error::ModelError;
use crate::formats::document::Field;

/// The note for every dump.
const LACKS: &str = "this is a dump of trees, which lacks the base score (assumed to be 0), the objective, \
                     the number of outputs (assumed to be 1) and the dropout weights; save the model with \
                     save_model instead";

/// Returns whether a document is a list of dumped trees.
pub(super) fn is_dump(root: &Field<'_>) -> bool {
    root.elements().is_ok_and(|trees| trees.first().is_some_and(|tree| tree.has("nodeid")))
}

pub(super) fn read(root: &Field<'_>) -> Result<Ensemble, ModelError> {
    let trees = root.elements()?;
    let mut names = Names::default();
    trees.iter().try_for_each(|tree| names.gather(tree))?;
    let (features, feature_names) = names.features();
    let parts = EnsembleParts {
        width: Width::Single,
        features: features.max(1),
        feature_names,
        base_margins: vec![0.0],
        link: None,
        origin: Origin {
            format: "XGBoost JSON dump".to_owned(),
            version: "not stated".to_owned(),
            booster: "gbtree".to_owned(),
            objective: "not stated".to_owned(),
        },
    };
    let mut ensemble = Ensemble::new(parts, 0);
    ensemble.add_note(LACKS.to_owned());
    for tree in &trees {
        let mut parts = TreeParts { cover: Some(Vec::new()), scale: 1.0, ..TreeParts::default() };
        add_node(tree, &names, &mut parts)?;
        parts.cover = parts.cover.filter(|cover| cover.len() == parts.left.len());
        ensemble.push(parts)?;
        ensemble.end_round();
    }
    Ok(ensemble)
}

/// The names of features, in the order of their first occurrence in the trees.
#[derive(Default)]
struct Names {
    number_of: HashMap<String, usize>,
    list: Vec<String>,
}

impl Names {
    fn gather(&mut self, node: &Field<'_>) -> Result<(), ModelError> {
        let Some(children) = node.find("children")? else { return Ok(()) };
        let name = node.get("split")?.text()?;
        if !self.number_of.contains_key(name) {
            self.number_of.insert(name.to_owned(), self.list.len());
            self.list.push(name.to_owned());
        }
        children.elements()?.iter().try_for_each(|child| self.gather(child))
    }

    /// Returns the index in a name that XGBoost generates for columns without a name: `f12`.
    fn made_up(name: &str) -> Option<usize> {
        let number: usize = name.strip_prefix('f')?.parse().ok()?;
        (name == format!("f{number}")).then_some(number)
    }

    fn are_made_up(&self) -> bool {
        self.list.iter().all(|name| Self::made_up(name).is_some())
    }

    /// Returns the number of features, and their names unless they are generated.
    fn features(&self) -> (usize, Option<Vec<String>>) {
        match self.are_made_up() {
            true => {
                let most = self.list.iter().filter_map(|name| Self::made_up(name)).max();
                (most.map_or(0, |most| most.saturating_add(1)), None)
            }
            false => (self.list.len(), Some(self.list.clone())),
        }
    }

    fn number(&self, name: &str) -> usize {
        let made_up = Self::made_up(name).filter(|_| self.are_made_up());
        made_up.unwrap_or_else(|| self.number_of.get(name).copied().unwrap_or(usize::MAX))
    }
}

/// Appends a node and its descendants. Returns its index.
fn add_node(node: &Field<'_>, names: &Names, parts: &mut TreeParts) -> Result<i64, ModelError> {
    let number = parts.add_node();
    if let (Some(cover), Some(own)) = (&mut parts.cover, node.find("cover")?) {
        cover.push(f64::from(own.number()? as f32));
    }
    let Some(children) = node.find("children")? else {
        let leaf = node.get("leaf")?;
        if leaf.number().is_err() && leaf.numbers().is_ok() {
            return Err(ModelError::Unsupported {
                what: "a dump with vector leaves".to_owned(),
                help: "save the model with save_model instead",
            });
        }
        parts.number[number] = f64::from(leaf.number()? as f32);
        return Ok(number as i64);
    };
    parts.feature[number] = i64::try_from(names.number(node.get("split")?.text()?)).unwrap_or(-1);
    let (mut yes, mut no) = (node.get("yes")?.count()?, node.get("no")?.count()?);
    if let Some(condition) = node.find("split_condition")? {
        match condition.number() {
            Ok(threshold) => parts.number[number] = f64::from(threshold as f32),
            Err(_) => {
                parts.rules[number] = Some(Rule::Set {
                    members: CategorySet::new(condition.categories()?),
                    members_go_left: true,
                    negative_fraction_is_zero: false,
                });
            }
        }
        let missing_field = node.get("missing")?;
        let missing = missing_field.count()?;
        if missing != yes && missing != no {
            return Err(
                missing_field.error(format!("expected one of the children {yes} and {no}, got {missing}"))
            );
        }
        parts.default_left[number] = missing == yes;
    } else {
        // For a split on a boolean, "no" in the dump is the child for missing values. The left child, for the
        // value 0, has the lower index.
        parts.number[number] = 1.0;
        parts.default_left[number] = no < yes;
        (yes, no) = (yes.min(no), yes.max(no));
    }
    let (mut left, mut right) = (None, None);
    for child in children.elements()? {
        let id = child.get("nodeid")?.count()?;
        let place = if id == yes { &mut left } else { &mut right };
        if id != yes && id != no || place.is_some() {
            return Err(children.error(format!("expected the children {yes} and {no}, got {id}")));
        }
        *place = Some(add_node(&child, names, parts)?);
    }
    match (left, right) {
        (Some(left), Some(right)) => (parts.left[number], parts.right[number]) = (left, right),
        _ => return Err(children.error("expected two children")),
    }
    Ok(number as i64)
}
