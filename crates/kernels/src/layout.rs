//! The groups of a value as nested products.
//!
//! The value of a coalition is a product over the features, so a group of features is one factor for the
//! levels above it: p_G = Π p_l if it is present, and q_G = Π q_l if it is absent. In the definition of a
//! coalitional value, each level then contributes an [average](crate::average) that is independent of the
//! other levels, and the value of a feature is their product:
//!
//! ```text
//! φ_i = (p_i − q_i) Π_{levels} A_level(i)
//! ```

use std::ops::Range;

use apportion_games::Partition;
use apportion_values::{Semivalue, Value};

use crate::average::{Average, LANES, Lane};
use crate::error::KernelError;

/// The order of the factors of a centre, and the groups. The factors of the members of a group are
/// consecutive.
pub(crate) struct Layout {
    /// The position of each feature among the factors.
    pub(crate) features: Vec<usize>,
    /// The positions of the players whose values are computed: features or groups.
    pub(crate) players: Vec<usize>,
    /// The groups; a group comes before the groups within it.
    levels: Vec<Level>,
    /// The number of factors, including those of groups.
    pub(crate) factors: usize,
    two_step: Option<TwoStep>,
}

/// A group of features and groups.
struct Level {
    members: Range<usize>,
    /// The position of the factor of the group; `None` for the outermost group, which contains all features.
    own: Option<usize>,
    /// The averages of its members; `None` if no value depends on them.
    average: Option<Average>,
}

/// The data for two-step Shapley values, in addition to the Shapley values within the groups.
struct TwoStep {
    /// The averages for the Shapley value between the groups.
    between: Average,
    /// For each feature, the index of its group and the reciprocal of the size of the group.
    shares: Vec<(usize, f64)>,
}

/// A group before the factors are ordered. Its members are features, and groups whose numbers follow those of
/// the features.
struct Group {
    members: Vec<usize>,
    average: Option<Average>,
}

impl Layout {
    /// Creates the layout of a value that was [checked](Value::check) for this many features.
    ///
    /// # Errors
    ///
    /// [`KernelError::Unsupported`] for values with custom distributions and values on graphs.
    pub(crate) fn new(value: &Value, features: usize) -> Result<Self, KernelError> {
        let all = |semivalue: &Semivalue, count: usize| Some(Average::new(semivalue, count));
        let of_groups = |groups: &Partition, between: Option<Average>, within: Option<&Semivalue>| {
            let root = Group { members: (features..features + groups.len()).collect(), average: between };
            let parts = groups.groups().iter().map(|members| Group {
                members: members.clone(),
                average: within.and_then(|within| all(within, members.len())),
            });
            std::iter::once(root).chain(parts).collect::<Vec<_>>()
        };
        Ok(match value {
            Value::Semivalue(semivalue) => {
                let root = Group { members: (0..features).collect(), average: all(semivalue, features) };
                Self::of_features(vec![root], features)
            }
            Value::Coalitional(value, groups) => {
                let between = all(&value.between, groups.len());
                Self::of_features(of_groups(groups, between, Some(&value.within)), features)
            }
            Value::OverHierarchy(value, hierarchy) => {
                // The hierarchy numbers features first, then the outermost group, then the other groups. The
                // numbers of members do not count the outermost group.
                let node = |member: usize| if member < features { member } else { member - 1 };
                let groups = hierarchy.groups().map(|group| {
                    let members = hierarchy.children(group);
                    let average = all(value.at_level(hierarchy.level(group)), members.len());
                    Group { members: members.iter().map(|&member| node(member)).collect(), average }
                });
                Self::of_features(groups.collect(), features)
            }
            Value::Quotient(semivalue, groups) => {
                let groups = of_groups(groups, all(semivalue, groups.len()), None);
                let (mut layout, places) = Self::ordered(groups, features);
                layout.players = places[features..].to_vec();
                layout
            }
            Value::TwoStepShapley(groups) => {
                let within = Some(&Semivalue::Shapley);
                let mut layout =
                    Self::of_features(of_groups(groups, Some(Average::absent()), within), features);
                let share = |feature: usize| {
                    let group = groups.group_of(feature);
                    (group, 1.0 / groups.group(group).len() as f64)
                };
                layout.two_step = Some(TwoStep {
                    between: Average::new(&Semivalue::Shapley, groups.len()),
                    shares: (0..features).map(share).collect(),
                });
                layout
            }
            _ => {
                return Err(KernelError::Unsupported {
                    what: format!("an exact {} of a kernel machine", value.concept()),
                    help: "estimate it by sampling, or use a semivalue, a coalitional or two-step value, or \
                           a semivalue of groups",
                });
            }
        })
    }

