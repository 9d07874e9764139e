//! Monte Carlo and maximum sample reuse written out from their formulas, player by player, on the coalitions that the samplers draw; and
//! what both promise for every semivalue.

use apportion_estimators::{
    Adjustment, Draws, Estimator, FullBudget, MaximumSampleReuse, MonteCarlo, SamplingLaw, exact,
};
use apportion_games::{Coalition, Counted, SumOfUnanimity, TabulatedGame};
use apportion_samplers::{Pairing, Sample, Sampler, SizeLaw, WithReplacement, ln_choose};
use apportion_values::Semivalue;

use crate::common::{
    Coverage, DRAWS, assert_close, mean_and_error, of_terms, random_table, sample, squared_error, value_of,
};

/// One of each kind of semivalue, for games of `players`.
fn values(players: usize) -> Vec<Semivalue> {
    let tilted: Vec<f64> = (1..=players).map(|size| size as f64).collect();
    let total: f64 = tilted.iter().sum();
    let by_size: Vec<f64> = tilted.iter().map(|weight| weight / total).collect();
    [
        Ok(Semivalue::Shapley),
        Ok(Semivalue::Banzhaf),
        Semivalue::weighted_banzhaf(0.2),
        Semivalue::beta_shapley(4.0, 1.0),
        Semivalue::beta_shapley(1.0, 4.0),
        Semivalue::beta_shapley(16.0, 1.0),
        Semivalue::mixture(&[0.1, 0.7], &[0.5, 0.5]),
        Semivalue::by_size_law(&by_size),
    ]
    .map(Result::unwrap)
    .into()
}

#[test]
fn monte_carlo_is_the_mean_of_marginal_contributions_to_coalitions_of_a_players_own() {
    for (players, budget) in [(2, 30), (5, 80), (8, 131), (65, 400), (130, 600)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        for value in values(players) {
            let law = SizeLaw::custom(&value.size_law(players)).unwrap();
            let draws = (budget - 2) / 2;
            let sample = WithReplacement { law, pairing: Pairing::Unpaired }.sample(draws, 8).unwrap();
            let mut contributions = vec![Vec::new(); players];
            for (index, others) in sample.coalitions().iter().enumerate() {
                let player = index % players;
                let without = Coalition::from_members(
                    players,
                    others.members().map(|other| if other < player { other } else { other + 1 }),
                );
                let mut with = without.clone();
                with.insert(player);
                contributions[player].push(value_of(&game, &with)[0] - value_of(&game, &without)[0]);
            }
            let counts: Vec<usize> = contributions.iter().map(Vec::len).collect();
            let wanted: Vec<usize> =
                (0..players).map(|i| draws / players + usize::from(i < draws % players)).collect();
            assert_eq!(counts, wanted);
            let means: Vec<f64> =
                contributions.iter().map(|own| own.iter().sum::<f64>() / own.len() as f64).collect();
            let squares: Vec<f64> = contributions
                .iter()
                .zip(&means)
                .map(|(own, mean)| own.iter().map(|x| (x - mean).powi(2)).sum())
                .collect();
            let errors: Vec<f64> = squares
                .iter()
                .zip(&counts)
                .map(|(squares, &count)| (squares / (count * (count - 1)) as f64).sqrt())
                .collect();
            let estimator = MonteCarlo { full_budget: FullBudget::Sample, ..MonteCarlo::new(value) };
            let got = estimator.estimate_seen(&game, budget, 8).unwrap();
            assert_close(&got.values, &means, 1e-12, "mean");
            if let Some(got) = got.std_errors {
                assert_close(&got, &errors, 1e-12, "standard error");
            }
        }
    }
}

/// One by one, each coalition once.
fn merged(draws: Draws, law: SizeLaw, rows: usize, seed: u64) -> Sample {
    let sample = sample(draws, law, Pairing::Unpaired, rows, seed);
    if draws == Draws::WithReplacement { sample.merge_duplicates() } else { sample }
}

/// The weights r_in and r_out of a size, up to a common factor, from moments and binomials as they stand.
fn importance(value: &Semivalue, sample: &Sample, size: usize) -> [f64; 2] {
    let players = sample.coalitions().players();
    let ln_probability = sample.strata()[size].expected.ln() - ln_choose(players, size);
    [
        (value.ln_moment(size - 1, players - size) - ln_probability).exp(),
        (value.ln_moment(size, players - 1 - size) - ln_probability).exp(),
    ]
}

