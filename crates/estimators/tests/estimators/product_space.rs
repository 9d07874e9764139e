//! Compares Monte Carlo on the product space, separately for each player and by nested permutations, with the
//! definitions.

use std::collections::BTreeSet;

use apportion_estimators::{Estimator, EstimatorError, NestedPermutation, PlayerEstimates, ProductSpace};
use apportion_games::{
    Additive, Background, BatchModel, BoxError, Coalitions, Counted, Game, GameError, MarginalGame,
    Partition, Purpose, Rows, SumOfUnanimity, TabulatedGame, batch_model, stream,
};
use apportion_values::{CoalitionalValue, LinearValue, Semivalue, SolutionConcept, Value, ValueError};
use rand::RngExt;

use crate::common::{
    assert_unbiased, in_groups, largest_difference, of_terms_in_groups, on_threads, squared_error, values,
};

const PLAYERS: usize = 5;

fn partition() -> Partition {
    Partition::new(PLAYERS, vec![vec![3, 0], vec![1], vec![2, 4]]).unwrap()
}

/// Returns at least one value of each kind, including a linear value that is not a semivalue and has
/// coalitions of weight zero.
fn concepts() -> Vec<SolutionConcept> {
    let named = [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "owen",
        "banzhaf-owen",
        "symmetric-coalitional-banzhaf",
        "coalitional=beta=4,1/weighted-banzhaf=0.2",
        "two-step",
        "quotient-shapley",
        "quotient-banzhaf",
        "quotient-beta=1,3",
    ];
    let mut all: Vec<SolutionConcept> = named.iter().map(|name| name.parse().unwrap()).collect();
    all.push(LinearValue::weighted_shapley(&[1.0, 2.0, 3.0, 0.5, 1.5]).unwrap().into());
    let odd = |_: usize, coalition: apportion_games::CoalitionView<'_>| {
        let size = coalition.size();
        if size % 2 == 1 && !(size == 3 && coalition.contains(0)) { 1.0 } else { 0.0 }
    };
    let total = |player: usize| -> f64 {
        let mut others = Coalitions::new(PLAYERS);
        (0..1u64 << PLAYERS)
            .filter(|mask| mask >> player & 1 == 0)
            .for_each(|mask| others.push_words(&[mask]));
        others.iter().map(|coalition| odd(player, coalition)).sum()
    };
    let value =
        LinearValue::from_weights(PLAYERS, |player, coalition| odd(player, coalition) / total(player));
    all.push(value.unwrap().into());
    all
}

