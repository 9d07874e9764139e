//! Tests moments, size distributions and quadrature rules of semivalues against each other and their
//! definitions.

use apportion_values::{Rule, Semivalue};

fn all() -> Vec<Semivalue> {
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.01).unwrap(),
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::weighted_banzhaf(0.999).unwrap(),
        Semivalue::beta_shapley(1.0, 1.0).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::beta_shapley(1.0, 16.0).unwrap(),
        Semivalue::beta_shapley(0.5, 0.5).unwrap(),
        Semivalue::beta_shapley(0.01, 300.0).unwrap(),
        Semivalue::mixture(&[0.0, 0.2, 0.7, 1.0], &[0.1, 0.4, 0.3, 0.2]).unwrap(),
    ]
}

#[test]
fn size_distributions_sum_to_one_for_any_number_of_players() {
    for value in all() {
        for players in [1, 2, 3, 10, 64, 101, 1000, 10_000] {
            let distribution = value.size_distribution(players);
            let total: f64 = distribution.iter().sum();
            assert!((total - 1.0).abs() < 1e-12, "{value}, {players} players: {total}");
            assert!(
                distribution.iter().all(|weight| (0.0..=1.0).contains(weight))
                    && distribution.len() == players
            );
        }
    }
}

#[test]
fn coefficients_times_binomials_are_the_size_distribution() {
    for value in all() {
        for players in [1, 2, 7, 30] {
            let mut choose = 1.0;
            for (size, distribution) in value.size_distribution(players).into_iter().enumerate() {
                let got = choose * value.coefficient(players, size);
                assert!(
                    (got - distribution).abs() <= 1e-13 * distribution,
                    "{value}, {size} of {players}: {got} != {distribution}"
                );
                choose = choose * (players - 1 - size) as f64 / (size + 1) as f64;
            }
        }
    }
}

#[test]
fn moments_and_their_logarithms_agree_where_both_are_finite() {
    for value in all() {
        for (a, b) in [(0, 0), (1, 0), (3, 4), (50, 2), (300, 299)] {
            let (moment, ln) = (value.moment(a, b), value.ln_moment(a, b));
            let close = (moment.ln() - ln).abs() < 1e-10 * ln.abs().max(1.0);
            assert!(close || (moment < 1e-300 && ln < -690.0), "{value} M({a}, {b}): {moment} {ln}");
        }
    }
}

#[test]
fn a_further_player_is_present_or_not() {
    for value in all() {
        for (a, b) in [(0, 0), (2, 5), (17, 3)] {
            let (whole, parts) = (value.moment(a, b), value.moment(a + 1, b) + value.moment(a, b + 1));
            assert!((whole - parts).abs() <= 1e-14 * whole, "{value} M({a}, {b})");
        }
    }
}

#[test]
fn coefficients_are_finite_and_positive_logarithms_for_thousands_of_players() {
    for value in all() {
        for size in [0, 1, 999, 1000, 1999] {
            let ln = value.ln_moment(size, 1999 - size);
            assert!(ln < 1e-9 && !ln.is_nan(), "{value} {size}: {ln}");
        }
    }
}

#[test]
fn rules_give_the_moments_up_to_their_degree() {
    for value in all() {
        for degree in [0, 1, 2, 3, 7, 8, 15, 40, 91, 199] {
            let rule = value.rule(degree).unwrap();
            assert!(rule.len() <= degree / 2 + 1);
            for a in (0..=degree).step_by(1 + degree / 7) {
                for b in [0, (degree - a) / 2, degree - a] {
                    let (got, want) = (integrate(&rule, a, b), value.moment(a, b));
                    let close = (got - want).abs() < 1e-14 * want.max(0.1);
                    assert!(close, "{value} M({a}, {b}): {got} {want}");
                }
            }
        }
    }
}

fn integrate(rule: &Rule, a: usize, b: usize) -> f64 {
    let powers = rule.presence().iter().zip(rule.absence()).map(|(t, u)| t.powi(a as i32) * u.powi(b as i32));
    powers.zip(rule.weights()).map(|(power, weight)| power * weight).sum()
}

#[test]
fn beta_with_both_parameters_one_is_shapley_and_a_mixture_of_one_atom_weighted_banzhaf() {
    let beta = Semivalue::beta_shapley(1.0, 1.0).unwrap();
    let (atom, banzhaf) = (Semivalue::mixture(&[0.5], &[1.0]).unwrap(), Semivalue::Banzhaf);
    for (a, b) in [(0, 0), (3, 1), (10, 12)] {
        assert!((beta.moment(a, b) / Semivalue::Shapley.moment(a, b) - 1.0).abs() < 1e-13);
        assert_eq!(atom.moment(a, b), banzhaf.moment(a, b));
    }
    assert_eq!(beta.simplified(), Semivalue::Shapley);
    assert_eq!(Semivalue::weighted_banzhaf(0.5).unwrap().simplified(), Semivalue::Banzhaf);
    assert_eq!(atom.simplified(), atom);
    assert!(beta.is_efficient() && !Semivalue::beta_shapley(2.0, 1.0).unwrap().is_efficient());
}

