//! The values of one tree from the sizes of coalitions, leaf by leaf: for weights by size, which have no quadrature.
//!
//! # Notation
//!
//! On one leaf with value v and distinct path features 1..d, feature j is *hot* if the row passes all of the path's tests on j, else *cold*;
//! c_j is the product of the cover fractions of these tests. An absent feature multiplies the leaf's weight by c_j, a present one by 1
//! or 0. So a player i joins a coalition that leaves the leaf anything only if no other cold feature is a member, and if k of the m
//! other hot features are absent, each k of them alike, the leaf keeps on average
//!
//! ```text
//! e_k = mean of Π_{j ∈ A} c_j over the A with |A| = k among the hot others
//! ```
//!
//! of its value, besides Π c_j over the cold others. With the probability `L_k` that the player joins m − k others, all of them hot,
//!
//! ```text
//! φ_i = v (1 − c_i) Π_{cold} c_j · Σ_k L_k e_k      for i hot,
//! φ_i = −v          Π_{cold} c_j · Σ_k L_k e_k      for i cold (its own c_i is in the product).
//! ```
//!
//! # Why it is stable
//!
//! This is the polynomial Π_{j≠i} (h_j t + c_j (1 − t)) in Bernstein form. Every number is a probability or a mean of numbers in
//! \[0, 1\], and nothing is subtracted but `1 − c_i`: no cancellation and no overflow at any depth, and what underflows is too small to
//! matter. `L` comes from the law of the size of the coalition, p(s), which every semivalue has for any number of players:
//!
//! ```text
//! L_k = p(m − k) · C(m, m − k) / C(d − 1, m − k).
//! ```
//!
//! # Cost
//!
//! O(d²) per leaf and row. Leaving out one hot feature after the other takes the means of those before it, forwards, and carries the
//! sum over those behind it backwards (by the transposed step), so that nothing is divided out.

use std::collections::HashMap;

use apportion_values::Semivalue;

use crate::ensemble::{Ensemble, Tree};

/// Stands for no place in a list.
const NONE: usize = usize::MAX;

/// What the tests on one feature along a path come to.
struct PathFeature {
    feature: usize,
    hot: bool,
    /// The product of the cover fractions.
    share: f64,
}

/// The values of trees by sizes of coalitions, with the memory that they take: made once per thread.
pub(crate) struct BySize<'a> {
    laws: Laws<'a>,
    /// Per node: its parent, and whether it is the child that the row goes to.
    steps: Vec<(usize, bool)>,
    path: Vec<PathFeature>,
    /// Per feature: where it is in `path`.
    place: Vec<usize>,
    /// Of the hot features of the path: e_0..e_m of the first m of them, for each m up to all, one after the other.
    means: Vec<f64>,
    /// Σ_k L_k e_k as a function of the means over the hot features that come first.
    sums: Vec<f64>,
}

