//! Compares the models of the shared data pack with their ground truth, if the pack is available.
//!
//! The ground truth was computed in f64 from the definitions by other programs: `*_brute_force` by
//! enumerating all coalitions, all other values as sums over leaves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use apportion_games::{Background, Coalitions, Game, MarginalGame, Partition, Rows};
use apportion_trees::{
    Attributions, Diagonal, Ensemble, Exact, MarginalTreeExplainer, PathDependentGame,
    PathDependentTreeExplainer,
};
use apportion_values::{CoalitionalValue, Semivalue, Value as Kind, enumerate};
use serde_json::Value;

use crate::common::case::matrix;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// Reads a table with a header; empty cells are missing.
fn read_csv(path: &Path) -> Vec<HashMap<String, f64>> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').map(|name| name.trim_matches('"')).collect();
    let row = |line: &str| {
        let cells = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN));
        names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    lines.map(row).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().unwrap().iter()
}

fn floats(value: &Value) -> Vec<f64> {
    list(value).map(|number| number.as_f64().unwrap_or(f64::NAN)).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    list(value).map(|index| index.as_u64().unwrap() as usize).collect()
}

fn names(value: &Value) -> Vec<String> {
    list(value).map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Asserts that two numbers differ by at most `tolerance` times `scale`.
fn assert_close(got: f64, truth: f64, scale: f64, tolerance: f64, what: &str) {
    assert!((got - truth).abs() <= tolerance * scale, "{what}: {got} != {truth} (scale {scale})");
}

/// A model with its ground truth.
struct Pack {
    what: String,
    truth: Value,
    ensemble: Ensemble,
    names: Vec<String>,
    data: Vec<HashMap<String, f64>>,
}

impl Pack {
    /// Reads a model; `None` if its ground truth or the model with this extension does not exist.
    fn read(name: &str, extension: Option<&str>) -> Option<Self> {
        let bytes = std::fs::read(shared().join("truth").join(format!("{name}.json"))).ok()?;
        let mut truth: Value = serde_json::from_slice(&bytes).unwrap();
        let mut path = shared().join("models").join(truth["model_file"].as_str().unwrap());
        extension.into_iter().for_each(|extension| path = path.with_extension(extension));
        if !path.exists() {
            return None;
        }
        let ensemble =
            Ensemble::from_path(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let data = read_csv(&shared().join("data").join(truth["data"].as_str().unwrap()));
        // Convert the names of margins and values in other libraries to the common names.
        for case in truth["cases"].as_array_mut().unwrap() {
            if case["margin"].is_null() {
                case["margin"] = case["prediction"].take();
            }
            for library in ["shapley_lightgbm", "shapley_catboost"] {
                if let Some(values) = case.get("path_dependent").and_then(|game| game.get(library)).cloned() {
                    case["path_dependent"]["shapley"] = values;
                }
            }
        }
        let names = match truth.get("features") {
            Some(features) => names(features),
            None => ensemble.feature_names().map(<[String]>::to_vec).unwrap_or_else(|| {
                let mut all = vec![String::new(); ensemble.feature_count()];
                for (group, of_group) in list(&truth["partition"]).zip(list(&truth["partition_features"])) {
                    indices(group)
                        .into_iter()
                        .zip(names(of_group))
                        .for_each(|(number, name)| all[number] = name);
                }
                all
            }),
        };
        assert_eq!(names.len(), ensemble.feature_count(), "{name}");
        Some(Self { what: format!("{name}, {}", path.display()), truth, ensemble, names, data })
    }

    fn row(&self, index: usize) -> Vec<f64> {
        self.names.iter().map(|name| self.data[index][name]).collect()
    }

    fn cases(&self) -> impl Iterator<Item = &Value> + Clone {
        list(&self.truth["cases"])
    }

    fn baseline(&self) -> Vec<f64> {
        floats(&self.truth["baseline"])
    }

    fn background(&self) -> Vec<f64> {
        indices(&self.truth["background"]).into_iter().flat_map(|index| self.row(index)).collect()
    }

    /// Compares results with the ground truth of one game, and returns the number of compared numbers.
    fn compare(&self, game: &str, tolerance: f64, answer: impl Fn(&Kind, Rows<'_>) -> Attributions) -> usize {
        let mut compared = 0;
        for case in self.cases().filter(|case| !case[game].is_null()) {
            let what = format!("{}, {game}, row {}", self.what, case["row"]);
            let output = case["output"].as_u64().unwrap_or(0) as usize;
            let (margin, base) = (case["margin"].as_f64().unwrap(), case[game]["base"].as_f64().unwrap());
            for (value, key) in [(Semivalue::Shapley, "shapley"), (Semivalue::Banzhaf, "banzhaf")] {
                let row = floats(&case["x"]);
                let got = answer(&value.clone().into(), Rows::new(&row, row.len()));
                let scale = margin.abs().max(base.abs());
                assert_close(got.predictions[output], margin, margin.abs(), tolerance, &what);
                assert_close(got.base[output], base, scale, tolerance, &what);
                let got: Vec<f64> = got.values.iter().skip(output).step_by(got.base.len()).copied().collect();
                for key in [key.to_owned(), format!("{key}_brute_force")] {
                    if case[game][&key].is_null() {
                        continue;
                    }
                    let truth = floats(&case[game][&key]);
                    assert_eq!(got.len(), truth.len(), "{what}");
                    let scale = truth.iter().fold(scale, |scale, value| scale.max(value.abs()));
                    for (feature, (got, truth)) in got.iter().zip(truth).enumerate() {
                        assert_close(
                            *got,
                            truth,
                            scale,
                            tolerance,
                            &format!("{what}, {key}, feature {feature}"),
                        );
                        compared += 1;
                    }
                }
                if value.is_efficient() {
                    assert_close(
                        got.iter().sum::<f64>() + base,
                        margin,
                        scale,
                        tolerance,
                        &format!("{what}, sum"),
                    );
                }
            }
        }
        compared
    }

    fn compare_tree_explainer(&self, game: &str, tolerance: f64, tree_explainer: &dyn Exact) -> usize {
        self.compare(game, tolerance, |value, row| tree_explainer.values_of(value, row).unwrap())
    }

    fn compare_marginal(&self, game: &str, tolerance: f64, background: &[f64]) -> usize {
        let rows = Rows::new(background, self.names.len());
        let tree_explainer = MarginalTreeExplainer::new(&self.ensemble, rows, None).unwrap();
        self.compare_tree_explainer(game, tolerance, &tree_explainer)
    }

    /// Compares the game of a case with the table of the values of all its coalitions, if there is one.
    fn compare_table(&self, case: &Value, table: &Value, game: &impl Game) {
        if table.is_null() {
            return;
        }
        let batch = Coalitions::from_masks(game.players(), 0..1 << game.players());
        let mut values = vec![0.0; batch.len() * game.outputs()];
        game.values(&batch, &mut values).unwrap();
        let output = case["output"].as_u64().unwrap_or(0) as usize;
        let got = values.iter().skip(output).step_by(game.outputs());
        for (mask, (got, truth)) in got.zip(floats(table)).enumerate() {
            assert_close(
                *got,
                truth,
                truth.abs().max(1.0),
                1e-12,
                &format!("{}, coalition {mask:b}", self.what),
            );
        }
    }

    /// Compares the interactions of one row in a game with second differences of the game.
    fn compare_pairs(&self, row: &[f64], game: &impl Game, tree_explainer: &dyn Exact) {
        let players: Vec<usize> = (0..game.players()).collect();
        let mut worths = vec![0.0; game.outputs() << players.len()];
        game.values(&Coalitions::from_masks(players.len(), 0..1 << players.len()), &mut worths).unwrap();
        let scale = worths.iter().fold(0.0_f64, |scale, worth| scale.max(worth.abs()));
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            let expected = matrix(&value, Diagonal::Value, &players, players.len(), game);
            let rows = Rows::new(row, players.len());
            let got =
                tree_explainer.interactions_of(&value.clone().into(), Diagonal::Value, rows).unwrap().values;
            for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
                assert_close(
                    *got,
                    expected,
                    scale,
                    1e-12,
                    &format!("{}, {value}: number {index}", self.what),
                );
            }
        }
    }
}

fn check_xgboost(pack: &Pack) -> usize {
    let (n, ensemble) = (pack.names.len(), &pack.ensemble);
    assert_eq!(ensemble.output_count() as u64, pack.truth["outputs"].as_u64().unwrap(), "{}", pack.what);
    for (margin, truth) in ensemble.base_margins().iter().zip(floats(&pack.truth["base_margin"])) {
        assert_close(*margin, truth, truth.abs().max(1.0), 1e-14, &pack.what);
    }
    for case in pack.cases() {
        let own = pack.row(case["row"].as_u64().unwrap() as usize);
        let same = |(own, listed): (&f64, f64)| *own == listed || own.is_nan() && listed.is_nan();
        assert!(own.iter().zip(floats(&case["x"])).all(same), "{}: the data file has another row", pack.what);
    }
    let (baseline, background) = (pack.baseline(), pack.background());
    let mut compared = pack.compare_marginal("interventional_mean", 1e-12, &baseline)
        + pack.compare_marginal("interventional_background", 1e-12, &background);
    let path_dependent = PathDependentTreeExplainer::new(ensemble).unwrap();
    compared += pack.compare_tree_explainer("path_dependent", 1e-12, &path_dependent);
    if n > 12 {
        return compared;
    }
    for case in pack.cases() {
        let game = PathDependentGame::new(ensemble, &floats(&case["x"])).unwrap();
        pack.compare_table(case, &case["path_dependent"]["game"], &game);
    }
    compared += pack.compare("path_dependent", 1e-12, |value, row| {
        let Kind::Semivalue(value) = value else { panic!("semivalues alone") };
        enumerate(&PathDependentGame::new(ensemble, row.row(0)).unwrap(), value.clone()).unwrap()
    });
    let row = floats(&pack.truth["cases"][0]["x"]);
    pack.compare_pairs(&row, &PathDependentGame::new(ensemble, &row).unwrap(), &path_dependent);
    // Limit the background rows, so that the test does not take too long.
    let background = &background[..background.len().min(20 * n)];
    if !background.is_empty() {
        let background = Background::rows(background, n).unwrap();
        let tree_explainer = MarginalTreeExplainer::new(ensemble, background.as_rows(), None).unwrap();
        pack.compare_pairs(&row, &MarginalGame::new(ensemble, &row, &background).unwrap(), &tree_explainer);
    }
    compared
}

#[test]
fn every_model_of_xgboost_agrees_with_its_ground_truth() {
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
            let compared = Pack::read(name, Some(extension)).map_or(0, |pack| check_xgboost(&pack));
            assert!(compared > 0 || extension == "ubj", "{name}: nothing was compared");
            models += usize::from(compared > 0);
        }
    }
    assert!(models > 0, "the data pack exists, but contains no XGBoost models");
}