    fn of_features(groups: Vec<Group>, features: usize) -> Self {
        Self::ordered(groups, features).0
    }

    /// Orders the factors. Returns the layout, whose players are the features, and the position of every
    /// feature and group. The first of `groups` is the outermost group; the others are numbered from
    /// `features`.
    fn ordered(groups: Vec<Group>, features: usize) -> (Self, Vec<usize>) {
        let mut places = vec![0; features + groups.len() - 1];
        let (mut levels, mut factors) = (Vec::with_capacity(groups.len()), 0);
        for (index, group) in groups.into_iter().enumerate() {
            let members = factors..factors + group.members.len();
            members.clone().zip(&group.members).for_each(|(place, &member)| places[member] = place);
            factors = members.end;
            // A group is a member of one of the groups before it, so its position is known.
            let own = index.checked_sub(1).map(|index| places[features + index]);
            levels.push(Level { members, own, average: group.average });
        }
        let of_features = places[..features].to_vec();
        let players = of_features.clone();
        (Self { features: of_features, players, levels, factors, two_step: None }, places)
    }

    /// Returns the number of [`Lane`]s of working memory for [`add_values`](Self::add_values).
    pub(crate) fn memory(&self) -> usize {
        let of_level = |level: &Level| {
            let members = level.members.len();
            let between = self.two_step.as_ref().map_or(0, |two_step| two_step.between.memory(members));
            level.average.as_ref().map_or(0, |average| average.memory(members)).max(between)
        };
        let two_step = self.two_step.as_ref().map_or(0, |_| self.levels[0].members.len());
        2 * self.factors + two_step + self.levels.iter().map(of_level).max().unwrap_or(0)
    }

    /// Returns the approximate number of arithmetic operations for a centre and a background row.
    pub(crate) fn steps(&self) -> usize {
        let of_level =
            |level: &Level| level.average.as_ref().map_or(1, |average| average.steps(level.members.len()));
        self.levels.iter().map(of_level).sum::<usize>() + 4 * self.factors
    }

    /// Computes the factors of groups from the factors of features.
    #[inline(always)]
    pub(crate) fn complete(&self, factors: &mut [Lane]) {
        for level in self.levels.iter().skip(1).rev() {
            let mut product = [1.0; LANES];
            for member in level.members.clone() {
                product.iter_mut().zip(&factors[member]).for_each(|(product, factor)| *product *= factor);
            }
            if let Some(own) = level.own {
                factors[own] = product;
            }
        }
    }

    /// Adds `weight` times the values of all players to `sums`, for centres with the factors `present` of the
    /// explicand and `absent` of a background row.
    #[inline(always)]
    pub(crate) fn add_values(
        &self,
        (present, absent): (&[Lane], &[Lane]),
        weight: f64,
        memory: &mut [Lane],
        sums: &mut [Lane],
    ) {
        let (averages, memory) = memory.split_at_mut(self.factors);
        for level in &self.levels {
            let Some(average) = &level.average else { continue };
            let members = level.members.clone();
            average.write(
                &present[members.clone()],
                &absent[members.clone()],
                memory,
                &mut averages[members.clone()],
            );
            if let Some(own) = level.own {
                let above = averages[own];
                for average in &mut averages[members] {
                    average.iter_mut().zip(&above).for_each(|(average, above)| *average *= above);
                }
            }
        }
        for (sum, &place) in sums.iter_mut().zip(&self.players) {
            let (p, q, average) = (&present[place], &absent[place], &averages[place]);
            for lane in 0..LANES {
                sum[lane] += weight * ((p[lane] - q[lane]) * average[lane]);
            }
        }
        if let Some(two_step) = &self.two_step {
            let groups = self.levels[0].members.clone();
            let (shares, memory) = memory.split_at_mut(groups.len());
            two_step.between.write(&present[groups.clone()], &absent[groups.clone()], memory, shares);
            // From the Shapley value of each group in the quotient game, subtract its gain alone, with all
            // other groups absent.
            for (share, place) in shares.iter_mut().zip(groups) {
                for lane in 0..LANES {
                    let gain = present[place][lane] - absent[place][lane];
                    share[lane] = weight * ((share[lane] - averages[place][lane]) * gain);
                }
            }
            for (sum, &(group, part)) in sums.iter_mut().zip(&two_step.shares) {
                sum.iter_mut().zip(&shares[group]).for_each(|(sum, share)| *sum += part * share);
            }
        }
    }
}