impl<'a> BySize<'a> {
    /// For rows of `features` features. `value` must be [defined](Semivalue::check_players) for as many players.
    pub(crate) fn new(value: &'a Semivalue, features: usize) -> Self {
        Self {
            laws: Laws { value, sizes: HashMap::new(), laws: HashMap::new() },
            steps: Vec::new(),
            path: Vec::new(),
            place: vec![NONE; features],
            means: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Hands the values of the path-dependent game of one tree to `phi`, feature by feature and in shares. The row is rounded, and the
    /// covers are [sound](Ensemble::check_covers).
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut phi: impl FnMut(usize, f64),
    ) {
        let (nodes, cover) = (ensemble.nodes_of(tree), ensemble.cover_of(tree));
        self.steps.clear();
        self.steps.resize(nodes.len(), (NONE, true));
        for (index, &node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let left = ensemble.goes_left(node, row[node.feature()]);
            self.steps[node.left()] = (index, left);
            self.steps[node.right()] = (index, !left);
        }
        for (leaf, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf() && node.value() != 0.0)
        {
            self.path.clear();
            let mut at = leaf;
            while at != 0 {
                let (parent, passed) = self.steps[at];
                self.take(nodes[parent].feature(), passed, cover[at] / cover[parent]);
                at = parent;
            }
            self.add_leaf(node.value(), &mut phi);
        }
    }

    /// Takes one test of the path in.
    fn take(&mut self, feature: usize, passed: bool, share: f64) {
        if let Some(known) = self.path.get_mut(self.place[feature]).filter(|known| known.feature == feature) {
            known.hot &= passed;
            known.share *= share;
        } else {
            self.place[feature] = self.path.len();
            self.path.push(PathFeature { feature, hot: passed, share });
        }
    }

    /// The values of one leaf.
    fn add_leaf(&mut self, value: f64, mut phi: impl FnMut(usize, f64)) {
        let cold = self.path.iter().filter(|one| !one.hot).count();
        let hot = self.path.len() - cold;
        let kept = value * self.path.iter().filter(|one| !one.hot).map(|one| one.share).product::<f64>();
        self.means.clear();
        self.means.push(1.0);
        for (before, one) in self.path.iter().filter(|one| one.hot).enumerate() {
            append_with_one_more(&mut self.means, before, one.share);
        }
        if cold > 0 {
            let law = self.laws.get(hot, cold - 1);
            let lost = kept * dot(law, &self.means[start(hot)..]);
            for one in self.path.iter().filter(|one| !one.hot) {
                phi(one.feature, -lost);
            }
        }
        if hot > 0 {
            self.sums.clear();
            self.sums.extend_from_slice(self.laws.get(hot - 1, cold));
            let mut before = hot;
            for one in self.path.iter().rev().filter(|one| one.hot) {
                before -= 1;
                phi(one.feature, kept * (1.0 - one.share) * dot(&self.sums, &self.means[start(before)..]));
                carry_back(&mut self.sums, one.share);
            }
        }
    }
}

/// Where the means over the first `count` hot features begin: those over fewer are 1 + 2 + … + `count` numbers.
fn start(count: usize) -> usize {
    count * (count + 1) / 2
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Appends the means over `before` features and one more of share `c`, which is among the k of `before + 1` that are absent with
/// probability k / (before + 1).
fn append_with_one_more(means: &mut Vec<f64>, before: usize, c: f64) {
    let old = start(before);
    let count = (before + 1) as f64;
    for absent in 0..=before + 1 {
        let present = if absent <= before { (count - absent as f64) * means[old + absent] } else { 0.0 };
        let taken = if absent > 0 { absent as f64 * c * means[old + absent - 1] } else { 0.0 };
        means.push((present + taken) / count);
    }
}

/// The transposed step: from coefficients of the means over some features to those of the means without the last, of share `c`.
fn carry_back(sums: &mut Vec<f64>, c: f64) {
    let before = sums.len() - 1;
    for absent in 0..before {
        let (present, taken) = ((before - absent) as f64, (absent + 1) as f64);
        sums[absent] = (present * sums[absent] + taken * c * sums[absent + 1]) / before as f64;
    }
    sums.truncate(before);
}

/// The probabilities `L_k`, computed when first wanted.
struct Laws<'a> {
    value: &'a Semivalue,
    /// By the number of players.
    sizes: HashMap<usize, Vec<f64>>,
    /// By the numbers of other hot and cold features.
    laws: HashMap<(usize, usize), Vec<f64>>,
}

impl Laws<'_> {
    /// For `hot` and `cold` other players: per k, the probability that the player joins exactly `hot − k` others, all of them hot.
    fn get(&mut self, hot: usize, cold: usize) -> &[f64] {
        let Self { value, sizes, laws } = self;
        laws.entry((hot, cold)).or_insert_with(|| {
            let players = hot + cold + 1;
            let sizes =
                sizes.entry(players).or_insert_with(|| value.without_null_players(players).size_law(players));
            // C(m, m − k) / C(m + cold, m − k): 1 for k = m, and k / (cold + k) of it for k − 1.
            let mut law = vec![0.0; hot + 1];
            let mut among_hot = 1.0;
            for absent in (0..=hot).rev() {
                law[absent] = sizes[hot - absent] * among_hot;
                among_hot *= absent as f64 / (cold + absent) as f64;
            }
            law
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Random, TreeSpec, document, read};
    use crate::game::PathDependentGame;
    use apportion_games::{Coalitions, Game};
    use apportion_values::enumerate;

    fn values(ensemble: &Ensemble, value: &Semivalue, row: &[f64]) -> Vec<f64> {
        let outputs = ensemble.output_count();
        let mut values = vec![0.0; row.len() * outputs];
        let mut kernel = BySize::new(value, row.len());
        for tree in ensemble.trees() {
            kernel
                .add(ensemble, tree, row, |feature, share| values[feature * outputs + tree.output] += share);
        }
        values
    }

    #[test]
    fn values_are_those_of_enumerating_the_game() {
        let random = &mut Random(21);
        for (features, depth, outputs) in [(1, 2, 1), (2, 4, 1), (3, 5, 2), (7, 7, 1), (11, 8, 2)] {
            let all: Vec<usize> = (0..features).collect();
            let trees: Vec<TreeSpec> =
                (0..3).map(|tree| TreeSpec::random(random, &all, depth, true, tree % outputs)).collect();
            let ensemble = read(&document(&trees, features, &vec![0.5; outputs])).unwrap();
            let mut law: Vec<f64> = (0..features).map(|size| (size * 5 % 4) as f64 + 0.5).collect();
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|weight| *weight /= total);
            for value in [
                Semivalue::by_size_law(&law).unwrap(),
                Semivalue::Shapley,
                Semivalue::Banzhaf,
                Semivalue::weighted_banzhaf(0.2).unwrap(),
                Semivalue::beta_shapley(4.0, 0.5).unwrap(),
                Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.25, 0.5, 0.25]).unwrap(),
            ] {
                let row = random.row(features);
                let game = PathDependentGame::new(&ensemble, &row).unwrap();
                let wanted = enumerate(&game, value.clone()).unwrap();
                for (got, wanted) in values(&ensemble, &value, &row).iter().zip(wanted.values()) {
                    assert!((got - wanted).abs() < 1e-14, "{value}, {features} features: {got} != {wanted}");
                }
            }
        }
    }

    #[test]
    fn deep_paths_of_many_features_add_up() {
        for features in [92, 200, 500] {
            let random = &mut Random(22);
            let chain: Vec<usize> = (0..features).collect();
            let ensemble = read(&document(&[TreeSpec::chain(random, &chain)], features, &[0.0])).unwrap();
            // Rows that pass most tests, so that most of the path is hot at the deepest leaves.
            let row: Vec<f64> = (0..features).map(|_| if random.chance(3) { -1.0 } else { 1.0 }).collect();
            let game = PathDependentGame::new(&ensemble, &row).unwrap();
            let mut ends = Coalitions::new(features);
            ends.push_empty();
            ends.push_full();
            let mut payoffs = [0.0; 2];
            game.values(&ends, &mut payoffs).unwrap();
            let uniform = Semivalue::by_size_law(&vec![1.0 / features as f64; features]).unwrap();
            let total: f64 = values(&ensemble, &uniform, &row).iter().sum();
            assert!((total - (payoffs[1] - payoffs[0])).abs() < 1e-12, "{features}: {total} {payoffs:?}");
        }
    }
}