type TwoOutputs = BatchModel<fn(Rows<'_>) -> Result<Vec<f64>, BoxError>>;

fn two_outputs() -> TwoOutputs {
    let predict: fn(Rows<'_>) -> Result<Vec<f64>, BoxError> = |rows| {
        let outputs =
            |x: &[f64]| [x[0] * x[1] - x[2].powi(2) + x[3] * x[4] * x[1], (x[0] * x[2]).sin() + x[4]];
        Ok(rows.iter().flat_map(outputs).collect())
    };
    batch_model(2, predict)
}

const EXPLICAND: [f64; PLAYERS] = [0.3, -1.2, 2.0, 0.7, 1.1];

fn background(rows: usize) -> Background {
    let values: Vec<f64> = (0..PLAYERS * rows).map(|i| (i as f64 * 1.7).cos()).collect();
    Background::rows(values, PLAYERS).unwrap()
}

fn weighted_background(rows: usize) -> Background {
    let weights: Vec<f64> = (0..rows).map(|row| (row % 4) as f64).collect();
    background(rows).with_weights(&weights).unwrap()
}

/// Returns the linear forms that a draw for a player may evaluate, each with its probability. They follow
/// from the definitions, by enumerating all coalitions.
fn draws_of(concept: &SolutionConcept, partition: &Partition, player: usize) -> Vec<(f64, Vec<(u64, f64)>)> {
    let group = partition.group_of(player);
    let mask = |players: &[usize]| players.iter().fold(0u64, |mask, player| mask | 1 << player);
    let unions = |groups: &[usize]| groups.iter().fold(0u64, |union, &g| union | mask(partition.group(g)));
    let contribution =
        |before: u64, joining: u64, share: f64| vec![(before | joining, share), (before, -share)];
    // Returns all subsets of `among`, each with its probability under a semivalue.
    let subsets = |among: Vec<usize>, value: &Semivalue| -> Vec<(f64, Vec<usize>)> {
        let players = among.len() + 1;
        (0u64..1 << among.len())
            .map(|bits| {
                let members: Vec<usize> =
                    (0..among.len()).filter(|at| bits >> at & 1 == 1).map(|at| among[at]).collect();
                (value.coefficient(players, members.len()), members)
            })
            .collect()
    };
    let without =
        |all: Vec<usize>, one: usize| all.into_iter().filter(|&other| other != one).collect::<Vec<_>>();
    let other_groups = |group| without((0..partition.len()).collect(), group);
    let fellows = without(partition.group(group).to_vec(), player);
    match concept {
        SolutionConcept::Semivalue(value) => {
            subsets(without((0..partition.players()).collect(), player), value)
                .into_iter()
                .map(|(p, members)| (p, contribution(mask(&members), 1 << player, 1.0)))
                .collect()
        }
        SolutionConcept::Linear(value) => {
            let distribution = value.distribution(player);
            let rows = distribution.coalitions().iter().zip(distribution.probabilities());
            rows.map(|(row, &p)| (p, contribution(row.words()[0], 1 << player, 1.0))).collect()
        }
        SolutionConcept::Coalitional(CoalitionalValue { between, within }) => {
            let mut draws = Vec::new();
            for (p, groups) in subsets(other_groups(group), between) {
                for (q, members) in subsets(fellows.clone(), within) {
                    draws.push((p * q, contribution(unions(&groups) | mask(&members), 1 << player, 1.0)));
                }
            }
            draws
        }
        SolutionConcept::TwoStepShapley => {
            let whole = mask(partition.group(group));
            let share = 1.0 / partition.group(group).len() as f64;
            let mut draws = Vec::new();
            for (p, groups) in subsets(other_groups(group), &Semivalue::Shapley) {
                for (q, members) in subsets(fellows.clone(), &Semivalue::Shapley) {
                    let mut form = contribution(mask(&members), 1 << player, 1.0);
                    form.extend(contribution(unions(&groups), whole, share));
                    form.extend(contribution(0, whole, -share));
                    draws.push((p * q, form));
                }
            }
            draws
        }
        // For quotient values, `player` is the index of a group.
        SolutionConcept::Quotient(value) => subsets(other_groups(player), value)
            .into_iter()
            .map(|(p, groups)| (p, contribution(unions(&groups), mask(partition.group(player)), 1.0)))
            .collect(),
        other => unreachable!("{other}"),
    }
}

/// Returns v_b(S) for all scenarios b and masks S: one table per scenario, masks × outputs.
fn tables(game: &dyn Game) -> Vec<Vec<f64>> {
    let count = 1usize << game.players();
    let ask = |scenario| {
        let mut values = vec![0.0; count * game.outputs()];
        let batch = Coalitions::from_masks(game.players(), 0..count as u64);
        game.values_in_scenarios(&batch, &vec![scenario; count], &mut values).unwrap();
        values
    };
    (0..game.scenarios()).map(ask).collect()
}

/// Returns the mean, the variance and the fourth central moment of a player's contribution Δ.
fn moments_of(game: &dyn Game, concept: &SolutionConcept, player: usize, output: usize) -> [f64; 3] {
    let (tables, outputs) = (tables(game), game.outputs());
    let mut distribution = Vec::new();
    for (p, form) in draws_of(concept, &partition(), player) {
        for (scenario, table) in tables.iter().enumerate() {
            let weight =
                game.scenario_weights().map_or(1.0 / tables.len() as f64, |weights| weights[scenario]);
            let delta: f64 =
                form.iter().map(|(mask, sign)| sign * table[*mask as usize * outputs + output]).sum();
            distribution.push((p * weight, delta));
        }
    }
    let mean: f64 = distribution.iter().map(|(p, x)| p * x).sum();
    let central = |power| distribution.iter().map(|(p, x)| p * (x - mean).powi(power)).sum();
    [mean, central(2), central(4)]
}

#[test]
fn contributions_have_the_mean_and_the_variance_of_their_law() {
    const DRAWS: usize = 20_000;
    let (model, background) = (two_outputs(), weighted_background(7));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    for concept in concepts() {
        let truth = in_groups(&concept, &partition()).enumerate(&game).unwrap().values;
        let players: Vec<usize> = (0..truth.len() / 2).collect();
        let estimator = ProductSpace::grouped(concept.clone(), partition());
        let got = estimator.estimate_players(&game, &players, DRAWS, 5).unwrap();
        for (at, error) in got.std_errors.unwrap().into_iter().enumerate() {
            let [mean, variance, fourth] = moments_of(&game, &concept, at / 2, at % 2);
            assert!((mean - truth[at]).abs() < 1e-12, "{concept:?}: the definition itself");
            let bound = 4.5 * (variance / DRAWS as f64).sqrt();
            if variance == 0.0 {
                // Rare contributions may have been missed, so allow half a draw of typical size.
                assert!(error < 2.0 / DRAWS as f64, "{concept:?} {at}: {error}");
                continue;
            }
            // The bounds are four and a half standard errors of the mean, and of the sample variance.
            assert!(
                (got.values[at] - mean).abs() <= bound,
                "{concept:?} {at}: {} for {mean}",
                got.values[at]
            );
            let bound = 4.5 * ((fourth - variance * variance) / DRAWS as f64).sqrt();
            let sample = error * error * DRAWS as f64;
            assert!((sample - variance).abs() <= bound, "{concept:?} {at}: variance {sample} for {variance}");
        }
    }
}

fn nested(concept: &SolutionConcept, partition: &Partition) -> Vec<NestedPermutation> {
    match NestedPermutation::grouped(concept.clone(), partition.clone()) {
        Ok(antithetic) => vec![antithetic.clone().keep_sampling(), antithetic.plain().keep_sampling()],
        Err(EstimatorError::OtherValue { .. }) => Vec::new(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn means_over_200_repetitions_are_the_truth_for_every_value_and_player() {
    let (model, backgrounds) = (two_outputs(), [background(9), weighted_background(7)]);
    let table: Vec<f64> = (0..2 << PLAYERS).map(|i| 3.0 + (i as f64 * 2.3).sin()).collect();
    let textbook = TabulatedGame::new(table, 2).unwrap();
    let mut games: Vec<Box<dyn Game + '_>> = vec![Box::new(&textbook)];
    for background in &backgrounds {
        games.push(Box::new(MarginalGame::new(&model, &EXPLICAND, background).unwrap()));
    }
    for game in &games {
        for concept in concepts() {
            let truth = in_groups(&concept, &partition()).enumerate(game).unwrap().values;
            let independent = ProductSpace::grouped(concept.clone(), partition()).keep_sampling();
            assert_unbiased(&values(&independent, game, 34, 200), &truth, 4.0, &format!("{concept:?}"));
            for nested in nested(&concept, &partition()) {
                // Use fewer draws than scenarios, and more draws than scenarios.
                for draws in [5, 30] {
                    let run = |seed| nested.estimate_draws(game, draws, seed).unwrap().values;
                    let runs: Vec<Vec<f64>> = (0..200).map(run).collect();
                    assert_unbiased(&runs, &truth, 4.0, &format!("{} {concept:?} {draws}", nested.name()));
                }
            }
        }
    }
}

/// A distribution on a few rows, from which backgrounds of 40 rows are drawn, and the game under this
/// distribution.
struct Population {
    distribution: Background,
}

impl Population {
    fn new() -> Self {
        Self { distribution: weighted_background(9) }
    }

    /// Draws a sample from the distribution, optionally with weights that are unrelated to the rows.
    fn sample(&self, seed: u64, is_weighted: bool) -> Background {
        let mut rng = stream(seed, Purpose::Experiment, 1);
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for _ in 0..40 {
            let mut rest: f64 = rng.random();
            let drawn = self.distribution.weights().iter().position(|weight| {
                rest -= weight;
                rest < 0.0
            });
            rows.extend_from_slice(self.distribution.row(drawn.unwrap_or(1)));
            weights.push(if is_weighted { rng.random_range(0.2..1.0) } else { 1.0 });
        }
        Background::rows(rows, PLAYERS).unwrap().with_weights(&weights).unwrap()
    }
}

#[test]
fn true_marginal_estimates_are_unbiased_for_the_law_of_the_background_and_their_errors_cover_its_draw() {
    let (model, population) = (two_outputs(), Population::new());
    let of_distribution = MarginalGame::new(&model, &EXPLICAND, &population.distribution).unwrap();
    for is_weighted in [false, true] {
        for concept in concepts() {
            let truth = in_groups(&concept, &partition()).enumerate(&of_distribution).unwrap().values;
            let estimator = ProductSpace::grouped(concept.clone(), partition()).true_marginal();
            let run = |seed| {
                let background = population.sample(seed, is_weighted);
                let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
                estimator.estimate(&game, 40, seed).unwrap()
            };
            let runs: Vec<_> = (0..200).map(run).collect();
            let (values, errors): (Vec<_>, Vec<_>) =
                runs.into_iter().map(|run| (run.values, run.std_errors.unwrap())).unzip();
            assert_unbiased(&values, &truth, 4.0, &format!("{concept:?}"));
            // Squared standard errors estimate the variances of the estimates over backgrounds. Both have
            // about 12% noise here.
            let squared: f64 =
                values.iter().flatten().zip(truth.iter().cycle()).map(|(a, b)| (a - b).powi(2)).sum();
            let claimed: f64 = errors.iter().flatten().map(|error| error * error).sum();
            assert!((squared / claimed - 1.0).abs() < 0.3, "{concept:?}: {squared} for {claimed}");
        }
    }
}

/// Returns the fraction of 95% intervals that cover the truth, over all players and seeds. Exact estimates
/// are skipped.
fn coverage(truth: &[f64], runs: impl Iterator<Item = PlayerEstimates>) -> f64 {
    let (mut inside, mut all) = (0.0, 0.0);
    for run in runs {
        for ((value, error), truth) in run.values.iter().zip(run.std_errors.unwrap()).zip(truth) {
            // Players whose draws are all equal have a standard error for unseen events, although there are
            // none here.
            if (value - truth).abs() < 1e-12 {
                continue;
            }
            inside += f64::from(u8::from((value - truth).abs() <= 1.96 * error));
            all += 1.0;
        }
    }
    inside / all
}

#[test]
fn intervals_of_95_percent_hold_the_truth_about_as_often_as_they_say() {
    let (model, background) = (two_outputs(), background(30));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    for name in ["shapley", "owen", "two-step", "quotient-shapley", "banzhaf-owen"] {
        let concept: SolutionConcept = name.parse().unwrap();
        let truth = in_groups(&concept, &partition()).enumerate(&game).unwrap().values;
        let players: Vec<usize> = (0..truth.len() / 2).collect();
        let independent = ProductSpace::grouped(concept.clone(), partition());
        let runs = |seed| independent.estimate_players(&game, &players, 400, seed).unwrap();
        let share = coverage(&truth, (0..400).map(runs));
        assert!((0.93..0.97).contains(&share), "{name}: {share}");
        for nested in nested(&concept, &partition()) {
            // With about two draws per stratum, variances are estimated from few draws.
            for (draws, least) in [(45, 0.91), (400, 0.93)] {
                let run = |seed| nested.estimate_draws(&game, draws, seed).unwrap();
                let share = coverage(&truth, (0..500).map(run));
                assert!((least..0.97).contains(&share), "{} {name} {draws}: {share}", nested.name());
            }
        }
    }
}

/// Returns the two-step Shapley values of a sum of unanimity games. A term's coefficient is divided among the
/// groups that the term intersects, and within each group among all members. If a term lies inside one group,
/// it is divided among the members in the term instead.
fn two_step_of_terms(game: &SumOfUnanimity, partition: &Partition) -> Vec<f64> {
    let mut values = vec![0.0; game.players()];
    for (term, coefficient) in game.terms().iter().zip(game.coefficients()) {
        let touched: BTreeSet<usize> = term.members().map(|member| partition.group_of(member)).collect();
        if touched.len() == 1 {
            term.members().for_each(|member| values[member] += coefficient / term.size() as f64);
            continue;
        }
        for group in touched.iter().map(|&group| partition.group(group)) {
            let share = coefficient / (touched.len() * group.len()) as f64;
            group.iter().for_each(|&member| values[member] += share);
        }
    }
    values
}

/// Returns estimates of all values from `draws` draws, with each of the methods that support them.
fn from_draws(
    concept: &SolutionConcept,
    partition: &Partition,
    game: &dyn Game,
    draws: usize,
    seed: u64,
) -> Vec<PlayerEstimates> {
    let all: Vec<usize> = (0..game.players()).collect();
    let independent = ProductSpace::grouped(concept.clone(), partition.clone());
    let nested = nested(concept, partition);
    let independent = independent.estimate_players(game, &all, draws, seed).unwrap();
    let nested = nested.iter().map(|nested| nested.estimate_draws(game, draws, seed).unwrap());
    std::iter::once(independent).chain(nested).collect()
}

#[test]
fn games_of_many_players_and_structures_of_every_kind_meet_their_closed_forms() {
    for players in [1, 2, 65, 130] {
        let game = SumOfUnanimity::random(players, 2 * players, 3.min(players), 1);
        let mut structures = vec![Partition::singletons(players), Partition::whole(players)];
        if players > 2 {
            // One group has a single member; the other groups get the remaining players in turn.
            let mut groups: Vec<Vec<usize>> =
                (0..6).map(|group| (group..players - 1).step_by(6).collect()).collect();
            groups.push(vec![players - 1]);
            structures.push(Partition::new(players, groups).unwrap());
        }
        for partition in structures {
            let coalitional = |value| of_terms_in_groups(&game, &partition, &value);
            for (name, truth) in [
                ("owen", coalitional(CoalitionalValue::owen())),
                ("banzhaf-owen", coalitional(CoalitionalValue::banzhaf_owen())),
                ("two-step", two_step_of_terms(&game, &partition)),
            ] {
                for got in from_draws(&name.parse().unwrap(), &partition, &game, 200, 2) {
                    for ((value, error), wanted) in got.values.iter().zip(got.std_errors.unwrap()).zip(&truth)
                    {
                        // Rare contributions may have been missed by all draws.
                        let bound = 5.0 * error + 0.1;
                        assert!(
                            (value - wanted).abs() <= bound,
                            "{name} {players}: {value} ± {error} for {wanted}"
                        );
                    }
                    let squared = squared_error(&got.values, &truth);
                    assert!(squared / (players as f64) < 0.01, "{name} {players}: {squared}");
                }
            }
        }
    }
}

#[test]
fn additive_games_are_exact_with_one_draw() {
    for players in [1, 2, 65, 130] {
        let worth: Vec<f64> = (0..players).map(|i| (i as f64 * 0.7).sin()).collect();
        let game = Additive::new(worth.clone()).unwrap();
        let groups = (0..players.min(4)).map(|group| (group..players).step_by(4).collect()).collect();
        let partition = Partition::new(players, groups).unwrap();
        for name in ["shapley", "banzhaf", "owen", "banzhaf-owen", "two-step"] {
            for got in from_draws(&name.parse().unwrap(), &partition, &game, 1, 3) {
                let difference = largest_difference(&got.values, &worth);
                assert!(difference < 1e-13 * players as f64 && got.std_errors.is_none(), "{name}");
            }
        }
    }
}

/// Returns a game whose values add and subtract without rounding.
fn integer_game(players: usize) -> TabulatedGame {
    let mut rng = stream(8, Purpose::Experiment, 0);
    TabulatedGame::from_fn(players, |_| f64::from(rng.random_range(-1_000_000..1_000_000i32))).unwrap()
}

fn orders(groups: usize) -> Vec<Vec<usize>> {
    if groups == 0 {
        return vec![Vec::new()];
    }
    let with_last = |order: Vec<usize>| {
        (0..groups).map(move |at| {
            let mut order = order.clone();
            order.insert(at, groups - 1);
            order
        })
    };
    orders(groups - 1).into_iter().flat_map(with_last).collect()
}

#[test]
fn in_each_draw_a_groups_members_add_up_to_what_the_group_gets_in_one_order_of_the_groups() {
    // The groups have 2 and 4 members, so that two-step values divide without rounding.
    let partition = Partition::new(8, vec![vec![6, 2], vec![0], vec![7, 1, 4, 3], vec![5]]).unwrap();
    let game = integer_game(8);
    let worth = |groups: &[usize]| {
        let members = groups.iter().flat_map(|&group| partition.group(group).to_vec());
        game.value(members.fold(0, |mask, player| mask | 1 << player))[0]
    };
    let walk = |order: &[usize]| {
        let mut gets = vec![0.0; order.len()];
        (0..order.len()).for_each(|at| gets[order[at]] = worth(&order[..=at]) - worth(&order[..at]));
        gets
    };
    let mean = |order: Vec<usize>| -> Vec<f64> {
        let reverse: Vec<usize> = order.iter().rev().copied().collect();
        walk(&order).iter().zip(walk(&reverse)).map(|(a, b)| 0.5 * (a + b)).collect()
    };
    for name in ["owen", "two-step"] {
        let concept: SolutionConcept = name.parse().unwrap();
        let mut met = BTreeSet::new();
        for seed in 0..30 {
            for (antithetic, nested) in [true, false].into_iter().zip(nested(&concept, &partition)) {
                let got = nested.estimate_draws(&game, 1, seed).unwrap().values;
                let sums: Vec<f64> = partition
                    .groups()
                    .iter()
                    .map(|members| members.iter().map(|&player| got[player]).sum())
                    .collect();
                let found = orders(4)
                    .into_iter()
                    .position(|order| if antithetic { mean(order) == sums } else { walk(&order) == sums });
                met.insert((antithetic, found.expect("an order of the groups")));
                assert_eq!(got.iter().sum::<f64>(), worth(&[0, 1, 2, 3]) - worth(&[]));
            }
        }
        assert!(met.len() > 20, "many orders: {}", met.len());
    }
}

#[test]
fn with_two_draws_for_each_scenario_all_players_add_up_to_what_there_is_to_divide() {
    let (model, background) = (two_outputs(), background(11));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    for name in ["shapley", "owen", "two-step"] {
        for nested in nested(&name.parse().unwrap(), &partition()) {
            // The larger budgets cover v(∅), v(N) and at least 22 draws of at most 2m + 2n − 1 = 15
            // evaluations in one of 11 scenarios. A budget of 5 covers at most 5 draws.
            let gap = |budget| nested.estimate(&game, budget, 1).unwrap().efficiency_gap();
            assert!(gap(32) < 1e-13 && gap(41) < 1e-13, "{name}");
            assert!(gap(5) > 1e-3, "{name}");
        }
    }
}

#[test]
fn what_differs_between_scenarios_alone_does_not_disturb_nested_permutations() {
    // The model is linear, so each background row has a different value, for any coalition.
    let model = |row: &[f64]| row[0] - 2.0 * row[1] + row[2] * 3.0 + row[3] - row[4];
    let background = background(25);
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    let truth = Value::owen(partition()).enumerate(&game).unwrap().values;
    let got = nested(&SolutionConcept::owen(), &partition())[0].estimate_draws(&game, 50, 1).unwrap();
    assert!(largest_difference(&got.values, &truth) < 1e-13);
    // The standard error for unseen events assumes one draw in fifty, which is at most as large as the
    // largest values.
    let largest = truth.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    assert!(got.std_errors.unwrap().iter().all(|error| *error <= largest / 50.0));
    let independent = ProductSpace::grouped(SolutionConcept::owen(), partition());
    let errors = independent.estimate_players(&game, &[0, 1], 50, 1).unwrap().std_errors.unwrap();
    assert!(errors.iter().all(|error| *error > 0.05));
}

/// Returns the number of scenario evaluations per draw for all players, as documented.
fn cost(concept: &SolutionConcept, nested: Option<bool>) -> usize {
    // There are five players in groups of 2, 1 and 2.
    match (concept.to_string().as_str(), nested) {
        ("two-step", None) => 2 + 4 * 6,
        (name, None) if name.starts_with("quotient") => 6,
        (_, None) => 10,
        ("quotient-shapley", Some(true)) => 6,
        ("quotient-shapley", Some(false)) => 4,
        // These are the unions of groups, and S_j and the coalitions between it and ∅ for both groups of two.
        ("two-step", Some(true)) => 6 + 2 * 3,
        ("two-step", Some(false)) => 4 + 2 * 2,
        (_, Some(true)) => 10,
        (_, Some(false)) => 6,
    }
}

#[test]
fn budgets_are_met_and_counted_in_evaluations_of_the_whole_game() {
    let model = two_outputs();
    for rows in [1, 3, 20] {
        let background = background(rows);
        let inner = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
        for concept in concepts() {
            let independent = ProductSpace::grouped(concept.clone(), partition()).keep_sampling();
            let mut estimators: Vec<(Box<dyn Estimator>, usize)> =
                vec![(Box::new(independent), cost(&concept, None))];
            for (antithetic, nested) in [true, false].into_iter().zip(nested(&concept, &partition())) {
                // If there is a single scenario, v(∅) and v(N) are already known.
                let known = if rows == 1 { 2 } else { 0 };
                estimators.push((Box::new(nested), cost(&concept, Some(antithetic)) - known));
            }
            for (estimator, cost) in estimators {
                for budget in [40, 57] {
                    let game = Counted::new(&inner);
                    let got = estimator.estimate(&game, budget, 1).unwrap();
                    let draws = (budget - 2) * rows / cost;
                    let what = format!("{} {concept:?} {rows} {budget}", estimator.name());
                    assert_eq!(game.evaluations() as usize, 2 + draws * cost, "{what}");
                    assert_eq!(got.evaluations, 2 + (draws * cost).div_ceil(rows), "{what}");
                    assert!(got.evaluations <= budget && got.distinct_coalitions <= got.evaluations);
                    assert_eq!(got.model_rows, 2 * rows + draws * cost, "{what}");
                    assert_eq!((got.value, got.seed), (concept.clone(), Some(1)));
                }
                let least = 2 + cost.div_ceil(rows);
                assert!(estimator.estimate(&inner, least, 1).is_ok());
                assert!(estimator.minimum_budget(PLAYERS) >= least);
                let refused = estimator.estimate(&inner, least - 1, 1).unwrap_err();
                assert!(
                    matches!(
                        refused,
                        EstimatorError::Budget { actual, min, players: 5, .. }
                            if (actual + 1, min) == (least, least)
                    ),
                    "{refused}"
                );
            }
            let true_marginal = ProductSpace::grouped(concept.clone(), partition()).true_marginal();
            if rows == 1 {
                let refused = true_marginal.estimate(&inner, 1000, 1).unwrap_err();
                assert!(matches!(refused, EstimatorError::OneScenario { .. }), "{refused}");
                continue;
            }
            let (game, least) = (Counted::new(&inner), cost(&concept, None) + 2);
            let got = true_marginal.estimate(&game, 1000, 1).unwrap();
            assert_eq!((got.evaluations, game.evaluations() as usize), (least, 2 + rows * (least - 2)));
            assert_eq!(true_marginal.minimum_budget(PLAYERS), least);
            let refused = true_marginal.estimate(&inner, least - 1, 1).unwrap_err();
            assert!(
                matches!(refused, EstimatorError::Budget { min: said, .. } if said == least),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_budget_that_pays_for_exact_values_gets_them() {
    let (model, background) = (two_outputs(), background(4));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    for concept in concepts() {
        let truth = in_groups(&concept, &partition()).enumerate(&game).unwrap().values;
        let coalitions = in_groups(&concept, &partition()).coalitions(PLAYERS).unwrap();
        let mut estimators: Vec<Box<dyn Estimator>> =
            vec![Box::new(ProductSpace::grouped(concept.clone(), partition()))];
        if let Ok(nested) = NestedPermutation::grouped(concept.clone(), partition()) {
            estimators.push(Box::new(nested));
        }
        for estimator in estimators {
            let counted = Counted::new(&game);
            let got = estimator.estimate(&counted, coalitions, 1).unwrap();
            assert!(got.diagnostics.exact && largest_difference(&got.values, &truth) < 1e-13, "{concept:?}");
            assert_eq!(counted.evaluations() as usize, got.evaluations, "{concept:?}");
            assert!(got.evaluations <= coalitions && got.method == estimator.name());
            if !matches!(concept, SolutionConcept::Linear(_)) {
                assert!(
                    !estimator.estimate(&game, coalitions - 1, 1).unwrap().diagnostics.exact,
                    "{concept:?}"
                );
            }
        }
        let sampled =
            ProductSpace::grouped(concept, partition()).keep_sampling().estimate(&game, 64, 1).unwrap();
        assert!(!sampled.diagnostics.exact);
    }
}

#[test]
fn one_player_gets_all_there_is() {
    let game = Additive::new([7.0]).unwrap();
    for name in ["shapley", "owen", "two-step", "quotient-shapley"] {
        let concept: SolutionConcept = name.parse().unwrap();
        let partition = Partition::whole(1);
        let independent = ProductSpace::grouped(concept.clone(), partition.clone());
        assert_eq!(independent.estimate(&game, 2, 1).unwrap().values, [7.0]);
        assert_eq!(independent.keep_sampling().estimate(&game, 9, 1).unwrap().values, [7.0]);
        for nested in nested(&concept, &partition) {
            assert_eq!(nested.estimate(&game, 2, 1).unwrap().values, [7.0]);
            assert_eq!(nested.estimate_draws(&game, 3, 1).unwrap().scenario_evaluations, 2);
            let refused = nested.estimate(&game, 1, 1).unwrap_err();
            assert!(matches!(refused, EstimatorError::Budget { min: 2, .. }), "{refused}");
        }
    }
}

#[test]
fn a_players_estimate_is_its_own_whoever_else_is_asked_for_and_on_any_number_of_threads() {
    let (model, background) = (two_outputs(), background(13));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    let serial = two_outputs().serial();
    let serial = MarginalGame::new(&serial, &EXPLICAND, &background).unwrap();
    for concept in concepts() {
        let independent = ProductSpace::grouped(concept.clone(), partition()).keep_sampling();
        // There are three blocks for each player.
        let all = independent.estimate_players(&game, &[0, 1, 2], 2500, 4).unwrap();
        for player in [2, 0] {
            let alone = independent.estimate_players(&game, &[player], 2500, 4).unwrap();
            assert_eq!(alone.values, all.values[2 * player..2 * player + 2]);
        }
        let whole = independent.estimate(&game, 300, 4).unwrap();
        let players: Vec<usize> = (0..whole.values.len() / 2).collect();
        let draws = 298 * 13 / cost(&concept, None);
        let same = independent.estimate_players(&game, &players, draws, 4).unwrap();
        assert_eq!((same.values, same.std_errors), (whole.values, whole.std_errors));
        for other in [
            on_threads(1, || independent.estimate_players(&game, &[0, 1, 2], 2500, 4).unwrap()),
            on_threads(3, || independent.estimate_players(&game, &[0, 1, 2], 2500, 4).unwrap()),
            independent.estimate_players(&serial, &[0, 1, 2], 2500, 4).unwrap(),
        ] {
            assert_eq!(other, all, "{concept:?}");
        }
        for nested in nested(&concept, &partition()) {
            let run = |game: &dyn Game| nested.estimate_draws(game, 2500, 4).unwrap();
            let all = run(&game);
            assert_eq!(on_threads(1, || run(&game)), all);
            assert_eq!(on_threads(3, || run(&game)), all);
            assert_eq!(run(&serial), all);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_before_any_work() {
    let game = Counted::new(Additive::new([1.0, 2.0, 3.0]).unwrap());
    let other = Partition::whole(4);
    let fitting = Partition::new(3, vec![vec![0, 1], vec![2]]).unwrap();
    let owen = ProductSpace::grouped(SolutionConcept::owen(), other.clone());
    let message = owen.estimate(&game, 100, 0).unwrap_err().to_string();
    assert!(message.contains('4') && message.contains('3'), "{message}");
    let nested = NestedPermutation::grouped(SolutionConcept::owen(), other).unwrap();
    for refused in
        [nested.estimate(&game, 100, 0).unwrap_err(), nested.estimate_draws(&game, 100, 0).unwrap_err()]
    {
        let EstimatorError::Value(ValueError::Game(error)) = refused else { panic!("{refused}") };
        assert!(matches!(error, GameError::PartitionOfOthers { actual: 4, expected: 3 }), "{error}");
    }
    let refused = ProductSpace::new(SolutionConcept::TwoStepShapley).estimate(&game, 100, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Value(ValueError::NoPartition { .. })), "{refused}");
    let refused = NestedPermutation::new(SolutionConcept::owen()).unwrap_err();
    assert!(matches!(refused, EstimatorError::Value(ValueError::NoPartition { .. })), "{refused}");
    for value in ["banzhaf", "banzhaf-owen", "symmetric-coalitional-banzhaf", "quotient-banzhaf", "beta=2,1"]
    {
        let value: SolutionConcept = value.parse().unwrap();
        let message = NestedPermutation::grouped(value, fitting.clone()).unwrap_err().to_string();
        assert!(message.contains("Owen") && message.contains("product-space"), "{message}");
    }
    let shapley = ProductSpace::new(Semivalue::Shapley);
    let refused = shapley.estimate_players(&game, &[0, 3], 10, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::UnknownPlayer { player: 3, players: 3 }), "{refused}");
    let quotient =
        ProductSpace::grouped("quotient-shapley".parse::<SolutionConcept>().unwrap(), fitting.clone());
    let refused = quotient.estimate_players(&game, &[2], 10, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::UnknownPlayer { player: 2, players: 2 }), "{refused}");
    for draws in [0, usize::MAX] {
        let refused = shapley.estimate_players(&game, &[0], draws, 0).unwrap_err();
        assert!(matches!(refused, EstimatorError::Draws { min: 1, .. }), "{refused}");
        let nested = NestedPermutation::new(Semivalue::Shapley).unwrap();
        let refused = nested.estimate_draws(&game, draws, 0).unwrap_err();
        assert!(matches!(refused, EstimatorError::Draws { min: 1, .. }), "{refused}");
    }
    let refused = shapley.clone().true_marginal().estimate_players(&game, &[0], 2, 0).unwrap_err();
    assert!(refused.to_string().contains("one per scenario"), "{refused}");
    let linear = LinearValue::weighted_shapley(&[1.0, 2.0]).unwrap();
    assert!(ProductSpace::new(linear.clone()).minimum_budget(3) > 0);
    let refused = ProductSpace::new(linear).estimate(&game, 100, 0).unwrap_err();
    assert!(
        matches!(refused, EstimatorError::Value(ValueError::DistributionsForOtherPlayers { .. })),
        "{refused}"
    );
    let by_size = Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap();
    let value = CoalitionalValue { between: Semivalue::Shapley, within: by_size };
    let refused = ProductSpace::grouped(value, fitting).estimate(&game, 100, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Value(ValueError::WeightsForOtherPlayers { .. })), "{refused}");
    assert_eq!(game.evaluations(), 0);
}

#[test]
fn a_model_that_fails_is_an_error_with_its_coalition() {
    let model = |row: &[f64]| if row[2] == 2.0 && row[0] != 0.3 { f64::NAN } else { row[1] };
    let background = background(5);
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    let independent = ProductSpace::grouped(SolutionConcept::owen(), partition());
    for failed in [
        independent.estimate_players(&game, &[1, 2], 5000, 0),
        nested(&SolutionConcept::owen(), &partition())[0].estimate_draws(&game, 5000, 0),
    ] {
        let refused = failed.unwrap_err();
        assert!(matches!(refused, EstimatorError::Game(GameError::NotFinite { .. })), "{refused}");
    }
}

// Results are determined by their seeds: if these numbers change, so does every stored result.
#[test]
fn first_estimates_are_fixed() {
    let (model, background) = (two_outputs(), weighted_background(7));
    let game = MarginalGame::new(&model, &EXPLICAND, &background).unwrap();
    let first = |estimates: PlayerEstimates| (estimates.values[0] * 1e9).round();
    let independent: Vec<f64> = ["shapley", "owen", "two-step", "quotient-banzhaf"]
        .iter()
        .map(|name| ProductSpace::grouped(name.parse::<SolutionConcept>().unwrap(), partition()))
        .map(|estimator| first(estimator.estimate_players(&game, &[2], 100, 42).unwrap()))
        .collect();
    assert_eq!(independent, [-3644543692.0, -3581507764.0, -3600700297.0, -4098915662.0]);
    let walked = ProductSpace::new(Semivalue::Shapley).true_marginal();
    assert_eq!(first(walked.estimate_players(&game, &[2], 7, 42).unwrap()), -3633091548.0);
    let nested: Vec<f64> = ["shapley", "owen", "two-step", "quotient-shapley"]
        .iter()
        .flat_map(|name| nested(&name.parse().unwrap(), &partition()))
        .map(|nested| first(nested.estimate_draws(&game, 100, 42).unwrap()))
        .collect();
    let wanted = [
        [159833603.0, 197536123.0],
        [159833603.0, 202830208.0],
        [48187261.0, 123738063.0],
        [19634026.0, 189665239.0],
    ];
    assert_eq!(nested, wanted.concat());
}
