//! Tests dendrograms against agglomeration by definition, and their cuts and stored form.

use apportion_games::{Partition, Purpose, stream};
use apportion_partitions::{Dendrogram, DependenceMatrix, Linkage, PartitionsError};
use proptest::prelude::*;
use rand::RngExt;

const LINKAGES: [Linkage; 3] = [Linkage::Average, Linkage::Single, Linkage::Complete];

pub(crate) fn random_matrix(features: usize, seed: u64) -> DependenceMatrix {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..features * (features - 1) / 2).map(|_| rng.random()).collect();
    DependenceMatrix::from_values(features, values).unwrap()
}

/// Returns the features and the height of each cluster, by repeatedly merging the two clusters with the
/// smallest distance.
fn agglomerate(dependence: &DependenceMatrix, linkage: Linkage) -> Vec<(Vec<usize>, f64)> {
    let features = dependence.features();
    let distance = |one: &[usize], other: &[usize]| {
        let pairs = one.iter().flat_map(|&i| other.iter().map(move |&j| 1.0 - dependence.get(i, j)));
        match linkage {
            Linkage::Single => pairs.fold(f64::INFINITY, f64::min),
            Linkage::Complete => pairs.fold(f64::NEG_INFINITY, f64::max),
            _ => pairs.sum::<f64>() / (one.len() * other.len()) as f64,
        }
    };
    let mut clusters: Vec<Vec<usize>> = (0..features).map(|feature| vec![feature]).collect();
    let mut merges = Vec::new();
    while clusters.len() > 1 {
        let pairs = (0..clusters.len()).flat_map(|i| (i + 1..clusters.len()).map(move |j| (i, j)));
        let (height, i, j) = pairs
            .map(|(i, j)| (distance(&clusters[i], &clusters[j]), i, j))
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .unwrap();
        let mut joined = clusters.swap_remove(j);
        joined.append(&mut clusters[i]);
        joined.sort_unstable();
        clusters[i] = joined.clone();
        merges.push((joined, height));
    }
    merges
}

/// Returns the features of each cluster of a dendrogram.
fn clusters(dendrogram: &Dendrogram) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = (0..dendrogram.features()).map(|feature| vec![feature]).collect();
    for merge in dendrogram.merges() {
        let mut joined = merge.children.map(|child| clusters[child].clone()).concat();
        joined.sort_unstable();
        assert_eq!(joined.len(), merge.size);
        clusters.push(joined);
    }
    clusters.split_off(dendrogram.features())
}

