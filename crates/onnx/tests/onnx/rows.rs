//! Tests that a prediction is a function of its row alone, and that small networks compute their definitions.

use apportion_games::{Background, MarginalGame, Model, Rows};
use apportion_onnx::Network;
use apportion_values::{Semivalue, enumerate};
use rten_onnx::onnx::DataType;

use crate::common::{
    self, DIABETES, IRIS, PACK, embedding, file, node, one_node, uniform, value, weight, with_integers,
};

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Returns random rows for a network: token ids if `ids` is set, otherwise numbers of the magnitude of pixels
/// or standardized columns.
fn random_rows(count: usize, features: usize, ids: bool) -> Vec<f64> {
    let mut uniform = uniform(7);
    (0..count * features)
        .map(|_| if ids { (uniform() * 5000.0).floor() } else { uniform() * 2.0 - 0.5 })
        .collect()
}

fn assert_rows_do_not_touch(name: &str, network: &Network, ids: bool) {
    let (features, outputs) = (network.feature_count(), network.output_count());
    let count = 131;
    let rows = random_rows(count, features, ids);
    let predict = |rows: &[f64]| bits(&network.predictions(Rows::new(rows, features)).unwrap());
    let together = predict(&rows);
    for row in (0..count).step_by(9) {
        let alone = predict(&rows[row * features..][..features]);
        assert_eq!(alone, together[row * outputs..][..outputs], "{name}: row {row} alone");
    }
    // Move every row to a different position in its batch, among different rows.
    for shift in [1, 3, 40, 101] {
        let (mut shifted, mut expected) = (rows.clone(), together.clone());
        shifted.rotate_left(shift * features);
        expected.rotate_left(shift * outputs);
        assert_eq!(predict(&shifted), expected, "{name}: shifted by {shift}");
    }
}

#[test]
fn the_bits_of_a_prediction_do_not_depend_on_the_rows_beside_it() {
    assert_rows_do_not_touch("diabetes_mlp", &Network::from_bytes(DIABETES).unwrap(), false);
    assert_rows_do_not_touch("iris_mlp", &Network::from_bytes(IRIS).unwrap(), false);
    for name in PACK {
        let path = common::shared().join("models").join(name).with_extension("onnx");
        if path.exists() {
            let network = Network::from_path(path).unwrap();
            assert_rows_do_not_touch(name, &network, network.input_name() == "ids");
        }
    }
}

#[test]
fn one_thread_and_several_give_the_same_bits() {
    let network = Network::from_bytes(DIABETES).unwrap();
    let rows = random_rows(9, 10, false);
    let background = Background::rows(&rows[10..], 10).unwrap();
    let game = MarginalGame::new(&network, &rows[..10], &background).unwrap();
    let values = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        bits(&pool.install(|| enumerate(&game, Semivalue::Shapley)).unwrap().values)
    };
    let one = values(1);
    assert_eq!(values(2), one);
    assert_eq!(values(5), one);
    assert_eq!(values(1), one);
}

#[test]
fn any_thread_may_ask_at_any_time() {
    let network = Network::from_bytes(IRIS).unwrap();
    let rows = random_rows(500, 4, false);
    let expected = bits(&network.predictions(Rows::new(&rows, 4)).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(bits(&network.predictions(Rows::new(&rows, 4)).unwrap()), expected);
                }
            });
        }
    });
}

#[test]
fn a_network_of_a_fixed_batch_predicts_any_number_of_rows() {
    for batch in ["1", "3", "64"] {
        let bytes = one_node(
            DataType::FLOAT,
            &[batch, "2"],
            node("Add", "x b", "y"),
            vec![weight("b", &[2], &[1.0, -1.0])],
        );
        let network = Network::from_bytes(&bytes).unwrap();
        for count in [0, 1, 2, 3, 7, 200] {
            let rows: Vec<f64> = (0..2 * count).map(f64::from).collect();
            let expected: Vec<f64> = rows.chunks(2).flat_map(|row| [row[0] + 1.0, row[1] - 1.0]).collect();
            assert_eq!(
                network.predictions(Rows::new(&rows, 2)).unwrap(),
                expected,
                "{count} rows, batch {batch}"
            );
        }
    }
}

