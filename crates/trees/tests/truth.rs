//! Every XGBoost model of the shared data pack against its ground truth, where the pack is there.
//!
//! Truth was computed in f64 from the definitions by other programs: `*_brute_force` by enumerating all coalitions, the rest as sums over
//! leaves.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use apportion_games::{Background, Coalitions, Game, MarginalGame, Partition, QuotientGame, Rows};
use apportion_trees::{
    Attributions, Diagonal, Ensemble, Interactions, InterventionalOracle, PathDependentGame,
    PathDependentOracle,
};
use apportion_values::{CoalitionalValue, Semivalue, enumerate, two_step_shapley};
use serde_json::Value;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// A table with a header; empty cells are missing.
fn read_csv(path: &Path) -> Vec<HashMap<String, f64>> {
    let bytes = std::fs::read(path).unwrap();
    let text = if path.extension().is_some_and(|extension| extension == "gz") {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text).unwrap();
        text
    } else {
        String::from_utf8(bytes).unwrap()
    };
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
    lines
        .map(|line| {
            let cells = line
                .split(',')
                .map(|cell| if cell.is_empty() { f64::NAN } else { cell.parse().unwrap_or(f64::NAN) });
            names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
        })
        .collect()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|index| index.as_u64().unwrap() as usize).collect()
}

/// Compares with `tolerance` relative to the largest number in sight.
fn assert_close(got: f64, truth: f64, scale: f64, tolerance: f64, what: &str) {
    assert!((got - truth).abs() <= tolerance * scale, "{what}: {got} != {truth} (scale {scale})");
}

