//! Coalitional values: a regression among the groups, and one for the members of each group.

use apportion_games::{Game, Partition, QuotientGame, TabulatedGame};
use apportion_values::{LeastSquaresForm, MOST_PLAYERS, Semivalue, enumerate};

use super::estimate::{Estimate, Gathered};
use super::members::{KnownQuotient, Members};
use super::parts::{Part, least, split};
use super::seed_of_part;
use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::regression::StandardErrors;

/// The quotient game is tabulated where that takes at most this share of the evaluations ...
const TABLE_SHARE: f64 = 0.5;
/// ... and leaves at least so many for each unknown of the members' regressions.
const LEFT_PER_UNKNOWN: f64 = 3.0;

/// The estimate of a coalitional value for more than one group, of which at least one has several members.
pub(super) struct Coalitional {
    pub(super) between: Semivalue,
    pub(super) within: LeastSquaresForm,
    /// The regression for the values of the groups.
    pub(super) of_groups: Box<dyn Estimator>,
}

/// What each part may spend.
struct Plan {
    /// Whether all unions of groups are asked for.
    tabulates: bool,
    /// Evaluations for the regression of the groups' values; 0 where there is none.
    of_quotient: usize,
    of_members: Vec<usize>,
}

impl Coalitional {
    fn members<'a>(&'a self, partition: &'a Partition) -> Vec<Members<'a>> {
        (0..partition.len())
            .filter(|&group| partition.group(group).len() > 1)
            .map(|group| Members { partition, group, between: &self.between, within: self.within })
            .collect()
    }

    /// Whether the groups' values are among those asked for, or are shared by their members.
    fn needs_quotient(&self, partition: &Partition) -> bool {
        self.within == LeastSquaresForm::SumConstrained
            || partition.groups().iter().any(|group| group.len() == 1)
    }

    /// The regression among the groups, where it is needed, and those of the members.
    fn parts(&self, partition: &Partition, tabulates: bool) -> Vec<Part> {
        let quotient =
            (!tabulates && self.needs_quotient(partition)).then(|| Part::of_players(partition.len()));
        let members = self.members(partition);
        quotient.into_iter().chain(members.iter().map(|members| members.part(tabulates))).collect()
    }

    /// The fewest evaluations besides v(∅) and v(N).
    pub(super) fn least(&self, partition: &Partition) -> usize {
        least(&self.parts(partition, false))
    }

    fn plan(&self, partition: &Partition, total: usize) -> Plan {
        let groups = partition.len();
        let parts = self.parts(partition, false);
        let shares = split(&parts, total);
        let needs_quotient = self.needs_quotient(partition);
        let table = Part::of_players(groups).capacity;
        let of_members = self.parts(partition, true);
        let unknowns: usize = of_members.iter().map(|part| part.unknowns).sum();
        let is_worth_it =
            table <= TABLE_SHARE * total as f64 && total as f64 - table >= LEFT_PER_UNKNOWN * unknowns as f64;
        let is_covered = needs_quotient && shares[0] as f64 == parts[0].capacity;
        if groups <= MOST_PLAYERS && (is_covered || is_worth_it) {
            let of_members = split(&of_members, total - table as usize);
            return Plan { tabulates: true, of_quotient: 0, of_members };
        }
        let (of_quotient, of_members) =
            if needs_quotient { (shares[0], &shares[1..]) } else { (0, &shares[..]) };
        Plan { tabulates: false, of_quotient, of_members: of_members.to_vec() }
    }

    /// The values of all players, from `total` evaluations besides v(∅) and v(N), which `game` remembers.
    pub(super) fn estimate(
        &self,
        game: &dyn Game,
        partition: &Partition,
        total: usize,
        standard_errors: StandardErrors,
        seed: u64,
    ) -> Result<Estimate, EstimatorError> {
        let plan = self.plan(partition, total);
        let quotient_game = QuotientGame::new(game, partition)?;
        let (table, quotient) = if plan.tabulates {
            let table = TabulatedGame::from_game(&quotient_game)?;
            let values = enumerate(&table, self.between.clone())?.values().to_vec();
            (Some(table), Some(Estimate::exact(values)))
        } else if self.needs_quotient(partition) {
            let explanation =
                self.of_groups.estimate(&quotient_game, plan.of_quotient + 2, seed_of_part(seed, 0))?;
            (None, Some(Estimate::from(explanation)))
        } else {
            (None, None)
        };
        let known = table
            .as_ref()
            .zip(quotient.as_ref())
            .map(|(table, quotient)| KnownQuotient { table, values: &quotient.values });

        let mut gathered = Gathered::new(partition.players(), game.outputs());
        if let Some(quotient) = &quotient {
            gathered.note(&quotient.diagnostics);
            for (group, members) in partition.groups().iter().enumerate() {
                if members.len() == 1 || self.within == LeastSquaresForm::SumConstrained {
                    gathered.share(quotient, group, members);
                }
            }
        }
        for (members, evaluations) in self.members(partition).iter().zip(plan.of_members) {
            let seed = seed_of_part(seed, 1 + members.group as u64);
            let estimate = members.estimate(game, known, evaluations, standard_errors, seed)?;
            gathered.note(&estimate.diagnostics);
            gathered.add(&estimate, partition.group(members.group));
        }
        Ok(gathered.finish())
    }
}
