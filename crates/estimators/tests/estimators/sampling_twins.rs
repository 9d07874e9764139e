//! Compares Monte Carlo and maximum sample reuse with their formulas, evaluated directly, player by player,
//! on the same sampled coalitions.

use apportion_estimators::{
    Adjustment, Draws, Estimator, FullBudget, MaximumSampleReuse, MonteCarlo, SamplingDistribution, exact,
};
use apportion_games::{Coalition, SumOfUnanimity};
use apportion_samplers::{Pairing, Sample, Sampler, SizeDistribution, WithReplacement, ln_choose};
use apportion_values::Semivalue;

use crate::common::{DRAWS, assert_close, mean_and_error, random_table, sample, semivalues, solve, value_of};

#[test]
fn monte_carlo_is_the_mean_of_marginal_contributions_to_coalitions_of_a_players_own() {
    for (players, budget) in [(2, 30), (5, 80), (8, 131), (65, 400), (130, 600)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        for value in semivalues(players) {
            let distribution = SizeDistribution::custom(&value.size_distribution(players)).unwrap();
            let draws = (budget - 2) / 2;
            let sample =
                WithReplacement { distribution, pairing: Pairing::Unpaired }.sample(draws, 8).unwrap();
            // The game has one output, so each contribution is a vector of one number.
            let mut contributions = vec![Vec::new(); players];
            for (index, others) in sample.coalitions().iter().enumerate() {
                let player = index % players;
                let without = Coalition::from_members(
                    players,
                    others.members().map(|other| if other < player { other } else { other + 1 }),
                );
                let mut with = without.clone();
                with.insert(player);
                contributions[player].push(vec![value_of(&game, &with)[0] - value_of(&game, &without)[0]]);
            }
            let counts: Vec<usize> = contributions.iter().map(Vec::len).collect();
            let expected: Vec<usize> =
                (0..players).map(|i| draws / players + usize::from(i < draws % players)).collect();
            assert_eq!(counts, expected);
            let (means, errors): (Vec<f64>, Vec<f64>) =
                contributions.iter().map(|own| mean_and_error(own, 0)).unzip();
            let estimator = MonteCarlo::new(value).with_full_budget(FullBudget::Sample);
            let got = estimator.estimate_seen(&game, budget, 8).unwrap();
            assert_close(&got.values, &means, 1e-12, "mean");
            if let Some(got) = got.std_errors {
                assert_close(&got, &errors, 1e-12, "standard error");
            }
        }
    }
}

/// Returns an unpaired sample, with each coalition once.
fn merged(draws: Draws, distribution: SizeDistribution, rows: usize, seed: u64) -> Sample {
    let sample = sample(draws, distribution, Pairing::Unpaired, rows, seed);
    if draws == Draws::WithReplacement { sample.merge_duplicates() } else { sample }
}

/// Returns v(S) − v(∅) for the drawn coalitions, where v(∅) is 3.
fn gains(game: &SumOfUnanimity, sample: &Sample) -> Vec<f64> {
    sample.coalitions().iter().map(|row| value_of(game, &row.to_coalition())[0] - 3.0).collect()
}

/// Returns the weights r_in and r_out for coalitions of `size`, up to a common factor, computed directly from
/// moments and binomial coefficients.
fn importance(value: &Semivalue, sample: &Sample, size: usize) -> [f64; 2] {
    let players = sample.coalitions().players();
    let ln_probability = sample.strata()[size].expected.ln() - ln_choose(players, size);
    [
        (value.ln_moment(size - 1, players - size) - ln_probability).exp(),
        (value.ln_moment(size, players - 1 - size) - ln_probability).exp(),
    ]
}

