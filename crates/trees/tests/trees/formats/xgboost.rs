//! XGBoost models: models that remain valid after random changes are explained, and covers are only required
//! by the path-dependent game.

use apportion_games::Rows;
use apportion_trees::{
    Ensemble, Exact, MarginalTreeExplainer, ModelError, PathDependentTreeExplainer, TreeError,
};
use apportion_values::Semivalue;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Random, TreeSpec, document, put, read, ubj};

/// Returns a small model with all elements of the format: two classes, a categorical split, missing values, a
/// single leaf.
fn sample() -> Value {
    let random = &mut Random(1);
    let mut trees: Vec<TreeSpec> =
        (0..2).map(|output| TreeSpec::random(random, &[0, 1, 2], 2, true, output)).collect();
    let mut root = TreeSpec::leaf(0.0);
    let [left, _] = root.split(0, 1, 0.5, true);
    root.number[left] = 1.25;
    root.set[0] = Some(vec![1, 2]);
    trees.push(root);
    trees.push(TreeSpec::leaf(0.5));
    document(&trees, 3, &[0.25, -0.5])
}

#[test]
fn covers_are_asked_for_by_the_path_dependent_game_alone() {
    // Tree 2 is a split with two leaves.
    let covers = "/learner/gradient_booster/model/trees/2/sum_hessian";
    for (place, value) in
        [("/0", json!(-1.0)), ("/2", json!(1e300)), ("", json!([5.0, 0.0, 3.0])), ("", json!([]))]
    {
        let mut document = sample();
        put(&mut document, &format!("{covers}{place}"), value);
        let ensemble = read(&document).unwrap();
        let rows = Rows::new(&[1.0, 2.0, f64::NAN, 0.0, 0.0, 0.0], 3);
        let tree_explainer = MarginalTreeExplainer::new(&ensemble, rows.slice(0..1), None).unwrap();
        tree_explainer.values(Semivalue::Shapley, rows).unwrap();
        let error = PathDependentTreeExplainer::new(&ensemble).unwrap_err();
        assert!(matches!(error, TreeError::Model(ModelError::Cover { tree: 2, .. })), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A model that remains valid after a few changed bytes is explained without a panic.
    #[test]
    fn what_survives_changed_bytes_is_explained(
        binary: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let sample = sample();
        let mut bytes = if binary { ubj(&sample) } else { sample.to_string().into_bytes() };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(ensemble) = Ensemble::from_bytes(&bytes) {
            let features = ensemble.feature_count();
            prop_assume!(features < 1000);
            let row = vec![1.0; features];
            let rows = Rows::new(&row, features);
            let missing = vec![f64::NAN; features];
            let missing = Rows::new(&missing, features);
            let tree_explainer = MarginalTreeExplainer::new(&ensemble, missing, None).unwrap();
            tree_explainer.values(Semivalue::Shapley, rows).unwrap();
            if let Ok(tree_explainer) = PathDependentTreeExplainer::new(&ensemble) {
                let values = tree_explainer.values(Semivalue::Shapley, rows).unwrap().values;
                prop_assert!(values.iter().all(|value| value.is_finite()));
            }
        }
    }
}
