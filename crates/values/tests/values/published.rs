//! Compares interaction indices with published ones. The environment variable `APPORTION_INDICES` names the
//! directory of the published files; without it, the test does nothing. `benches/rivals/indices.py` documents
//! the sources of such files, and creates some.

use std::collections::BTreeMap;
use std::path::Path;

use apportion_games::Coalitions;
use apportion_values::{InteractionIndex, Interactions, MoebiusTransform, enumerate_interactions};

/// A file `NAME_index=INDEX_order=ORDER.json`, which contains the interaction index of each coalition; a
/// coalition is identified by its members.
struct Published {
    name: String,
    index: String,
    order: usize,
    players: usize,
    base: f64,
    values: BTreeMap<Vec<usize>, f64>,
}

fn read(path: &Path) -> Published {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let (name, asked) = stem.split_once("_index=").unwrap();
    let (index, order) = asked.split_once("_order=").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let members = |key: &str| match key {
        "Empty" => Vec::new(),
        _ => key.split(',').map(|member| member.parse().unwrap()).collect(),
    };
    let values = json["data"].as_object().unwrap().iter();
    Published {
        name: name.to_owned(),
        index: index.to_owned(),
        order: order.parse().unwrap(),
        players: json["metadata"]["n_players"].as_u64().unwrap() as usize,
        base: json["metadata"]["baseline_value"].as_f64().unwrap(),
        values: values.map(|(key, value)| (members(key), value.as_f64().unwrap())).collect(),
    }
}

/// Returns the game given by a file of Möbius coefficients.
fn game(published: &Published) -> MoebiusTransform {
    let mut terms = Coalitions::new(published.players);
    let mut coefficients = Vec::new();
    if !published.values.contains_key(&Vec::new()) {
        terms.push_empty();
        coefficients.push(published.base);
    }
    for (members, coefficient) in &published.values {
        terms.push_members(members.iter().copied());
        coefficients.push(*coefficient);
    }
    MoebiusTransform::new(&terms, &coefficients, 1).unwrap()
}

/// Returns the largest difference between the indices in a file and the computed ones.
fn difference(published: &Published, found: &Interactions) -> f64 {
    let halves = found.matrix_of_halves();
    let differences = published.values.iter().map(|(members, expected)| {
        let got = match published.index.starts_with("halves-") {
            true => halves.pair(0, members[0], members[1])[0],
            false => found.get(members).map_or(0.0, |index| index[0]),
        };
        // shapiq's index of the empty coalition depends on the version: it is v(∅), missing, or the mean of
        // all values. It is therefore not compared.
        if members.is_empty() { 0.0 } else { (got - expected).abs() }
    });
    differences.fold(0.0, f64::max)
}

/// Returns the tolerance for an index of shapiq. The faithful Shapley indices of shapiq come from a
/// regression that gives ∅ and N the weight 1e8 instead of imposing constraints. For order n, the exact index
/// is the Möbius transform in the accompanying file, from which the indices of shapiq differ by up to 5e-9.
fn tolerance(index: &str) -> f64 {
    if matches!(index, "FSII" | "kADD-SHAP") { 1e-7 } else { 1e-9 }
}

#[test]
fn published_indices_are_found_again() {
    let Some(folder) = std::env::var_os("APPORTION_INDICES") else { return };
    let mut files: Vec<Published> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| read(&path))
        .collect();
    files.sort_by_key(|file| (file.name.clone(), file.index.clone(), file.order));
    let games: BTreeMap<String, MoebiusTransform> = files
        .iter()
        .filter(|file| file.index == "Moebius")
        .map(|file| (file.name.clone(), game(file)))
        .collect();
    let (mut compared, mut worst) = (0, BTreeMap::<String, f64>::new());
    for file in &files {
        let Some(moebius) = games.get(&file.name) else {
            println!("{}: no file contains the Möbius coefficients of the game", file.name);
            continue;
        };
        let index = match file.index.strip_prefix("halves-").unwrap_or(&file.index) {
            "SV" => InteractionIndex::SHAPLEY,
            "BV" => InteractionIndex::BANZHAF,
            name => name.parse().unwrap(),
        };
        let table = table(moebius);
        for found in [
            moebius.interactions(&index, file.order).unwrap(),
            enumerate_interactions(&table, &index, file.order).unwrap(),
        ] {
            let difference = difference(file, &found);
            let worst = worst.entry(file.index.clone()).or_default();
            *worst = worst.max(difference);
            assert!(
                difference <= tolerance(&file.index),
                "{} {} order {}: {difference:e}",
                file.name,
                file.index,
                file.order
            );
        }
        compared += 1;
    }
    println!("{compared} files of {} games; the largest differences: {worst:?}", games.len());
    assert!(compared > 0, "no file to compare with");
}

/// Returns the table of all values of a game.
fn table(game: &MoebiusTransform) -> apportion_games::TabulatedGame {
    apportion_games::TabulatedGame::from_fn(game.players(), |mask| {
        let terms = game.terms().iter().zip(game.coefficients());
        terms.filter(|(term, _)| term.words()[0] & !mask == 0).map(|(_, coefficient)| coefficient).sum()
    })
    .unwrap()
}
