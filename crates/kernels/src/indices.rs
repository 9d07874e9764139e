//! Interaction indices of coalitions of features or groups.

use std::collections::HashMap;
use std::sync::Arc;

use apportion_games::{Coalitions, Partition, Rows, memory};
use apportion_values::interactions::MAX_INTERACTIONS;
use apportion_values::{IndexWeights, InteractionIndex, Interactions, Semivalue, Value, ValueError};

use crate::coalitions::{CoalitionTerms, Part, advance, binomial};
use crate::error::KernelError;
use crate::explainer::{KernelExplainer, outputs_in_parallel};
use crate::layout::Layout;
use crate::sums::{Terms, check_memory, sums};

impl KernelExplainer<'_> {
    /// Returns whether [`indices_of`](Self::indices_of) supports an index: all indices except generalized
    /// values.
    pub fn supports_index(index: &InteractionIndex) -> bool {
        !index.is_generalized()
    }

    /// Returns the [interaction indices](apportion_values::interactions) of all coalitions of up to `order`
    /// features, or of `groups` of features, for each row.
    ///
    /// The index of a coalition K is a weighted sum over centres and background rows of
    ///
    /// ```text
    /// Π_{i∈K} (p_i − q_i) L_k(Π_{l∉K} (t p_l + (1 − t) q_l))
    /// ```
    ///
    /// where L_k is the functional of the index for coalitions of k = |K| players, and p_l and q_l are the
    /// factors of player l if it is present or absent.
    ///
    /// A row takes about 4 · centres · background rows · C(n, ≤ s) · ⌈n/2⌉ arithmetic operations for Shapley
    /// interactions, and 4 · centres · background rows · C(n, ≤ s) for Banzhaf interactions. C(n, ≤ s) is the
    /// number of coalitions of at most s = `order` features. Accuracy and determinism are those of
    /// [`values_of`](Self::values_of).
    ///
    /// ```
    /// use apportion_kernels::{InteractionIndex, Kernel, KernelExplainer, KernelMachine, Rows};
    ///
    /// let kernel = Kernel::rbf(1.0, 2);
    /// let machine = KernelMachine::new(2, &[0.0])?.with_kernel(kernel, &[0.0, 0.0], &[1.0])?;
    /// let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 0.0], 2), None)?;
    /// let found = explainer.indices_of(&InteractionIndex::SHAPLEY, 2, None, Rows::new(&[1.0, 2.0], 2))?;
    /// let expected = ((-1.0_f64).exp() - 1.0) * ((-4.0_f64).exp() - 1.0);
    /// assert!((found[0].matrix().pair(0, 0, 1)[0] - expected).abs() < 1e-15);
    /// # Ok::<(), apportion_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`KernelError::Unsupported`] for generalized values; [`KernelError::Value`] for an invalid order, for
    /// more than 2^20 coalitions times outputs, and for weights by size of another number of players;
    /// [`KernelError::Game`] for groups of another number of features, for rows of the wrong width, and for
    /// missing and infinite values; [`KernelError::Memory`].
    pub fn indices_of(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, KernelError> {
        let machine = &*self.machine;
        machine.check_rows(rows, "row")?;
        let value = match groups {
            None => Value::from(Semivalue::Banzhaf),
            Some(groups) => Value::quotient(Semivalue::Banzhaf, groups.clone()),
        };
        value.check(machine.features)?;
        let players = groups.map_or(machine.features, Partition::len);
        let weights = index.weights(order, players)?;
        let coalitions = coalitions(players, order, machine.output_count())?;
        let unsupported = || KernelError::Unsupported {
            what: format!("{index} for coalitions of features of a kernel machine"),
            help: "enumerate the coalitions of a game with few players, or use an interaction index",
        };
        if !Self::supports_index(index) {
            return Err(unsupported());
        }
        let layout = Layout::new(&value, machine.features)?;
        let (terms, parts) = CoalitionTerms::new(layout, &weights).ok_or_else(unsupported)?;
        check_memory(&terms)?;
        let outputs = machine.output_count();
        let what =
            || format!("interactions of {players} players for {outputs} outputs of {} rows", rows.len());
        let bytes = memory::product([rows.len(), terms.targets() + coalitions.len(), outputs, 16])
            .saturating_add(Gathered::bytes(players, &parts));
        memory::check(bytes, what, "explain fewer rows at a time, or use a lower order")?;

        let sums = sums(&self.summands, rows, &terms);
        let predictions = outputs_in_parallel(machine, rows)?;
        let gathered = Gathered::new(&coalitions, &parts, outputs);
        let coalitions = Arc::new(coalitions);
        let each = terms.targets() * outputs;
        let answer = |(at, row): (usize, &[f64])| {
            let (mut constant, mut values) = gathered.of_row(&sums[at * each..][..each]);
            self.add_linear_indices((&weights, groups), row, &mut constant, &mut values);
            let asked = (index.clone(), weights.order());
            let predictions = predictions[at * outputs..][..outputs].to_vec();
            let answer =
                Interactions::new(asked, Arc::clone(&coalitions), values, self.base().to_vec(), predictions);
            let answer = match weights.has_own_constant() {
                true => answer.with_constant(constant),
                false => answer,
            };
            Ok(answer.finite()?)
        };
        rows.iter().enumerate().map(answer).collect()
    }

    /// Adds the indices of the intercept and the linear part of the machine, whose game is additive.
    fn add_linear_indices(
        &self,
        (weights, groups): (&IndexWeights, Option<&Partition>),
        row: &[f64],
        constant: &mut [f64],
        values: &mut [f64],
    ) {
        let (machine, outputs) = (&*self.machine, self.summands.outputs);
        let of_player = weights.moment(1, 0, 0);
        let (of_empty, of_change) = match weights.has_own_constant() {
            true => (weights.moment(0, 0, 0), weights.moment(0, 1, 0)),
            false => (0.0, 0.0),
        };
        for (constant, intercept) in constant.iter_mut().zip(&machine.intercept) {
            *constant += of_empty * intercept;
        }
        for (feature, linear) in machine.weights.chunks_exact(outputs).enumerate() {
            let player = groups.map_or(feature, |groups| groups.group_of(feature));
            let difference = row[feature] - self.means[feature];
            for (output, weight) in linear.iter().enumerate() {
                // The coalitions of one player come first.
                values[player * outputs + output] += of_player * weight * difference;
                constant[output] += weight * (of_empty * self.means[feature] + of_change * difference);
            }
        }
    }
}