/// The difference of both means of `targets` for each player, and its standard error by the delta method, from the deviations of
/// `for_errors` from those means.
fn reuse(
    value: &Semivalue,
    sample: &Sample,
    targets: &[f64],
    for_errors: &[f64],
    ends: [f64; 2],
) -> (Vec<f64>, Vec<f64>) {
    let coalitions = sample.coalitions();
    let players = coalitions.players();
    let law = value.size_law(players);
    let end_weights = [law[players - 1], law[0]];
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

/// q(s) ∝ √(P(s−1)²/s + P(s)²/(n−s)), or 1/√(s(n−s)).
fn law(value: &Semivalue, law: SamplingLaw, players: usize) -> SizeLaw {
    let joined = value.size_law(players);
    let n = players as f64;
    let weights: Vec<f64> = (0..=players)
        .map(|size| match (size, law) {
            (0, _) => 0.0,
            (size, _) if size == players => 0.0,
            (size, SamplingLaw::OneSampleFitsAll) => 1.0 / (size as f64 * (n - size as f64)).sqrt(),
            (size, _) => {
                (joined[size - 1].powi(2) / size as f64 + joined[size].powi(2) / (n - size as f64)).sqrt()
            }
        })
        .collect();
    SizeLaw::custom(&weights).expect("some weight is positive")
}

#[test]
fn msr_is_the_difference_of_two_weighted_means() {
    for (players, budget) in [(3, 40), (5, 24), (8, 60), (9, 101), (65, 300), (130, 400)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6).with_constant(3.0).unwrap();
        let ends =
            [Coalition::full(players), Coalition::empty(players)].map(|end| value_of(&game, &end)[0] - 3.0);
        for value in values(players) {
            for sampling in [SamplingLaw::Specific, SamplingLaw::OneSampleFitsAll] {
                for draws in DRAWS {
                    let sample = merged(draws, law(&value, sampling, players), budget - 2, 3);
                    let gains: Vec<f64> = sample
                        .coalitions()
                        .iter()
                        .map(|row| value_of(&game, &row.to_coalition())[0] - 3.0)
                        .collect();
                    let (want, errors) = reuse(&value, &sample, &gains, &gains, ends);
                    let estimator = MaximumSampleReuse {
                        law: sampling,
                        draws,
                        full_budget: FullBudget::Sample,
                        ..MaximumSampleReuse::new(value.clone())
                    };
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

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    for (index, row) in matrix.iter_mut().enumerate() {
        row.extend((0..n).map(|column| f64::from(u8::from(column == index))));
    }
    for pivot in 0..n {
        let scale = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|x| *x /= scale);
        let line = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&line).for_each(|(x, y)| *x -= factor * y);
        }
    }
    matrix.into_iter().map(|row| row[n..].to_vec()).collect()
}

#[test]
fn adjusted_msr_is_msr_of_what_a_regression_leaves_and_its_coefficients() {
    for (players, budget) in [(5, 30), (8, 100), (9, 151), (20, 200), (65, 400)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6).with_constant(3.0).unwrap();
        let total = value_of(&game, &Coalition::full(players))[0] - 3.0;
        for value in values(players) {
            for draws in DRAWS {
                let sample = merged(draws, law(&value, SamplingLaw::Specific, players), budget - 2, 3);
                let rows: Vec<Vec<f64>> = sample
                    .coalitions()
                    .iter()
                    .map(|row| {
                        let bits = (0..players).map(|player| f64::from(u8::from(row.contains(player))));
                        bits.chain([1.0]).collect()
                    })
                    .collect();
                let gains: Vec<f64> = sample
                    .coalitions()
                    .iter()
                    .map(|row| value_of(&game, &row.to_coalition())[0] - 3.0)
                    .collect();
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
                let estimator = MaximumSampleReuse {
                    draws,
                    full_budget: FullBudget::Sample,
                    ..MaximumSampleReuse::adjusted(value.clone())
                };
                let got = estimator.estimate_seen(&game, budget, 3).unwrap();
                // Where few sizes are left to chance the coefficients may be undetermined, and the twin has no minimum norm.
                if got.diagnostics.rank != Some(players) || got.diagnostics.condition_number.unwrap() > 1e6 {
                    continue;
                }
                let inverse = inverse(gram);
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
        for value in values(players) {
            let truth = exact(&game, value.clone()).unwrap();
            for adjustment in [Adjustment::None, Adjustment::Linear] {
                let estimator = MaximumSampleReuse {
                    draws: Draws::FixedCounts,
                    adjustment,
                    full_budget: FullBudget::Sample,
                    ..MaximumSampleReuse::new(value.clone())
                };
                let got = estimator.estimate(&game, 1 << players, 1).unwrap();
                assert_close(&got.values, &truth.values, 1e-12, &format!("{value}, {players} players"));
                assert!(got.diagnostics.exact);
                assert_eq!(got.std_errors, Some(vec![0.0; 2 * players]));
            }
        }
    }
}

/// Every estimator of this file for `value`.
fn estimators(value: &Semivalue) -> Vec<Box<dyn Estimator>> {
    let (plain, adjusted) =
        (MaximumSampleReuse::new(value.clone()), MaximumSampleReuse::adjusted(value.clone()));
    vec![
        Box::new(MonteCarlo::new(value.clone())),
        Box::new(plain.clone()),
        Box::new(MaximumSampleReuse { law: SamplingLaw::OneSampleFitsAll, ..plain.clone() }),
        Box::new(MaximumSampleReuse { draws: Draws::FixedCounts, ..plain }),
        Box::new(MaximumSampleReuse { draws: Draws::WithReplacement, ..adjusted.clone() }),
        Box::new(adjusted),
    ]
}

#[test]
fn every_semivalue_is_met_on_average_up_to_the_noise_of_200_seeds() {
    // Four standard errors, and a twentieth of the noise of one run for the bias of ratios and regressions, which is of order 1/m.
    let game = SumOfUnanimity::random(10, 40, 5, 2);
    for value in values(10) {
        let truth = exact(&game, value.clone()).unwrap().values;
        for estimator in estimators(&value) {
            let runs: Vec<Vec<f64>> =
                (0..200).map(|seed| estimator.estimate(&game, 300, seed).unwrap().values).collect();
            for (player, want) in truth.iter().enumerate() {
                let (mean, error) = mean_and_error(&runs, player);
                let bound = (4.0 + 0.05 * 200f64.sqrt()) * error;
                let name = estimator.name();
                assert!((mean - want).abs() <= bound, "{name} {value} player {player}: {mean} for {want}");
            }
        }
    }
}

#[test]
fn intervals_cover_the_truth_of_every_semivalue() {
    // 95 % intervals over 30 random games of 20 players.
    for value in values(20) {
        for estimator in estimators(&value) {
            let mut coverage = Coverage::default();
            for seed in 0..30 {
                let game = SumOfUnanimity::random(20, 100, 5, seed);
                let got = estimator.estimate(&game, 400, seed).unwrap();
                let Some(errors) = got.std_errors else { continue };
                coverage.add(&got.values, &errors, &of_terms(&game, &value));
            }
            if estimator.name() == "one-sample-fits-all" && coverage.all == 0 {
                // Beta-Shapley(16, 1) looks at few of its coalitions.
                continue;
            }
            let coverage = coverage.share();
            assert!((0.87..=0.98).contains(&coverage), "{} {value}: {coverage}", estimator.name());
        }
    }
}

#[test]
fn a_large_number_in_common_costs_no_digits() {
    let plain = SumOfUnanimity::random(30, 80, 3, 4);
    let raised = plain.clone().with_constant(1e9).unwrap();
    for value in values(30) {
        for estimator in estimators(&value) {
            let [want, got] = [&plain, &raised].map(|game| estimator.estimate_seen(game, 400, 2).unwrap());
            // Values around 1e9 are themselves rounded to 1e-7.
            assert_close(&got.values, &want.values, 1e-5, estimator.name());
            let [want, got] = [want, got].map(|explanation| explanation.std_errors.unwrap_or_default());
            assert_close(&got, &want, 1e-5, estimator.name());
        }
    }
}

#[test]
fn outputs_are_explained_as_if_each_were_alone() {
    let game = random_table(9, 3, 1.0, 8);
    for value in values(9) {
        for estimator in estimators(&value) {
            let together = estimator.estimate_seen(&game, 130, 5).unwrap();
            for output in 0..3 {
                let own: Vec<f64> = game.values_in_order().iter().skip(output).step_by(3).copied().collect();
                let alone = estimator.estimate_seen(&TabulatedGame::new(own, 1).unwrap(), 130, 5).unwrap();
                assert_close(&together.output(output), &alone.values, 1e-11, estimator.name());
                let errors = together
                    .std_errors
                    .as_ref()
                    .map(|errors| -> Vec<f64> { errors.iter().skip(output).step_by(3).copied().collect() });
                assert_close(
                    &errors.unwrap_or_default(),
                    &alone.std_errors.unwrap_or_default(),
                    1e-11,
                    estimator.name(),
                );
            }
        }
    }
}

#[test]
fn several_values_come_from_one_sample() {
    let game = Counted::new(SumOfUnanimity::random(14, 60, 4, 3));
    let values = values(14);
    for law in [SamplingLaw::Specific, SamplingLaw::OneSampleFitsAll] {
        let estimator = MaximumSampleReuse { law, ..MaximumSampleReuse::adjusted(Semivalue::Shapley) };
        let before = game.evaluations();
        let many = estimator.estimate_many(&game, &values, 500, 6).unwrap();
        assert_eq!((game.evaluations() - before) as usize, many[0].evaluations);
        assert!(many[0].evaluations <= 500);
        for (value, explanation) in values.iter().zip(&many) {
            assert_eq!(&explanation.value, value);
            let alone = MaximumSampleReuse { value: value.clone(), ..estimator.clone() };
            let alone = alone.estimate(&game, 500, 6).unwrap();
            if law == SamplingLaw::OneSampleFitsAll {
                assert_eq!(explanation, &alone, "the sample is the same");
            }
            let truth = exact(&game, value.clone()).unwrap().values;
            let norm: f64 = truth.iter().map(|x| x * x).sum();
            let error: f64 = squared_error(&explanation.values, &truth);
            assert!(error < 0.1 * norm, "{law:?} {value}: {error} of {norm}");
        }
    }
    let exactly =
        MaximumSampleReuse::new(Semivalue::Shapley).estimate_many(&game, &values, 1 << 14, 0).unwrap();
    for (value, explanation) in values.iter().zip(exactly) {
        assert_eq!(explanation.values, exact(&game, value.clone()).unwrap().values);
    }
}

#[test]
fn weights_by_size_for_another_number_of_players_are_refused() {
    let value = Semivalue::by_size_law(&[0.25; 4]).unwrap();
    let game = SumOfUnanimity::random(5, 10, 3, 1);
    for estimator in estimators(&value) {
        let refused = estimator.estimate(&game, 20, 1).unwrap_err().to_string();
        assert!(refused.contains('4') && refused.contains('5'), "{}: {refused}", estimator.name());
    }
}

#[test]
fn a_thousand_players_neither_overflow_nor_underflow() {
    let game = SumOfUnanimity::random(1000, 3000, 3, 2);
    let early = Semivalue::beta_shapley(16.0, 1.0).unwrap();
    for value in [Semivalue::Banzhaf, early, Semivalue::mixture(&[0.001, 1.0], &[0.5, 0.5]).unwrap()] {
        let truth: f64 = of_terms(&game, &value).iter().map(|x| x * x).sum();
        for estimator in estimators(&value) {
            let got = estimator.estimate(&game, 2100, 1).unwrap();
            assert!(got.values.iter().all(|value| value.is_finite()), "{} {value}", estimator.name());
            let norm: f64 = got.values.iter().map(|x| x * x).sum();
            // One sample fits all has next to no coalition of the sizes that Banzhaf looks at.
            let most = if estimator.name() == "one-sample-fits-all" { 1e4 } else { 50.0 };
            assert!(norm < most * truth, "{} {value}: {norm} for {truth}", estimator.name());
        }
    }
}

#[test]
fn adjustment_takes_out_most_of_the_noise() {
    for value in values(24) {
        let error = |estimator: &dyn Estimator| -> f64 {
            let of = |seed| {
                let game = SumOfUnanimity::random(24, 100, 3, seed);
                squared_error(&estimator.estimate(&game, 480, seed).unwrap().values, &of_terms(&game, &value))
            };
            (0..10).map(of).sum()
        };
        let adjusted = error(&MaximumSampleReuse::adjusted(value.clone()));
        for other in
            [&MonteCarlo::new(value.clone()) as &dyn Estimator, &MaximumSampleReuse::new(value.clone())]
        {
            let other = error(other);
            assert!(adjusted < 0.6 * other, "{value}: {adjusted}, {other}");
        }
    }
}
