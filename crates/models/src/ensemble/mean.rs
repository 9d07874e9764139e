//! Means of ensembles, such as the models of a cross-validation.

use apportion_games::phrases::plural;

use super::{Categories, Ensemble, JointTrees, Link, Node, Statistic};
use crate::error::ModelError;

impl Ensemble {
    /// Returns the ensemble whose margins are the means of the margins of `members`, e.g. the models of a
    /// cross-validation.
    ///
    /// It contains all trees of the members, with leaves divided by the number of members, so that
    /// attributions of the mean are exact. The [link](Self::link) of several members is only kept if it is
    /// the identity, because the mean of margins is not the margin of the mean output. Each member is one
    /// [round](Self::rounds). The mean of a single member is this member itself.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_models::{Ensemble, ReadOptions, Rounds};
    ///
    /// let file = std::fs::read("tests/fixtures/diabetes_xgb.json.gz").unwrap();
    /// let whole = Ensemble::from_bytes(&file)?;
    /// let half = Ensemble::from_bytes_with(&file, &ReadOptions::default().rounds(Rounds::Within(0..2)))?;
    /// let mean = Ensemble::mean_of(&[&whole, &half])?;
    /// let row = vec![0.01; whole.feature_count()];
    /// let margin = |model: &Ensemble| model.margins(Rows::new(&row, row.len())).unwrap()[0];
    /// assert!((margin(&mean) - (margin(&whole) + margin(&half)) / 2.0).abs() < 1e-12);
    /// # Ok::<(), apportion_models::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError::EmptyMean`] if there are no members, [`ModelError::Mean`] if members differ in their
    /// features (number, names, categories), in the width of the numbers that splits compare, or in their
    /// outputs.
    pub fn mean_of(members: &[&Self]) -> Result<Self, ModelError> {
        let (&first, rest) = members.split_first().ok_or(ModelError::EmptyMean)?;
        if rest.is_empty() {
            return Ok(first.clone());
        }
        let count = members.len() as f64;
        let mut mean = Self {
            base_margins: vec![0.0; first.output_count()],
            origin: first.origin.clone(),
            feature_names: members.iter().find_map(|member| member.feature_names.clone()),
            output_names: members
                .iter()
                .map(|member| &member.output_names)
                .find(|names| !names.is_empty())
                .cloned()
                .unwrap_or_default(),
            link: first.link.filter(|&link| link == Link::Identity),
            ..Self::empty_like(first)
        };
        mean.origin.objective = format!("mean of {} models, {}", members.len(), first.origin.objective);
        for (place, member) in members.iter().enumerate() {
            mean.absorb(member, count).map_err(|(found, expected)| ModelError::Mean {
                member: place,
                found,
                expected,
            })?;
        }
        let joint: Vec<_> = members.iter().map(|member| member.joint()).collect();
        mean.joint = mean_of_joint(first, &joint, count).map(Box::new);
        Ok(mean)
    }

    /// Creates an ensemble with the same features and outputs, but without trees, names, categories and
    /// notes.
    fn empty_like(other: &Self) -> Self {
        let parts = super::EnsembleParts {
            width: other.width,
            features: other.features,
            feature_names: None,
            base_margins: vec![0.0; other.output_count()],
            link: None,
            origin: other.origin.clone(),
        };
        Self::new(parts, 0)
    }

    /// Appends the trees of one of `count` members. If the member's features or outputs differ, returns the
    /// actual and the expected ones as an error.
    fn absorb(&mut self, member: &Self, count: f64) -> Result<(), (String, String)> {
        let differ = |found: usize, expected: usize, what: &str| {
            Err((format!("{found} {what}{}", plural(found)), expected.to_string()))
        };
        if member.features != self.features {
            return differ(member.features, self.features, "feature");
        }
        if member.output_count() != self.output_count() {
            return differ(member.output_count(), self.output_count(), "output");
        }
        if member.width != self.width {
            let bits = |ensemble: &Self| match ensemble.width {
                super::Width::Single => "32-bit",
                super::Width::Double => "64-bit",
            };
            return Err((format!("splits on {} numbers", bits(member)), bits(self).to_owned()));
        }
        if let (Some(found), Some(expected)) = (&member.feature_names, &self.feature_names) {
            check_names(found, expected, "feature")?;
        }
        if !member.output_names.is_empty() {
            check_names(&member.output_names, &self.output_names, "output")?;
        }
        self.absorb_words(member)?;
        if !member.wanted.is_empty() {
            self.wanted.resize(self.features, false);
            self.wanted.iter_mut().zip(&member.wanted).for_each(|(wanted, &own)| *wanted |= own);
        }
        self.link = self.link.filter(|_| member.link == Some(Link::Identity));
        for note in &member.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        self.base_margins.iter_mut().zip(&member.base_margins).for_each(|(mean, own)| *mean += own / count);
        self.append_trees(member, count, |feature| feature);
        Ok(())
    }

