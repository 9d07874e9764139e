//! Monte Carlo and maximum sample reuse written out from their formulas, player by player, on the coalitions that the samplers draw.

use apportion_estimators::{
    Adjustment, Draws, Estimator, FullBudget, MaximumSampleReuse, MonteCarlo, SamplingLaw, exact,
};
use apportion_games::{
    Additive, ClosedForm, Coalition, Coalitions, Counted, Game, Purpose, SumOfUnanimity, TabulatedGame,
    stream,
};
use apportion_samplers::{
    Bernoulli, FixedCounts, Pairing, Sample, Sampler, SizeLaw, WithReplacement, ln_choose,
};
use apportion_values::Semivalue;
use rand::RngExt;

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

fn value_of(game: &dyn Game, coalition: &Coalition) -> Vec<f64> {
    let mut batch = Coalitions::new(game.players());
    batch.push(coalition.view());
    let mut out = vec![0.0; game.outputs()];
    game.values(&batch, &mut out).unwrap();
    out
}

/// Independent uniform values for all coalitions, around a constant.
fn random_table(players: usize, outputs: usize, constant: f64, seed: u64) -> TabulatedGame {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..outputs << players).map(|_| constant + rng.random_range(-1.0..1.0)).collect();
    TabulatedGame::new(values, outputs).unwrap()
}

fn assert_close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "{what}, entry {i}: {g} for {w}");
    }
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
            let errors: Vec<f64> = contributions
                .iter()
                .zip(&means)
                .map(|(own, mean)| {
                    let count = own.len() as f64;
                    (own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0) / count).sqrt()
                })
                .collect();
            let estimator = MonteCarlo { full_budget: FullBudget::Sample, ..MonteCarlo::new(value) };
            let got = estimator.estimate(&game, budget, 8).unwrap();
            assert_close(&got.values, &means, 1e-12, "mean");
            if let Some(got) = got.std_errors {
                assert_close(&got, &errors, 1e-12, "standard error");
            }
        }
    }
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

/// Both means of `targets` for each player, and what is subtracted from another: the estimate, with the variance by the delta method.
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
    SizeLaw::custom(&weights).unwrap()
}

fn draw(draws: Draws, law: SizeLaw, rows: usize, seed: u64) -> Sample {
    let pairing = Pairing::Unpaired;
    match draws {
        Draws::FixedCounts => FixedCounts { law, pairing }.sample(rows, seed).unwrap(),
        Draws::Bernoulli => Bernoulli { law, pairing }.sample(rows, seed).unwrap(),
        Draws::WithReplacement => {
            WithReplacement { law, pairing }.sample(rows, seed).unwrap().merge_duplicates()
        }
    }
}

const DRAWS: [Draws; 3] = [Draws::WithReplacement, Draws::FixedCounts, Draws::Bernoulli];

#[test]
fn msr_is_the_difference_of_two_weighted_means() {
    for (players, budget) in [(3, 40), (5, 24), (8, 60), (9, 101), (65, 300), (130, 400)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6).with_constant(3.0).unwrap();
        let ends =
            [Coalition::full(players), Coalition::empty(players)].map(|end| value_of(&game, &end)[0] - 3.0);
        for value in values(players) {
            for sampling in [SamplingLaw::Specific, SamplingLaw::OneSampleFitsAll] {
                for draws in DRAWS {
                    let sample = draw(draws, law(&value, sampling, players), budget - 2, 3);
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
                    let got = estimator.estimate(&game, budget, 3).unwrap();
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