/// Returns, for each player, the difference between the means of `targets` with and without the player, and
/// its standard error. The standard error is computed by the delta method, from the deviations of
/// `for_errors` from these means.
fn reuse(
    value: &Semivalue,
    sample: &Sample,
    targets: &[f64],
    for_errors: &[f64],
    ends: [f64; 2],
) -> (Vec<f64>, Vec<f64>) {
    let coalitions = sample.coalitions();
    let players = coalitions.players();
    let distribution = value.size_distribution(players);
    let end_weights = [distribution[players - 1], distribution[0]];
    let times = |row: usize| sample.multiplicities().map_or(1.0, |times| f64::from(times[row]));
    let (mut estimates, mut errors) = (Vec::new(), Vec::new());
    for player in 0..players {
        let (mut sums, mut weights) = ([0.0; 2], [0.0; 2]);
        for (row, coalition) in coalitions.iter().enumerate() {
            let side = usize::from(!coalition.contains(player));
            let weight = importance(value, sample, coalition.size())[side] * times(row);
            sums[side] += weight * targets[row];
            weights[side] += weight;
        }
        let mean = |side: usize| if weights[side] > 0.0 { sums[side] / weights[side] } else { ends[side] };
        let part = |side: usize| end_weights[side] * ends[side] + (1.0 - end_weights[side]) * mean(side);
        estimates.push(part(0) - part(1));
        let variance: f64 = coalitions
            .iter()
            .enumerate()
            .map(|(row, coalition)| {
                let side = usize::from(!coalition.contains(player));
                let weight = importance(value, sample, coalition.size())[side] / weights[side];
                let free = match sample.multiplicities() {
                    Some(_) => 1.0,
                    None => 1.0 - sample.strata()[coalition.size()].inclusion_probability().min(1.0),
                };
                let deviation = (1.0 - end_weights[side]) * weight * (for_errors[row] - mean(side));
                times(row) * free * deviation * deviation
            })
            .sum();
        errors.push(variance.sqrt());
    }
    (estimates, errors)
}

/// Returns q(s) ∝ √(P(s−1)²/s + P(s)²/(n−s)), or 1/√(s(n−s)).
fn distribution(value: &Semivalue, distribution: SamplingDistribution, players: usize) -> SizeDistribution {
    let joined = value.size_distribution(players);
    let n = players as f64;
    let weights: Vec<f64> = (0..=players)
        .map(|size| match (size, distribution) {
            (0, _) => 0.0,
            (size, _) if size == players => 0.0,
            (size, SamplingDistribution::OneSampleFitsAll) => 1.0 / (size as f64 * (n - size as f64)).sqrt(),
            (size, _) => {
                (joined[size - 1].powi(2) / size as f64 + joined[size].powi(2) / (n - size as f64)).sqrt()
            }
        })
        .collect();
    SizeDistribution::custom(&weights).expect("some weight is positive")
}

#[test]
fn msr_is_the_difference_of_two_weighted_means() {
    for (players, budget) in [(3, 40), (5, 24), (8, 60), (9, 101), (65, 300), (130, 400)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6).with_constant(3.0).unwrap();
        let ends =
            [Coalition::full(players), Coalition::empty(players)].map(|end| value_of(&game, &end)[0] - 3.0);
        for value in semivalues(players) {
            for sampling in [SamplingDistribution::Specific, SamplingDistribution::OneSampleFitsAll] {
                for draws in DRAWS {
                    let sample = merged(draws, distribution(&value, sampling, players), budget - 2, 3);
                    let gains = gains(&game, &sample);
                    let (want, errors) = reuse(&value, &sample, &gains, &gains, ends);
                    let estimator = MaximumSampleReuse::new(value.clone())
                        .with_distribution(sampling)
                        .with_draws(draws)
                        .with_full_budget(FullBudget::Sample);
                    let got = estimator.estimate_seen(&game, budget, 3).unwrap();
                    let what = format!("{} {value} {players}", estimator.name());
                    assert_close(&got.values, &want, 1e-9, &what);
                    if let Some(got) = got.std_errors {
                        assert_close(&got, &errors, 1e-7, &what);
                    }
                }
            }
        }
    }
}

/// Returns the inverse of a symmetric positive definite matrix, column by column.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let with = |column: usize, row: usize| [&matrix[row][..], &[f64::from(u8::from(row == column))]].concat();
    let rows = 0..matrix.len();
    rows.clone().map(|column| solve(rows.clone().map(|row| with(column, row)).collect())).collect()
}