    /// Appends the trees of another ensemble, with leaves divided by `count`, and ends a round.
    fn append_trees(&mut self, member: &Self, count: f64, feature: impl Fn(usize) -> usize) {
        let (nodes, trees) = (self.nodes.len(), self.trees.len());
        let (rules, linear) = (self.rules.len(), self.linear_leaves.len());
        self.nodes.extend(member.nodes.iter().map(|&node| {
            if node.is_leaf() {
                let value = node.value() / count;
                return match node.linear() {
                    None => Node::leaf(value),
                    Some(index) => Node::linear_leaf(value, (linear + index) as u32),
                };
            }
            let (feature, left) = (feature(node.feature()) as u32, node.left() as u32);
            match node.is_ruled() {
                true => Node::ruled(feature, node.default_left(), rules + node.rule(), left),
                false => Node::comparison(feature, node.default_left(), node.threshold(), left),
            }
        }));
        self.cover.extend_from_slice(&member.cover);
        self.rules.extend(member.rules.iter().cloned());
        self.linear_leaves.extend(member.linear_leaves.iter().cloned().map(|mut leaf| {
            leaf.constant /= count;
            leaf.terms.iter_mut().for_each(|(_, coefficient)| *coefficient /= count);
            leaf
        }));
        self.trees.extend(member.trees.iter().cloned().map(|mut tree| {
            tree.first += nodes;
            tree
        }));
        self.linear_trees.extend(member.linear_trees.iter().map(|&(tree, node)| (trees + tree, node)));
        self.cover_problems.extend(member.cover_problems.iter().cloned().map(|mut problem| {
            problem.tree += trees;
            problem
        }));
        self.largest_sum += member.largest_sum / count;
        self.end_round();
    }

    /// Merges the categories of a member into this ensemble. A member may lack the categories of features
    /// that its trees do not use.
    fn absorb_words(&mut self, member: &Self) -> Result<(), (String, String)> {
        // A corrupt file can declare any number of features, so the loop covers only features with
        // categories.
        for feature in 0..member.categories.len().max(self.categories.len()).min(self.features) {
            let merged = match (self.categories(feature), member.categories(feature)) {
                (None, None) => continue,
                (Some(known), Some(own)) => known.merged(own),
                (Some(known), None) => (!member.depends_on(feature)).then(|| known.clone()),
                (None, Some(own)) => (!self.depends_on(feature)).then(|| own.clone()),
            };
            let Some(merged) = merged else {
                let name = self
                    .feature_names
                    .as_ref()
                    .map_or_else(|| feature.to_string(), |names| format!("{:?}", names[feature]));
                return Err((
                    format!("different categories for the feature {name}"),
                    "the same categories in the same order".to_owned(),
                ));
            };
            if self.categories.len() <= feature {
                self.categories.resize(feature + 1, None);
            }
            self.categories[feature] = Some(merged);
        }
        Ok(())
    }

    /// Returns whether a split or linear leaf uses a feature.
    fn depends_on(&self, feature: usize) -> bool {
        let splits =
            |ensemble: &Self| ensemble.nodes.iter().any(|node| !node.is_leaf() && node.feature() == feature);
        let of_terms = |terms: &[(u32, f64)]| terms.iter().any(|&(own, _)| own as usize == feature);
        let joint = |joint: &JointTrees| {
            splits(joint.ensemble())
                || joint.statistics().iter().any(|statistic| statistic.features().contains(&(feature as u32)))
        };
        splits(self)
            || self.linear_leaves.iter().any(|leaf| of_terms(&leaf.terms))
            || self.joint().is_some_and(joint)
    }
}

/// Merges the joint trees of all members. Returns `None` if no member has joint trees. Rows of the result are
/// extended by the statistics of all members.
fn mean_of_joint(first: &Ensemble, members: &[Option<&JointTrees>], count: f64) -> Option<JointTrees> {
    members.iter().any(Option::is_some).then(|| {
        let features = first.feature_count();
        let all: Vec<Statistic> =
            members.iter().flatten().flat_map(|joint| joint.statistics()).cloned().collect();
        let mut trees = Ensemble::empty_like(first);
        trees.features = features + all.len();
        let mut before = 0;
        for member in members {
            let Some(joint) = member else {
                trees.end_round();
                continue;
            };
            trees.append_trees(joint.ensemble(), count, |column| match column < features {
                true => column,
                false => column + before,
            });
            before += joint.statistics().len();
        }
        JointTrees::new(features, all, trees)
    })
}

fn check_names(found: &[String], expected: &[String], what: &str) -> Result<(), (String, String)> {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(place) => {
            Err((format!("the name {:?} of {what} {place}", found[place]), format!("{:?}", expected[place])))
        }
        None => Ok(()),
    }
}

impl Categories {
    /// Merges the categories of two members of a mean. Returns `None` if a category may have different codes
    /// in them.
    fn merged(&self, other: &Self) -> Option<Self> {
        self.union_of_hashed(other).or_else(|| (self == other).then(|| self.clone()))
    }
}