#[test]
fn more_rows_than_one_request_takes_are_predicted_in_order() {
    let network = Network::from_bytes(&common::doubling()).unwrap();
    let rows: Vec<f64> = (0..300_000).map(f64::from).collect();
    let expected: Vec<f64> = rows.iter().map(|value| 2.0 * value).collect();
    assert_eq!(network.predictions(Rows::new(&rows, 2)).unwrap(), expected);
}

/// Applies a filter of 2 × 2 to an image of 2 × 3 × 4 (channels, height, width), by definition.
fn convolved(image: &[f64], filter: &[f32]) -> Vec<f64> {
    let mut out = Vec::new();
    for (y, x) in (0..2).flat_map(|y| (0..3).map(move |x| (y, x))) {
        let mut sum = 0.0;
        for (channel, dy, dx) in (0..8).map(|index| (index / 4, index / 2 % 2, index % 2)) {
            let pixel = image[channel * 12 + (y + dy) * 4 + x + dx];
            sum += pixel * f64::from(filter[channel * 4 + dy * 2 + dx]);
        }
        out.push(sum);
    }
    out
}

#[test]
fn images_are_rows_of_pixels() {
    let filter: Vec<f32> = (0..8).map(|index| (index as f32 - 3.5) / 4.0).collect();
    let bytes = file(
        vec![value("x", DataType::FLOAT, &["N", "2", "3", "4"])],
        vec![value("y", DataType::FLOAT, &["N", "1", "2", "3"])],
        vec![with_integers(node("Conv", "x K", "y"), "kernel_shape", &[2, 2])],
        vec![weight("K", &[1, 2, 2, 2], &filter)],
    );
    let network = Network::from_bytes(&bytes).unwrap();
    assert_eq!(network.row_shape(), [2, 3, 4]);
    assert_eq!((network.feature_count(), network.output_count()), (24, 6));
    let rows = random_rows(5, 24, false);
    let expected: Vec<f64> = rows.chunks(24).flat_map(|image| convolved(image, &filter)).collect();
    let got = network.predictions(Rows::new(&rows, 24)).unwrap();
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() < 1e-6, "{got} != {expected}");
    }
}

#[test]
fn token_ids_are_passed_as_integers() {
    for elements in [DataType::INT64, DataType::INT32] {
        let network = Network::from_bytes(&embedding(elements)).unwrap();
        assert_eq!((network.input_name(), network.feature_count(), network.output_count()), ("ids", 3, 2));
        let got = network.predictions(Rows::new(&[1.0, 2.0, 3.0, 0.0, 0.0, 3.0], 3)).unwrap();
        assert_eq!(got, [3.0, 30.0, 2.0, 20.0]);
    }
}

#[test]
fn inputs_of_double_precision_are_rounded_to_single() {
    let bytes = one_node(DataType::DOUBLE, &["N", "1"], node("Identity", "x", "y"), vec![]);
    let network = Network::from_bytes(&bytes).unwrap();
    assert_eq!(network.predictions(Rows::new(&[0.1], 1)).unwrap(), [f64::from(0.1f32)]);
}

#[test]
fn weights_that_old_files_list_among_the_inputs_are_none() {
    let inputs = vec![value("x", DataType::FLOAT, &["N", "2"]), value("b", DataType::FLOAT, &["2"])];
    let output = vec![value("y", DataType::FLOAT, &["N", "2"])];
    let bytes = file(inputs, output, vec![node("Add", "x b", "y")], vec![weight("b", &[2], &[1.0, 2.0])]);
    let network = Network::from_bytes(&bytes).unwrap();
    assert_eq!(network.predictions(Rows::new(&[0.0, 0.0], 2)).unwrap(), [1.0, 2.0]);
}

#[test]
fn a_model_says_what_it_takes_and_gives() {
    let network = Network::from_bytes(IRIS).unwrap();
    let model: &dyn Model = &network;
    assert_eq!((model.features(), model.outputs(), model.parallel()), (Some(4), 3, true));
    assert_eq!((network.input_name(), network.output_name()), ("x", "logits"));
    let mut out = [0.0; 3];
    model.predict(Rows::new(&[5.1, 3.5, 1.4, 0.2], 4), &mut out).unwrap();
    assert_eq!(out.to_vec(), network.predictions(Rows::new(&[5.1, 3.5, 1.4, 0.2], 4)).unwrap());
}