#[test]
fn values_of_features_in_groups_agree_with_their_ground_truth() {
    let mut compared = 0;
    for name in ["adult", "california", "diabetes"] {
        let Some(pack) = Pack::read(&format!("{name}_xgb_groups"), None) else { continue };
        let n = pack.names.len();
        let groups = Partition::new(n, list(&pack.truth["partition"]).map(indices).collect()).unwrap();
        for case in pack.cases() {
            let background = match case["game"] == "interventional_mean" {
                true => Background::baseline(pack.baseline()).unwrap(),
                false => Background::rows(pack.background(), n).unwrap(),
            };
            let explicand = pack.row(case["row"].as_u64().unwrap() as usize);
            let game = MarginalGame::new(&pack.ensemble, &explicand, &background).unwrap();
            let tree_explainer =
                MarginalTreeExplainer::new(&pack.ensemble, background.as_rows(), None).unwrap();
            let end = |key: &str| case[key].as_f64().unwrap().abs();
            let scale = end("v_full").max(end("v_empty"));
            for (key, value) in [
                ("owen", Kind::owen(groups.clone())),
                ("banzhaf_owen", Kind::Coalitional(CoalitionalValue::banzhaf_owen(), groups.clone())),
                ("two_step_shapley", Kind::two_step(groups.clone())),
                ("quotient_shapley", Kind::quotient(Semivalue::Shapley, groups.clone())),
                ("quotient_banzhaf", Kind::quotient(Semivalue::Banzhaf, groups.clone())),
            ] {
                let truth = floats(&case[key]);
                let by_tree_explainer =
                    tree_explainer.values_of(&value, Rows::new(&explicand, n)).unwrap().values;
                for (way, got) in [
                    ("enumeration", value.enumerate(&game).unwrap().values),
                    ("tree explainer", by_tree_explainer),
                ] {
                    assert_eq!(got.len(), truth.len());
                    for (got, &truth) in got.iter().zip(&truth) {
                        assert_close(*got, truth, scale, 1e-13, &format!("{name}, {key}, {way}"));
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 0 || !shared().join("truth").exists(), "the data pack exists, but contains no groups");
}

/// Tests models of LightGBM (numeric splits, 226 categorical ones, missing values) and CatBoost, with the
/// path-dependent values of these libraries. Also tests a forest and a boosting model of scikit-learn as
/// ONNX, which does not store cover.
#[test]
fn models_of_other_libraries_agree_with_their_ground_truth() {
    for (name, tolerance, least, has_covers) in [
        ("california_lgbm", 1e-12, 8 * 5 * 5, true),
        ("bank_missing_lgbm", 1e-12, 16 * 5 * 5, true),
        ("california_catboost", 1e-9, 50, true),
        ("diabetes_random_forest", 1e-12, 2 * 5 * 4 * 10, false),
        ("diabetes_gradient_boosting", 1e-12, 2 * 5 * 4 * 10, false),
    ] {
        let Some(pack) = Pack::read(name, None) else { continue };
        if name.contains("lgbm") {
            assert_eq!(pack.ensemble.feature_names().unwrap(), pack.names);
        }
        let n = pack.names.len();
        let mut compared = 0;
        for (game, background) in
            [("interventional_baseline", pack.baseline()), ("interventional_background", pack.background())]
        {
            compared += pack.compare_marginal(game, tolerance, &background);
            let background = Background::rows(background, n).unwrap();
            for case in pack.cases() {
                let game_of_row =
                    MarginalGame::new(&pack.ensemble, &floats(&case["x"]), &background).unwrap();
                pack.compare_table(case, &case[game]["game"], &game_of_row);
            }
        }
        match PathDependentTreeExplainer::new(&pack.ensemble) {
            Ok(tree_explainer) => {
                compared += pack.compare_tree_explainer("path_dependent", tolerance, &tree_explainer)
            }
            Err(_) => assert!(!has_covers, "{name} has covers"),
        }
        assert!(compared >= least, "{name}: {compared}");
    }
}