fn check_model(name: &str, file: &str, extension: &str) -> usize {
    let truth: Value =
        serde_json::from_slice(&std::fs::read(shared().join("truth").join(file)).unwrap()).unwrap();
    let model_file = truth["model_file"].as_str().unwrap();
    let path = shared().join("models").join(model_file).with_extension(extension);
    if !path.exists() {
        return 0;
    }
    let ensemble = Ensemble::from_path(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let features: Vec<&str> =
        truth["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let (n, outputs) = (features.len(), truth["outputs"].as_u64().unwrap() as usize);
    assert_eq!((ensemble.feature_count(), ensemble.output_count()), (n, outputs), "{name}");
    for (margin, truth) in ensemble.base_margins().iter().zip(floats(&truth["base_margin"])) {
        assert_close(*margin, truth, truth.abs().max(1.0), 1e-14, name);
    }
    let data = read_csv(&shared().join("data").join(truth["data"].as_str().unwrap()));
    let row = |index: usize| features.iter().map(|name| data[index][*name]).collect::<Vec<f64>>();
    let background: Vec<f64> = indices(&truth["background"]).into_iter().flat_map(row).collect();
    let baseline = floats(&truth["baseline"]);
    for case in truth["cases"].as_array().unwrap() {
        let number = case["row"].as_u64().unwrap() as usize;
        for (own, listed) in row(number).iter().zip(floats(&case["x"])) {
            let same = *own == listed || own.is_nan() && listed.is_nan();
            assert!(same, "{name}, row {number}: the data file has another row");
        }
    }
    let what = format!("{name}.{extension}");
    let mut compared = 0;
    for (game, background) in [("interventional_mean", &baseline), ("interventional_background", &background)]
    {
        let oracle = InterventionalOracle::new(&ensemble, Rows::new(background, n), None).unwrap();
        compared +=
            compare(&what, &truth, game, |value, row| oracle.values(value, Rows::new(row, n)).unwrap());
    }
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    compared += compare(&what, &truth, "path_dependent", |value, row| {
        oracle.values(value, Rows::new(row, n)).unwrap()
    });
    if n <= 12 {
        compared += compare(&what, &truth, "path_dependent", |value, row| {
            let exact = enumerate(&PathDependentGame::new(&ensemble, row).unwrap(), value).unwrap();
            Attributions {
                values: exact.values().to_vec(),
                base: exact.base().to_vec(),
                predictions: exact.full().to_vec(),
            }
        });
        compare_games(&what, &truth, &ensemble);
        compare_interactions(&what, &floats(&truth["cases"][0]["x"]), &background, &ensemble);
    }
    compared
}

/// Compares the answers of an oracle with the truth about one game, to 1e-12 of the largest number in sight; returns how many.
fn compare(
    what: &str,
    truth: &Value,
    game: &str,
    answer: impl Fn(Semivalue, &[f64]) -> Attributions,
) -> usize {
    let mut compared = 0;
    for case in truth["cases"].as_array().unwrap() {
        let what = format!("{what}, {game}, row {}", case["row"]);
        let output = case["output"].as_u64().unwrap_or(0) as usize;
        let margin = case["margin"].as_f64().unwrap();
        let base = case[game]["base"].as_f64().unwrap();
        for (value, key) in [(Semivalue::Shapley, "shapley"), (Semivalue::Banzhaf, "banzhaf")] {
            let got = answer(value.clone(), &floats(&case["x"]));
            let outputs = got.base.len();
            let scale = margin.abs().max(base.abs());
            assert_close(got.predictions[output], margin, margin.abs(), 1e-12, &what);
            assert_close(got.base[output], base, scale, 1e-12, &what);
            let got: Vec<f64> = got.values.iter().skip(output).step_by(outputs).copied().collect();
            for key in [key.to_owned(), format!("{key}_brute_force")] {
                if case[game][&key].is_null() {
                    continue;
                }
                let truth = floats(&case[game][&key]);
                assert_eq!(got.len(), truth.len(), "{what}");
                let scale = truth.iter().fold(scale, |scale, value| scale.max(value.abs()));
                for (feature, (got, truth)) in got.iter().zip(truth).enumerate() {
                    assert_close(*got, truth, scale, 1e-12, &format!("{what}, {key}, feature {feature}"));
                    compared += 1;
                }
            }
            if value.is_efficient() {
                let total: f64 = got.iter().sum();
                assert_close(total + base, margin, scale, 1e-12, &format!("{what}, sum"));
            }
        }
    }
    compared
}

/// Compares the path-dependent game with its table of all coalitions, where there is one.
fn compare_games(what: &str, truth: &Value, ensemble: &Ensemble) {
    for case in truth["cases"].as_array().unwrap() {
        let table = &case["path_dependent"]["game"];
        if table.is_null() {
            continue;
        }
        let game = PathDependentGame::new(ensemble, &floats(&case["x"])).unwrap();
        let batch = Coalitions::from_masks(game.players(), 0..1 << game.players());
        let mut values = vec![0.0; batch.len() * game.outputs()];
        game.values(&batch, &mut values).unwrap();
        let output = case["output"].as_u64().unwrap_or(0) as usize;
        let got = values.iter().skip(output).step_by(game.outputs());
        for (mask, (got, truth)) in got.zip(floats(table)).enumerate() {
            assert_close(*got, truth, truth.abs().max(1.0), 1e-12, &format!("{what}, coalition {mask:b}"));
        }
    }
}

/// Compares the interactions of one row in both games with second differences of the games.
fn compare_interactions(what: &str, row: &[f64], background: &[f64], ensemble: &Ensemble) {
    let n = row.len();
    // As many rows as do not take long.
    let background = &background[..background.len().min(20 * n)];
    if background.is_empty() {
        return;
    }
    let rows = Background::rows(background, n).unwrap();
    let marginal = MarginalGame::new(ensemble, row, &rows).unwrap();
    let path_dependent = PathDependentGame::new(ensemble, row).unwrap();
    let oracle = InterventionalOracle::new(ensemble, Rows::new(background, n), None).unwrap();
    let path_dependent_oracle = PathDependentOracle::new(ensemble).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let explain = |value: Semivalue| oracle.interactions(value, Diagonal::Value, Rows::new(row, n));
        compare_pairs(what, &marginal, &value, &explain(value.clone()).unwrap());
        let explain =
            |value: Semivalue| path_dependent_oracle.interactions(value, Diagonal::Value, Rows::new(row, n));
        compare_pairs(what, &path_dependent, &value, &explain(value.clone()).unwrap());
    }
}

fn compare_pairs(what: &str, game: &impl Game, value: &Semivalue, got: &Interactions) {
    let (n, outputs) = (game.players(), game.outputs());
    let mut worths = vec![0.0; outputs << n];
    game.values(&Coalitions::from_masks(n, 0..1 << n), &mut worths).unwrap();
    let scale = worths.iter().fold(0.0_f64, |scale, worth| scale.max(worth.abs()));
    for (i, j, output) in
        (0..n).flat_map(|i| (0..i).flat_map(move |j| (0..outputs).map(move |output| (i, j, output))))
    {
        let worth = |coalition: usize| worths[coalition * outputs + output];
        let wanted: f64 = (0..1usize << n)
            .filter(|coalition| coalition & (1 << i | 1 << j) == 0)
            .map(|coalition| {
                let size = coalition.count_ones() as usize;
                let (one, other) = (coalition | 1 << i, coalition | 1 << j);
                value.moment(size, n - 2 - size)
                    * (worth(one | other) - worth(one) - worth(other) + worth(coalition))
            })
            .sum();
        for got in [got.values[(i * n + j) * outputs + output], got.values[(j * n + i) * outputs + output]] {
            assert_close(got, wanted, scale, 1e-12, &format!("{what}, {value}: interaction of {i} and {j}"));
        }
    }
}

#[test]
fn every_model_of_the_data_pack_agrees_with_its_ground_truth() {
    if !shared().join("truth").exists() {
        return;
    }
    let mut models = 0;
    for entry in std::fs::read_dir(shared().join("truth")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".json") else { continue };
        if !name.contains("_xgb") || name.ends_with("_groups") {
            continue;
        }
        for extension in ["json", "ubj"] {
            let compared = check_model(name, &file, extension);
            assert!(compared > 0 || extension == "ubj", "{name}: nothing was compared");
            models += usize::from(compared > 0);
        }
    }
    assert!(models > 0, "the data pack is there, but holds no XGBoost models");
    eprintln!("{models} model files");
}