/// Returns all coalitions of 1 to `order` players, by size, then in lexicographic order.
fn coalitions(players: usize, order: usize, outputs: usize) -> Result<Coalitions, ValueError> {
    let sizes = 1..=order.min(players);
    let count = sizes.clone().fold(0, |count: usize, size| count.saturating_add(binomial(players, size)));
    if count.saturating_mul(outputs) > MAX_INTERACTIONS {
        return Err(ValueError::TooManyInteractions { players, order, outputs, max: MAX_INTERACTIONS });
    }
    let mut coalitions = Coalitions::with_capacity(players, count);
    for size in sizes {
        let mut members: Vec<usize> = (0..size).collect();
        loop {
            coalitions.push_members(members.iter().copied());
            if !advance(&mut members, players) {
                break;
            }
        }
    }
    Ok(coalitions)
}

/// The sums that add up to the index of each coalition.
struct Gathered {
    /// The terms of all coalitions: a coefficient, and the index of a sum. Those of coalition `at` are
    /// `terms[starts[at]..starts[at + 1]]`. The empty coalition comes first.
    terms: Vec<(f64, usize)>,
    starts: Vec<usize>,
    outputs: usize,
}

impl Gathered {
    /// Returns the number of bytes that [`new`](Self::new) allocates.
    fn bytes(players: usize, parts: &[Vec<Part>]) -> u128 {
        let parts =
            parts.iter().enumerate().flat_map(|(size, parts)| parts.iter().map(move |part| (size, part)));
        let bytes = parts.map(|(size, part)| {
            let members = size + part.more;
            memory::product([binomial(players, members), binomial(members, size), 32])
        });
        bytes.fold(0, u128::saturating_add)
    }

    fn new(coalitions: &Coalitions, parts: &[Vec<Part>], outputs: usize) -> Self {
        let has_derivatives = parts.iter().flatten().any(|part| part.more > 0);
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        all.extend(coalitions.iter().map(|coalition| coalition.members().collect()));
        // The positions of the first coalition of each size.
        let mut firsts = vec![0; parts.len()];
        (0..all.len()).rev().for_each(|at| firsts[all[at].len()] = at);
        let mut terms: Vec<Vec<(f64, usize)>> = vec![Vec::new(); all.len()];
        let place_of: HashMap<&[usize], usize> = match has_derivatives {
            true => all.iter().enumerate().map(|(place, members)| (members.as_slice(), place)).collect(),
            false => HashMap::new(),
        };
        for (at, members) in all.iter().enumerate() {
            // The sum of each coalition is added to the indices of its subsets of `size` members.
            for (size, parts) in parts.iter().enumerate() {
                for part in parts.iter().filter(|part| size + part.more == members.len()) {
                    let sum = part.first + at - firsts[members.len()];
                    if part.more == 0 {
                        terms[at].push((part.coefficient, sum));
                        continue;
                    }
                    each_subset(members, size, &mut |subset| {
                        if let Some(&place) = place_of.get(subset) {
                            terms[place].push((part.coefficient, sum));
                        }
                    });
                }
            }
        }
        let mut starts = vec![0];
        starts.extend(terms.iter().scan(0, |end, terms| {
            *end += terms.len();
            Some(*end)
        }));
        Self { terms: terms.concat(), starts, outputs }
    }

    /// Returns the index of the empty coalition, and the indices of all others, from the sums of a row.
    fn of_row(&self, sums: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut all = vec![0.0; (self.starts.len() - 1) * self.outputs];
        for (index, range) in all.chunks_exact_mut(self.outputs).zip(self.starts.windows(2)) {
            for &(coefficient, sum) in &self.terms[range[0]..range[1]] {
                let sums = &sums[sum * self.outputs..][..self.outputs];
                index.iter_mut().zip(sums).for_each(|(index, sum)| *index += coefficient * sum);
            }
        }
        let values = all.split_off(self.outputs);
        (all, values)
    }
}

/// Calls `visit` with each subset of these members that has `size` members.
fn each_subset(members: &[usize], size: usize, visit: &mut dyn FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..size).collect();
    let mut subset = vec![0; size];
    loop {
        subset.iter_mut().zip(&chosen).for_each(|(member, &at)| *member = members[at]);
        visit(&subset);
        if !advance(&mut chosen, members.len()) {
            return;
        }
    }
}