#[test]
fn weights_by_size_are_what_they_were_given_as() {
    for value in all() {
        for players in [1, 2, 5, 12] {
            let weights: Vec<f64> = (0..players).map(|size| value.coefficient(players, size)).collect();
            let by_size = Semivalue::from_size_weights(&weights).unwrap();
            let by_distribution =
                Semivalue::from_size_distribution(&value.size_distribution(players)).unwrap();
            for a in 0..players {
                for b in 0..players - a {
                    let want = value.moment(a, b);
                    for got in [by_size.moment(a, b), by_distribution.moment(a, b)] {
                        let close = (got - want).abs() <= 1e-12 * want + 1e-300;
                        assert!(close, "{value} M({a}, {b}) {got} {want}");
                    }
                }
            }
            for fewer in 1..=players {
                let distributions =
                    (by_distribution.size_distribution(fewer), value.size_distribution(fewer));
                assert!(
                    distributions
                        .0
                        .iter()
                        .zip(&distributions.1)
                        .all(|(got, want)| (got - want).abs() < 1e-13)
                );
            }
        }
    }
}

#[test]
fn weights_by_size_of_a_thousand_players_are_refused_for_other_games() {
    let value = Semivalue::from_size_distribution(&vec![1e-3; 1000]).unwrap();
    assert!((value.moment(3, 4) / Semivalue::Shapley.moment(3, 4) - 1.0).abs() < 1e-12);
    assert!(value.check_players(1000).is_ok());
    let message = value.check_players(999).unwrap_err().to_string();
    assert!(message.contains("1000") && message.contains("999"), "{message}");
    assert!(value.without_null_players(999).check_players(999).is_ok());
}

#[test]
fn densities_are_mixing_measures() {
    // 6 t (1 − t) is the density of Beta(2, 2).
    let value = Semivalue::mixing_density(|t| 6.0 * t * (1.0 - t), 12).unwrap();
    let beta = Semivalue::beta_shapley(2.0, 2.0).unwrap();
    for size in 0..20 {
        let (got, want) = (value.coefficient(20, size), beta.coefficient(20, size));
        assert!((got / want - 1.0).abs() < 1e-12, "{size}: {got} {want}");
    }
}

#[test]
fn what_is_no_semivalue_is_refused_with_what_is_wanted() {
    let refused = [
        (Semivalue::weighted_banzhaf(0.0), "between 0 and 1"),
        (Semivalue::weighted_banzhaf(1.0), "between 0 and 1"),
        (Semivalue::weighted_banzhaf(f64::NAN), "between 0 and 1"),
        (Semivalue::beta_shapley(0.0, 1.0), "positive"),
        (Semivalue::beta_shapley(1.0, -2.0), "positive"),
        (Semivalue::beta_shapley(1.0, f64::INFINITY), "positive"),
        (Semivalue::beta_shapley(1e308, 1e308), "1e-100 to 1e100"),
        (Semivalue::beta_shapley(1e-300, 1.0), "1e-300"),
        (Semivalue::from_size_weights(&[]), "there are no weights"),
        (Semivalue::from_size_weights(&[0.5, -0.5, 1.5]), "size 1"),
        (Semivalue::from_size_weights(&[0.5, 0.5, 0.5]), "sum to 2"),
        (Semivalue::from_size_distribution(&[0.5, 0.4]), "0.9"),
        (Semivalue::from_size_distribution(&[0.5, f64::NAN]), "size 1"),
        (Semivalue::mixture(&[0.5], &[]), "1 point and 0 weights"),
        (Semivalue::mixture(&[], &[]), "0 points"),
        (Semivalue::mixture(&[1.5], &[1.0]), "1.5"),
        (Semivalue::mixture(&[0.5, 0.6], &[1.5, -0.5]), "-0.5"),
        (Semivalue::mixture(&[0.5, 0.6], &[0.5, 0.4]), "0.9"),
        (Semivalue::mixing_density(|_| 2.0, 5), "integral"),
        (Semivalue::mixing_density(|t| 2.0 * t - 0.5, 5), "negative"),
    ];
    for (position, (result, expected)) in refused.into_iter().enumerate() {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(expected), "{position}: {message}");
    }
}

#[test]
fn weights_by_size_serve_where_the_number_of_coalitions_overflows() {
    // C(1030, 515) exceeds the range of f64, and every coalition has the weight 2^−1030 in the Banzhaf value.
    let by_size = Semivalue::from_size_weights(&[2f64.powi(-1030); 1031]).unwrap();
    let (got, expected) = (by_size.size_distribution(1031), Semivalue::Banzhaf.size_distribution(1031));
    for (size, (got, expected)) in got.iter().zip(&expected).enumerate() {
        assert!((got - expected).abs() <= 1e-9 * expected, "{size}: {got} {expected}");
    }
}
