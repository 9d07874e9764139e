//! Generates models in LightGBM's text format, with a direct implementation of their splits.

use super::Random;

/// A split or a leaf. Children are boxed, because the trees are small.
#[derive(Debug, Clone)]
pub enum Node {
    Split { feature: usize, test: Test, left: Box<Node>, right: Box<Node> },
    Leaf { value: f64, count: f64, linear: Option<(f64, Vec<(usize, f64)>)> },
}

#[derive(Debug, Clone)]
pub enum Test {
    /// A split that goes left iff the value is at most `threshold`; `missing` determines the treatment of
    /// missing values.
    AtMost { threshold: f64, missing: Missing, default_left: bool },
    /// A split that goes left iff the value is a member of this set.
    In(Vec<u32>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Missing {
    None,
    Zero,
    NaN,
}

impl Test {
    pub fn goes_left(&self, value: f64) -> bool {
        match self {
            Self::In(members) => {
                value > -1.0 && value < 2147483648.0 && members.contains(&(value.trunc() as u32))
            }
            Self::AtMost { threshold, missing, default_left } => {
                let is_zero = value.abs() <= f64::from(1e-35f32);
                match missing {
                    Missing::Zero if value.is_nan() || is_zero => *default_left,
                    Missing::NaN if value.is_nan() => *default_left,
                    _ if value.is_nan() || is_zero => 0.0 <= *threshold,
                    _ => value <= *threshold,
                }
            }
        }
    }
}

impl Node {
    /// Returns a random tree that splits on the given features only. Thresholds are multiples of one half;
    /// categories are 0 to 4.
    pub fn random(
        random: &mut Random,
        features: &[usize],
        depth: usize,
        categorical: u64,
        linear: u64,
    ) -> Self {
        if depth == 0 || random.chance(15) {
            let number = |random: &mut Random| random.below(41) as f64 * 0.1 - 2.0;
            let mut terms: Vec<(usize, f64)> = Vec::new();
            for _ in 0..random.below(4) {
                let feature = features[random.below(features.len())];
                if terms.iter().all(|&(known, _)| known != feature) {
                    terms.push((feature, number(random)));
                }
            }
            let model = (number(random), terms);
            let count = 1.0 + random.below(5) as f64;
            return Self::Leaf {
                value: number(random),
                count,
                linear: random.chance(linear).then_some(model),
            };
        }
        let test = if random.chance(categorical) {
            Test::In((0..5).filter(|_| random.chance(50)).collect())
        } else {
            Test::AtMost {
                threshold: random.below(6) as f64 * 0.5 - 0.5,
                missing: [Missing::None, Missing::Zero, Missing::NaN][random.below(3)],
                default_left: random.chance(50),
            }
        };
        let feature = features[random.below(features.len())];
        let mut child = || Box::new(Self::random(random, features, depth - 1, categorical, linear));
        Self::Split { feature, test, left: child(), right: child() }
    }

    pub fn predict(&self, row: &[f64]) -> f64 {
        match self {
            Self::Split { feature, test, left, right } => {
                if test.goes_left(row[*feature]) { left } else { right }.predict(row)
            }
            Self::Leaf { value, linear: Some((constant, terms)), .. } => {
                let sum = terms.iter().fold(*constant, |sum, &(feature, slope)| sum + slope * row[feature]);
                if sum.is_nan() { *value } else { sum }
            }
            Self::Leaf { value, .. } => *value,
        }
    }

    pub fn count(&self) -> f64 {
        match self {
            Self::Split { left, right, .. } => left.count() + right.count(),
            Self::Leaf { count, .. } => *count,
        }
    }

    /// Returns the same tree with all leaf counts multiplied by `weight`.
    pub fn weighted(&self, weight: f64) -> Self {
        match self.clone() {
            Self::Split { feature, test, left, right } => {
                let (left, right) = (left.weighted(weight), right.weighted(weight));
                Self::Split { feature, test, left: Box::new(left), right: Box::new(right) }
            }
            Self::Leaf { value, count, linear } => Self::Leaf { value, count: count * weight, linear },
        }
    }
}

/// The lists of one tree, in the order in which the file stores splits and leaves.
#[derive(Default)]
struct Lists {
    splits: Vec<[String; 5]>,
    counts: Vec<String>,
    leaves: Vec<[String; 6]>,
    boundaries: Vec<usize>,
    words: Vec<String>,
}

impl Lists {
    /// Adds a node and everything below it, and returns the number by which its parent refers to it.
    fn take(&mut self, node: &Node) -> i64 {
        match node {
            Node::Split { feature, test, left, right } => {
                let number = self.splits.len();
                self.splits.push(Default::default());
                self.counts.push(node.count().to_string());
                let (threshold, decision) = match test {
                    Test::AtMost { threshold, missing, default_left } => {
                        (threshold.to_string(), 4 * *missing as usize + 2 * usize::from(*default_left))
                    }
                    Test::In(members) => {
                        let word = |index: u32| {
                            members
                                .iter()
                                .filter(|&&member| member / 32 == index)
                                .map(|member| 1u32 << (member % 32))
                                .sum::<u32>()
                        };
                        let words = members.iter().max().map_or(1, |most| most / 32 + 1);
                        self.words.extend((0..words).map(|index| word(index).to_string()));
                        self.boundaries.push(self.words.len());
                        ((self.boundaries.len() - 1).to_string(), 9)
                    }
                };
                let children = [self.take(left), self.take(right)].map(|child| child.to_string());
                let [left, right] = children;
                self.splits[number] = [feature.to_string(), threshold, decision.to_string(), left, right];
                number as i64
            }
            Node::Leaf { value, count, linear } => {
                let (constant, terms) = linear.clone().unwrap_or((*value, Vec::new()));
                let join = |words: Vec<String>| words.join(" ");
                self.leaves.push([
                    value.to_string(),
                    count.to_string(),
                    constant.to_string(),
                    terms.len().to_string(),
                    join(terms.iter().map(|term| term.0.to_string()).collect()),
                    join(terms.iter().map(|term| term.1.to_string()).collect()),
                ]);
                -(self.leaves.len() as i64)
            }
        }
    }
}

/// Returns the file contents of a model with one output.
pub fn text(trees: &[Node], features: usize) -> String {
    let blocks: Vec<String> = trees.iter().enumerate().map(|(index, tree)| block(index, tree)).collect();
    let names: Vec<String> = (0..features).map(|feature| format!("Column_{feature}")).collect();
    let sizes: Vec<String> = blocks.iter().map(|block| block.len().to_string()).collect();
    format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={}\n\
         objective=regression\nfeature_names={}\ntree_sizes={}\n\n{}end of trees\n",
        features - 1,
        names.join(" "),
        sizes.join(" "),
        blocks.concat()
    )
}

fn block(index: usize, tree: &Node) -> String {
    let mut lists = Lists { boundaries: vec![], ..Lists::default() };
    lists.take(tree);
    let splits =
        |column: usize| lists.splits.iter().map(|split| split[column].clone()).collect::<Vec<_>>().join(" ");
    let leaves =
        |column: usize| lists.leaves.iter().map(|leaf| leaf[column].clone()).collect::<Vec<_>>().join(" ");
    let boundaries: Vec<String> =
        std::iter::once(0).chain(lists.boundaries.iter().copied()).map(|end| end.to_string()).collect();
    let mut block = format!(
        "Tree={index}\nnum_leaves={}\nnum_cat={}\nsplit_feature={}\nthreshold={}\ndecision_type={}\n\
         left_child={}\nright_child={}\nleaf_value={}\nleaf_count={}\ninternal_count={}\n",
        lists.leaves.len(),
        lists.boundaries.len(),
        splits(0),
        splits(1),
        splits(2),
        splits(3),
        splits(4),
        leaves(0),
        leaves(1),
        lists.counts.join(" "),
    );
    if !lists.boundaries.is_empty() {
        block +=
            &format!("cat_boundaries={}\ncat_threshold={}\n", boundaries.join(" "), lists.words.join(" "));
    }
    block += &format!(
        "is_linear=1\nleaf_const={}\nnum_features={}\nleaf_features={}\nleaf_coeff={}\nshrinkage=1\n\n\n",
        leaves(2),
        leaves(3),
        leaves(4),
        leaves(5)
    );
    block
}