#[test]
fn merges_are_those_of_agglomeration_by_the_definition() {
    for (features, seeds) in [(1, 1), (2, 3), (3, 20), (8, 20), (17, 10), (70, 2), (130, 1)] {
        for seed in 0..seeds {
            let matrix = random_matrix(features, seed);
            for linkage in LINKAGES {
                let dendrogram = Dendrogram::new(&matrix, linkage);
                let expected = agglomerate(&matrix, linkage);
                assert_eq!(dendrogram.merges().len(), features - 1);
                let found = clusters(&dendrogram).into_iter().zip(dendrogram.merges());
                for ((cluster, merge), (wanted_cluster, height)) in found.zip(expected) {
                    assert_eq!(cluster, wanted_cluster, "{features} features, {linkage}");
                    assert!((merge.height - height).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn cuts_into_ever_more_groups_refine_one_another() {
    for features in [1, 2, 7, 70, 130] {
        for linkage in LINKAGES {
            let dendrogram = Dendrogram::new(&random_matrix(features, 5), linkage);
            assert_eq!(dendrogram.cut_into(1).unwrap(), Partition::whole(features));
            assert_eq!(dendrogram.cut_into(features).unwrap(), Partition::singletons(features));
            for groups in 2..=features {
                let (coarse, fine) =
                    (dendrogram.cut_into(groups - 1).unwrap(), dendrogram.cut_into(groups).unwrap());
                assert_eq!(fine.len(), groups);
                for group in fine.groups() {
                    assert!(group.iter().all(|&member| coarse.group_of(member) == coarse.group_of(group[0])));
                }
            }
        }
    }
}

#[test]
fn groups_come_in_the_order_of_their_first_features_and_features_ascend() {
    let dendrogram = Dendrogram::new(&random_matrix(70, 6), Linkage::Average);
    for groups in 1..=70 {
        let partition = dendrogram.cut_into(groups).unwrap();
        assert!(partition.groups().iter().all(|group| group.is_sorted()));
        assert!(partition.groups().is_sorted_by_key(|group| group[0]));
    }
}

#[test]
fn a_cut_at_a_height_does_every_merge_that_is_no_higher() {
    let dendrogram = Dendrogram::new(&random_matrix(20, 7), Linkage::Complete);
    for (at, merge) in dendrogram.merges().iter().enumerate() {
        assert_eq!(dendrogram.cut_at(merge.height).unwrap(), dendrogram.cut_into(19 - at).unwrap());
        assert_eq!(
            dendrogram.cut_at(merge.height.next_down()).unwrap(),
            dendrogram.cut_into(20 - at).unwrap()
        );
    }
    assert_eq!(dendrogram.cut_at(-1.0).unwrap(), Partition::singletons(20));
    assert_eq!(dendrogram.cut_at(f64::INFINITY).unwrap(), Partition::whole(20));
}

#[test]
fn equal_distances_give_the_same_dendrogram_every_time() {
    for linkage in LINKAGES {
        for value in [0.0, 0.5, 1.0] {
            let matrix = DependenceMatrix::from_values(9, vec![value; 36]).unwrap();
            let dendrogram = Dendrogram::new(&matrix, linkage);
            assert_eq!(dendrogram, Dendrogram::new(&matrix, linkage));
            assert!(dendrogram.merges().iter().all(|merge| (merge.height - (1.0 - value)).abs() < 1e-15));
            let whole = dendrogram.cut_at(1.0 - value + 1e-12).unwrap();
            assert_eq!(whole, Partition::whole(9));
        }
    }
}

#[test]
fn cuts_that_are_none_are_refused() {
    let dendrogram = Dendrogram::new(&random_matrix(5, 8), Linkage::Average);
    for given in [0, 6] {
        let refused = PartitionsError::Groups { actual: given, features: 5 };
        assert_eq!(dendrogram.cut_into(given), Err(refused));
    }
    assert_eq!(dendrogram.cut_at(f64::NAN), Err(PartitionsError::Height));
    let refused = PartitionsError::Names { actual: 2, features: 5 };
    assert_eq!(dendrogram.with_names(["a", "b"]), Err(refused));
}

#[test]
fn matrices_of_another_size_or_with_other_numbers_are_refused() {
    for (features, given) in [(0, 0), (1, 1), (3, 2), (usize::MAX, 3)] {
        let refused = PartitionsError::Pairs { actual: given, features };
        assert_eq!(DependenceMatrix::from_values(features, vec![0.5; given]), Err(refused));
    }
    let refused = PartitionsError::Dependence { first: 1, second: 2, value: 1.5 };
    assert_eq!(DependenceMatrix::from_values(3, vec![0.0, 1.0, 1.5]), Err(refused));
    assert!(DependenceMatrix::from_values(2, vec![f64::NAN]).is_err());
    assert!(DependenceMatrix::from_values(1, vec![]).is_ok());
}

pub(crate) fn small() -> Dendrogram {
    let values = vec![0.75, 0.125, 0.25, 0.125, 0.0, 0.5];
    let matrix = DependenceMatrix::from_values(4, values).unwrap();
    Dendrogram::new(&matrix, Linkage::Average).with_names(["age", "bmi", "sex", "s<1>&\"2\""]).unwrap()
}

#[test]
fn a_dendrogram_is_stored_as_leaves_and_merges() {
    let merges = concat!(
        r#"{"children":[0,1],"height":0.25,"size":2},"#,
        r#"{"children":[2,3],"height":0.5,"size":2},"#,
        r#"{"children":[4,5],"height":0.875,"size":4}"#
    );
    let leaves = r#"["age","bmi","sex","s<1>&\"2\""]"#;
    let expected = format!(r#"{{"leaves":{leaves},"linkage":"average","merges":[{merges}]}}"#);
    assert_eq!(serde_json::to_string(&small()).unwrap(), expected);
}

#[test]
fn what_is_stored_is_read_back_and_what_is_no_tree_is_refused() {
    let text = serde_json::to_string(&small()).unwrap();
    assert_eq!(serde_json::from_str::<Dendrogram>(&text).unwrap(), small());
    let refused = |from: &str, to: &str| {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from} does not occur");
        serde_json::from_str::<Dendrogram>(&changed).unwrap_err().to_string()
    };
    assert!(refused("[2,3]", "[0,3]").contains("merge 1"), "feature 0 has merged before");
    assert!(refused("[2,3]", "[2,9]").contains("merge 1"), "there is no cluster 9");
    assert!(refused("[2,3]", "[3,2]").contains("merge 1"), "the lower child comes first");
    assert!(
        serde_json::from_str::<Dendrogram>(&text.replacen("0.875", "1.0000000000000002", 1)).is_ok(),
        "rounded"
    );
    assert!(refused("\"size\":4", "\"size\":3").contains("merge 2"), "four features, not three");
    assert!(refused("0.25", "0.75").contains("merge 1"), "heights ascend");
    for (merge, from, to) in [(2, "0.875", "1e308"), (2, "0.875", "1.01"), (0, "0.25", "-0.25")] {
        let said = refused(from, to);
        assert!(said.contains(&format!("merge {merge}")) && said.contains("previous merge and 1"), "{said}");
    }
    assert!(refused("\"bmi\",", "").contains("merge 3"), "three features have two merges");
    let none = r#"{"leaves":[],"linkage":"average","merges":[]}"#;
    assert!(serde_json::from_str::<Dendrogram>(none).is_err());
}

#[test]
fn names_of_linkages_are_read_as_they_are_written() {
    for linkage in LINKAGES {
        assert_eq!(linkage.to_string().parse::<Linkage>().unwrap(), linkage);
    }
    let wrong = "ward".parse::<Linkage>().unwrap_err().to_string();
    assert!(wrong.contains("\"ward\"") && wrong.contains("complete"), "{wrong}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn heights_ascend_and_renumbered_features_give_the_same_heights(
        values in prop::collection::vec(0.0_f64..1.0, 28),
        shift in 0_usize..8,
    ) {
        let matrix = DependenceMatrix::from_values(8, values).unwrap();
        let renumbered = |feature: usize| (feature + shift) % 8;
        let moved = (0..8).flat_map(|i| (i + 1..8).map(move |j| (i, j)));
        let moved = moved.map(|(i, j)| matrix.get(renumbered(i), renumbered(j))).collect();
        let moved = DependenceMatrix::from_values(8, moved).unwrap();
        for linkage in LINKAGES {
            let (one, other) = (Dendrogram::new(&matrix, linkage), Dendrogram::new(&moved, linkage));
            prop_assert!(one.merges().is_sorted_by_key(|merge| merge.height));
            for (one, other) in one.merges().iter().zip(other.merges()) {
                prop_assert!((one.height - other.height).abs() < 1e-12);
            }
        }
    }
}