#[test]
fn values_of_features_in_groups_agree_with_their_ground_truth() {
    let mut compared = 0;
    for name in ["adult", "california", "diabetes"] {
        let path = shared().join("truth").join(format!("{name}_xgb_groups.json"));
        let Ok(bytes) = std::fs::read(path) else { continue };
        let truth: Value = serde_json::from_slice(&bytes).unwrap();
        let model = shared().join("models").join(truth["model_file"].as_str().unwrap());
        let ensemble = Ensemble::from_path(model).unwrap();
        let n = ensemble.feature_count();
        let data = read_csv(&shared().join("data").join(truth["data"].as_str().unwrap()));
        let features = truth["partition"].as_array().unwrap().iter().map(indices);
        let partition = Partition::new(n, features.collect()).unwrap();
        let names = ensemble.feature_names().map(<[String]>::to_vec).unwrap_or_else(|| {
            let groups = truth["partition"]
                .as_array()
                .unwrap()
                .iter()
                .zip(truth["partition_features"].as_array().unwrap());
            let mut names = vec![String::new(); n];
            for (numbers, group) in groups {
                for (number, name) in indices(numbers).into_iter().zip(group.as_array().unwrap()) {
                    names[number] = name.as_str().unwrap().to_owned();
                }
            }
            names
        });
        let row = |index: usize| names.iter().map(|name| data[index][name]).collect::<Vec<f64>>();
        for case in truth["cases"].as_array().unwrap() {
            let background = if case["game"] == "interventional_mean" {
                Background::baseline(floats(&truth["baseline"])).unwrap()
            } else {
                Background::rows(
                    indices(&truth["background"]).into_iter().flat_map(row).collect::<Vec<f64>>(),
                    n,
                )
                .unwrap()
            };
            let explicand = row(case["row"].as_u64().unwrap() as usize);
            let game = MarginalGame::new(&ensemble, &explicand, &background).unwrap();
            let quotient = QuotientGame::new(&game, &partition).unwrap();
            let of_groups = |value| enumerate(&quotient, value).unwrap().values().to_vec();
            let of_players = |value: CoalitionalValue| value.enumerate(&game, &partition).unwrap().values;
            let oracle = InterventionalOracle::new(&ensemble, background.as_rows(), None).unwrap();
            let rows = Rows::new(&explicand, n);
            let (owen, banzhaf_owen) = (CoalitionalValue::owen(), CoalitionalValue::banzhaf_owen());
            let by_oracle = |value| oracle.coalitional_values(value, &partition, rows).unwrap().values;
            let of_groups_by_oracle = |value| oracle.quotient_values(value, &partition, rows).unwrap().values;
            let two_steps = [
                two_step_shapley(&game, &partition).unwrap().values,
                oracle.two_step_shapley(&partition, rows).unwrap().values,
            ];
            let quotient = |value: Semivalue| [of_groups(value.clone()), of_groups_by_oracle(value)];
            let scale = case["v_full"].as_f64().unwrap().abs().max(case["v_empty"].as_f64().unwrap().abs());
            for (key, got) in [
                ("owen", [of_players(owen.clone()), by_oracle(&owen)]),
                ("banzhaf_owen", [of_players(banzhaf_owen.clone()), by_oracle(&banzhaf_owen)]),
                ("two_step_shapley", two_steps),
                ("quotient_shapley", quotient(Semivalue::Shapley)),
                ("quotient_banzhaf", quotient(Semivalue::Banzhaf)),
            ] {
                let truth = floats(&case[key]);
                for (way, got) in ["enumeration", "oracle"].iter().zip(got) {
                    assert_eq!(got.len(), truth.len());
                    for (got, &truth) in got.iter().zip(&truth) {
                        assert_close(*got, truth, scale, 1e-13, &format!("{name}, {key}, {way}"));
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 0 || !shared().join("truth").exists(), "the data pack is there, but no groups are");
}

/// Numeric splits, 226 categorical ones, missing values; LightGBM's own values of the path-dependent game.
#[test]
fn lightgbm_models_agree_with_their_ground_truth() {
    for (name, least) in [("california_lgbm", 8 * 5 * 5), ("bank_missing_lgbm", 16 * 5 * 5)] {
        let Ok(bytes) = std::fs::read(shared().join("truth").join(format!("{name}.json"))) else { continue };
        let mut truth: Value = serde_json::from_slice(&bytes).unwrap();
        for case in truth["cases"].as_array_mut().unwrap() {
            case["margin"] = case["prediction"].take();
            case["path_dependent"]["shapley"] = case["path_dependent"]["shapley_lightgbm"].take();
        }
        let ensemble =
            Ensemble::from_path(shared().join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let features: Vec<&str> =
            truth["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(ensemble.feature_names().unwrap(), features);
        let n = features.len();
        let data = read_csv(&shared().join("data").join(truth["data"].as_str().unwrap()));
        let background: Vec<f64> = indices(&truth["background"])
            .into_iter()
            .flat_map(|index| features.iter().map(|name| data[index][*name]).collect::<Vec<f64>>())
            .collect();
        let baseline = floats(&truth["baseline"]);
        let mut compared = 0;
        for (game, background) in
            [("interventional_baseline", &baseline), ("interventional_background", &background)]
        {
            let rows = Rows::new(background, n);
            let oracle = InterventionalOracle::new(&ensemble, rows, None).unwrap();
            compared +=
                compare(name, &truth, game, |value, row| oracle.values(value, Rows::new(row, n)).unwrap());
            for case in truth["cases"].as_array().unwrap() {
                if case[game]["game"].is_null() {
                    continue;
                }
                let background = Background::rows(background.clone(), n).unwrap();
                let explicand = floats(&case["x"]);
                let marginal = MarginalGame::new(&ensemble, &explicand, &background).unwrap();
                let mut values = vec![0.0; 1 << n];
                marginal.values(&Coalitions::from_masks(n, 0..1 << n), &mut values).unwrap();
                for (mask, (got, truth)) in values.iter().zip(floats(&case[game]["game"])).enumerate() {
                    assert_close(
                        *got,
                        truth,
                        truth.abs().max(1.0),
                        1e-12,
                        &format!("{name}, coalition {mask:b}"),
                    );
                }
            }
        }
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        compared += compare(name, &truth, "path_dependent", |value, row| {
            oracle.values(value, Rows::new(row, n)).unwrap()
        });
        assert!(compared >= least, "{name}: {compared}");
    }
}

/// scikit-learn's forest and boosting as ONNX, which has no covers.
#[test]
fn onnx_models_agree_with_their_ground_truth() {
    for name in ["diabetes_random_forest", "diabetes_gradient_boosting"] {
        let Ok(bytes) = std::fs::read(shared().join("truth").join(format!("{name}.json"))) else { continue };
        let mut truth: Value = serde_json::from_slice(&bytes).unwrap();
        for case in truth["cases"].as_array_mut().unwrap() {
            case["margin"] = case["prediction"].take();
        }
        let ensemble =
            Ensemble::from_path(shared().join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let features: Vec<&str> =
            truth["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let n = features.len();
        assert_eq!(ensemble.feature_count(), n);
        let data = read_csv(&shared().join("data").join(truth["data"].as_str().unwrap()));
        let background: Vec<f64> = indices(&truth["background"])
            .into_iter()
            .flat_map(|index| features.iter().map(|name| data[index][*name]).collect::<Vec<f64>>())
            .collect();
        let baseline = floats(&truth["baseline"]);
        let mut compared = 0;
        for (game, background) in
            [("interventional_baseline", &baseline), ("interventional_background", &background)]
        {
            let oracle = InterventionalOracle::new(&ensemble, Rows::new(background, n), None).unwrap();
            compared +=
                compare(name, &truth, game, |value, row| oracle.values(value, Rows::new(row, n)).unwrap());
        }
        // Two games of five rows, two values each as sums and by enumeration.
        assert_eq!(compared, 2 * 5 * 4 * n, "{name}");
        assert!(PathDependentOracle::new(&ensemble).is_err(), "{name} has no covers");
    }
}