#[test]
fn adjusted_msr_is_msr_of_what_a_regression_leaves_and_its_coefficients() {
    for (players, budget) in [(5, 30), (8, 100), (9, 151), (20, 200), (65, 400)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6).with_constant(3.0).unwrap();
        let total = value_of(&game, &Coalition::full(players))[0] - 3.0;
        for value in semivalues(players) {
            for draws in DRAWS {
                let sample = merged(
                    draws,
                    distribution(&value, SamplingDistribution::Specific, players),
                    budget - 2,
                    3,
                );
                let rows: Vec<Vec<f64>> = sample
                    .coalitions()
                    .iter()
                    .map(|row| {
                        let bits = (0..players).map(|player| f64::from(u8::from(row.contains(player))));
                        bits.chain([1.0]).collect()
                    })
                    .collect();
                let gains = gains(&game, &sample);
                let times = |row: usize| sample.multiplicities().map_or(1.0, |times| f64::from(times[row]));
                let weights: Vec<f64> = (0..rows.len())
                    .map(|row| {
                        let size = sample.coalitions().sizes()[row] as usize;
                        let [with, without] = importance(&value, &sample, size);
                        let free = match draws {
                            Draws::WithReplacement => 1.0,
                            _ => 1.0 - sample.strata()[size].inclusion_probability().min(1.0),
                        };
                        let (s, others) = (size as f64, (players - size) as f64);
                        times(row) * free * (with.powi(2) * s + without.powi(2) * others)
                    })
                    .collect();
                let mut gram = vec![vec![0.0; players + 1]; players + 1];
                let mut right = vec![0.0; players + 1];
                for ((row, weight), gain) in rows.iter().zip(&weights).zip(&gains) {
                    for i in 0..=players {
                        right[i] += weight * row[i] * gain;
                        (0..=players).for_each(|j| gram[i][j] += weight * row[i] * row[j]);
                    }
                }
                let estimator = MaximumSampleReuse::adjusted(value.clone())
                    .with_draws(draws)
                    .with_full_budget(FullBudget::Sample);
                let got = estimator.estimate_seen(&game, budget, 3).unwrap();
                // If few sizes are drawn at random, the coefficients may be undetermined, and this reference
                // does not compute the minimum-norm solution.
                if got.diagnostics.rank != Some(players) || got.diagnostics.condition_number.unwrap() > 1e6 {
                    continue;
                }
                let inverse = inverse(&gram);
                let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
                let fit: Vec<f64> = inverse.iter().map(|row| dot(row, &right)).collect();
                let residuals: Vec<f64> =
                    rows.iter().zip(&gains).map(|(row, gain)| gain - dot(row, &fit)).collect();
                let unbent: Vec<f64> = rows
                    .iter()
                    .enumerate()
                    .map(|(index, row)| {
                        let image: Vec<f64> = inverse.iter().map(|line| dot(line, row)).collect();
                        residuals[index] / (1.0 - weights[index] / times(index) * dot(row, &image)).sqrt()
                    })
                    .collect();
                let ends = [total - fit.iter().sum::<f64>(), -fit[players]];
                let (rest, errors) = reuse(&value, &sample, &residuals, &unbent, ends);
                let want: Vec<f64> = rest.iter().zip(&fit).map(|(rest, fit)| rest + fit).collect();
                let what = format!("{} {value} {players}", estimator.name());
                assert_close(&got.values, &want, 1e-8, &what);
                if let Some(got) = got.std_errors {
                    assert_close(&got, &errors, 1e-7, &what);
                }
            }
        }
    }
}

#[test]
fn without_replacement_a_complete_sample_is_exact() {
    for players in [2, 3, 6, 9] {
        let game = random_table(players, 2, 5.0, 3);
        for value in semivalues(players) {
            let truth = exact(&game, value.clone()).unwrap();
            for adjustment in [Adjustment::None, Adjustment::Linear] {
                let estimator = MaximumSampleReuse::new(value.clone())
                    .with_draws(Draws::FixedCounts)
                    .with_adjustment(adjustment)
                    .with_full_budget(FullBudget::Sample);
                let got = estimator.estimate(&game, 1 << players, 1).unwrap();
                assert_close(&got.values, &truth.values, 1e-12, &format!("{value}, {players} players"));
                assert!(got.diagnostics.exact);
                assert_eq!(got.std_errors, Some(vec![0.0; 2 * players]));
            }
        }
    }
}
