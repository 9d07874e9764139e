//! Tests of files and rows that are rejected, each with its error.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use apportion_games::{Background, Coalitions, Game, GameError, MarginalGame, Model, Rows};
use apportion_onnx::{Network, NetworkOptions, OnnxError};
use rten_onnx::onnx::{DataLocation, DataType, StringStringEntryProto};

use crate::common::{
    self, DIABETES, IRIS, bare, doubling, embedding, file, node, one_node, value, weight, with_integer,
    with_integers,
};

fn refusal(bytes: &[u8]) -> OnnxError {
    match Network::from_bytes(bytes) {
        Ok(network) => panic!("{network:?} was read"),
        Err(error) => error,
    }
}

#[test]
fn an_unknown_operator_is_refused_with_the_name_of_its_node() {
    let mut strange = node("Frobnicate", "h", "y");
    strange.name = Some("the strange one".to_owned());
    let network = |strange| {
        let input = value("x", DataType::FLOAT, &["N", "2"]);
        let output = value("y", DataType::FLOAT, &["N", "2"]);
        file(vec![input], vec![output], vec![node("Relu", "x", "h"), strange], vec![])
    };
    match refusal(&network(strange.clone())) {
        OnnxError::Operator { operator, node, problem } => {
            assert_eq!((operator.as_str(), node.as_str()), ("Frobnicate", "the strange one"));
            assert!(problem.contains("not supported"), "{problem}");
        }
        error => panic!("{error:?}"),
    }
    strange.name = None;
    strange.domain = Some("ai.onnx.ml".to_owned());
    let error = refusal(&network(strange));
    assert!(
        matches!(&error, OnnxError::Operator { operator, node, .. }
            if operator == "ai.onnx.ml/Frobnicate" && node == "1 (of output y)"),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "node 1 (of output y) has the unsupported operator ai.onnx.ml/Frobnicate: ai.onnx.ml/Frobnicate \
         operator not supported or not enabled; save the network without this operator"
    );
}

#[test]
fn an_operator_that_is_known_in_another_form_is_refused_with_its_node() {
    let odd = with_integer(node("Relu", "x", "y"), "oddity", 1);
    let error = refusal(&one_node(DataType::FLOAT, &["N", "2"], odd, vec![]));
    assert!(
        matches!(&error, OnnxError::Operator { operator, node, problem }
            if operator == "Relu" && node == "0 (of output y)" && problem.contains("oddity")),
        "{error:?}"
    );
}

#[test]
fn random_operators_are_refused() {
    let random = node("RandomNormalLike", "x", "y");
    let error = refusal(&one_node(DataType::FLOAT, &["N", "2"], random, vec![]));
    assert!(
        matches!(&error, OnnxError::Operator { operator, .. } if operator == "RandomNormalLike"),
        "{error:?}"
    );
}

#[test]
fn tree_ensembles_of_the_data_pack_are_refused_by_the_name_of_their_operator() {
    for name in ["diabetes_random_forest", "diabetes_gradient_boosting"] {
        let path = common::shared().join("models").join(name).with_extension("onnx");
        if !path.exists() {
            return;
        }
        let error = Network::from_path(path).unwrap_err();
        assert!(
            matches!(
                &error,
                OnnxError::Operator { operator, .. } if operator == "ai.onnx.ml/TreeEnsembleRegressor"
            ),
            "{error:?}"
        );
    }
}

#[test]
fn the_beginning_of_a_file_is_refused_wherever_it_ends() {
    for length in 0..DIABETES.len() {
        let error = refusal(&DIABETES[..length]);
        assert!(matches!(error, OnnxError::NotOnnx { .. }), "{length}: {error:?}");
    }
    assert!(refusal(&[]).to_string().contains("the file is empty"));
}

#[test]
fn other_content_is_refused() {
    for content in
        ["{\"learner\": {}}", "age,sex,bmi\n1,2,3\n", "\u{8}", "\0\0\0\0", "PK\u{3}\u{4}", "RTEN...."]
    {
        let error = refusal(content.as_bytes());
        assert!(matches!(error, OnnxError::NotOnnx { .. }), "{content:?}: {error:?}");
    }
}

#[test]
fn a_damaged_file_is_an_error_or_another_network_but_no_panic() {
    let mut refused = 0;
    for position in 0..DIABETES.len() {
        for flip in [0x01, 0x10, 0x80] {
            let mut bytes = DIABETES.to_vec();
            bytes[position] ^= flip;
            refused += usize::from(Network::from_bytes(&bytes).is_err());
        }
    }
    assert!(refused > 100, "only {refused} were refused");
}

/// Returns whether a file is rejected. Panics if it is neither rejected nor read within a minute.
fn is_refused(bytes: Vec<u8>, damage: &str) -> bool {
    let (sender, answer) = mpsc::channel();
    thread::spawn(move || sender.send(Network::from_bytes(&bytes).is_err()));
    answer.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|error| panic!("{damage}: {error}"))
}

#[test]
fn a_number_without_an_end_is_refused_wherever_it_is() {
    let tall = with_integer(node("ReduceMean", "x", "y"), "keepdims", i64::MAX);
    let bytes = one_node(DataType::FLOAT, &["N", "2"], tall, vec![]);
    let number = [&[0xff; 8][..], &[0x7f]].concat();
    let start = bytes.windows(9).position(|window| window == number).unwrap();
    // The largest number takes nine bytes. Longer numbers extend into the three fields after it.
    for length in [10, 11, 12] {
        let mut endless = bytes.clone();
        endless[start..start + length].fill(0xff);
        assert!(is_refused(endless.clone(), "a number without an end"));
        let error = refusal(&endless);
        assert!(
            matches!(&error, OnnxError::NotOnnx { problem } if problem.contains("more than 64 bits")),
            "{error:?}"
        );
    }
}

#[test]
fn files_overwritten_in_places_are_errors_or_other_networks() {
    let mut refused = 0;
    for (name, file) in [("diabetes", DIABETES), ("iris", IRIS)] {
        for (length, stride) in [(1, 4), (12, 9)] {
            for start in (0..file.len()).step_by(stride) {
                let mut bytes = file.to_vec();
                let end = file.len().min(start + length);
                bytes[start..end].fill(0xff);
                refused += usize::from(is_refused(bytes, &format!("{name}, bytes {start}..{end}")));
            }
        }
    }
    assert!(refused > 50, "only {refused} were refused");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Network::from_path("no/such/network.onnx").unwrap_err();
    assert!(matches!(&error, OnnxError::File { path, .. } if path == "no/such/network.onnx"), "{error:?}");
}

#[test]
fn several_inputs_are_refused_with_their_names() {
    let float = |name| value(name, DataType::FLOAT, &["N", "2"]);
    let two = file(vec![float("x"), float("z")], vec![float("y")], vec![node("Add", "x z", "y")], vec![]);
    assert!(matches!(refusal(&two), OnnxError::Inputs { names } if names == ["x", "z"]));
    let none = file(vec![], vec![float("y")], vec![], vec![weight("y", &[1, 2], &[1.0, 2.0])]);
    assert!(matches!(refusal(&none), OnnxError::Inputs { names } if names.is_empty()));
}

#[test]
fn several_outputs_ask_for_a_choice_among_their_names() {
    let float = |name| value(name, DataType::FLOAT, &["N", "2"]);
    let nodes = vec![node("Add", "x x", "double"), node("Mul", "x x", "square")];
    let two = file(vec![float("x")], vec![float("double"), float("square")], nodes, vec![]);
    assert!(matches!(refusal(&two), OnnxError::Outputs { names } if names == ["double", "square"]));
    let error = NetworkOptions::new().output("cube").from_bytes(&two).unwrap_err();
    assert!(
        matches!(
            &error,
            OnnxError::UnknownOutput { name: given, names }
                if given == "cube" && names == &["double", "square"]
        ),
        "{error:?}"
    );
    for (name, wanted) in [("double", [6.0, 8.0]), ("square", [9.0, 16.0])] {
        let network = NetworkOptions::new().output(name).from_bytes(&two).unwrap();
        assert_eq!(network.output_name(), name);
        assert_eq!(network.predictions(Rows::new(&[3.0, 4.0], 2)).unwrap(), wanted);
    }
}

#[test]
fn inputs_and_outputs_of_other_types_are_refused() {
    let error = refusal(&one_node(DataType::STRING, &["N", "2"], node("Identity", "x", "y"), vec![]));
    assert!(
        matches!(
            &error,
            OnnxError::ElementType { what, actual: given, .. } if what == "input x" && given == "STRING"
        ),
        "{error:?}"
    );
    let input = || vec![value("x", DataType::FLOAT, &["N", "2"])];
    let label = || vec![with_integer(node("ArgMax", "x", "label"), "axis", 1)];
    let stated = file(input(), vec![value("label", DataType::INT64, &["N", "1"])], label(), vec![]);
    let error = refusal(&stated);
    assert!(
        matches!(
            &error,
            OnnxError::ElementType { what, actual: given, .. } if what == "output label" && given == "INT64"
        ),
        "{error:?}"
    );
    // The file does not declare the type, so the trial run finds it.
    let error = refusal(&file(input(), vec![bare("label")], label(), vec![]));
    assert!(matches!(&error, OnnxError::ElementType { what, .. } if what == "output label"), "{error:?}");
}

#[test]
fn a_row_of_open_size_is_refused_with_its_dimension_until_it_is_given() {
    let bytes = one_node(DataType::FLOAT, &["N", "length"], node("Relu", "x", "y"), vec![]);
    let error = refusal(&bytes);
    assert!(
        matches!(
            &error,
            OnnxError::DynamicDimension { input, axis: 1, dimension }
                if input == "x" && dimension == "length"
        ),
        "{error:?}"
    );
    let network = NetworkOptions::new().row_shape(&[3]).from_bytes(&bytes).unwrap();
    assert_eq!(network.row_shape(), [3]);
    assert_eq!(network.predictions(Rows::new(&[1.0, -2.0, 3.0], 3)).unwrap(), [1.0, 0.0, 3.0]);

    let unnamed = one_node(DataType::FLOAT, &["N", "1", ""], node("Relu", "x", "y"), vec![]);
    assert!(matches!(
        refusal(&unnamed),
        OnnxError::DynamicDimension { axis: 2, dimension, .. } if dimension == "unnamed"
    ));
    for wrong in [&[2, 5][..], &[5], &[1, 0], &[1, 5, 1], &[]] {
        let error = NetworkOptions::new().row_shape(wrong).from_bytes(&unnamed).unwrap_err();
        assert!(
            matches!(
                &error,
                OnnxError::RowShape { actual: given, expected: wanted, .. }
                    if given == wrong && wanted == "[1, unnamed]"
            ),
            "{error:?}"
        );
    }
    assert!(NetworkOptions::new().row_shape(&[1, 5]).from_bytes(&unnamed).is_ok());
}

#[test]
fn an_input_without_room_for_rows_is_refused() {
    let vector = one_node(DataType::FLOAT, &["2"], node("Relu", "x", "y"), vec![]);
    assert!(matches!(refusal(&vector), OnnxError::Rank { actual: given, .. } if given == "the shape [2]"));
    let mut shapeless = value("x", DataType::FLOAT, &[]);
    shapeless.r#type.as_mut().unwrap().tensor_type.as_mut().unwrap().shape = None;
    let output = value("y", DataType::FLOAT, &["N", "2"]);
    let bytes = file(vec![shapeless], vec![output], vec![node("Relu", "x", "y")], vec![]);
    assert!(matches!(refusal(&bytes), OnnxError::Rank { actual: given, .. } if given == "no shape"));
    for wrong in [&[0][..], &[]] {
        let error = NetworkOptions::new().row_shape(wrong).from_bytes(&bytes).unwrap_err();
        assert!(matches!(&error, OnnxError::RowShape { actual: given, .. } if given == wrong), "{error:?}");
    }
    assert!(NetworkOptions::new().row_shape(&[2]).from_bytes(&bytes).is_ok());
}

#[test]
fn graphs_that_do_not_hold_together_are_refused() {
    // The weight is declared with four numbers, but has three.
    let add = || node("Add", "x b", "y");
    let short = one_node(DataType::FLOAT, &["N", "4"], add(), vec![weight("b", &[4], &[1.0; 3])]);
    assert!(matches!(refusal(&short), OnnxError::Load { .. }));
    // No node computes the value `b`.
    let missing = one_node(DataType::FLOAT, &["N", "4"], add(), vec![]);
    assert!(matches!(refusal(&missing), OnnxError::Load { .. }), "{:?}", refusal(&missing));
    // The shapes of the matrix product do not match.
    let weights = vec![weight("b", &[3, 1], &[1.0; 3])];
    let product = one_node(DataType::FLOAT, &["N", "4"], node("MatMul", "x b", "y"), weights);
    assert!(matches!(refusal(&product), OnnxError::Trial { .. }));
    // The batches do not fit in memory.
    for shape in [["N", "4294967296", "4294967296"], ["N", "65536", "4096"], ["1000000", "1", "1000"]] {
        let error = refusal(&one_node(DataType::FLOAT, &shape, node("Relu", "x", "y"), vec![]));
        assert!(error.to_string().contains("more than 134217728 elements"), "{error}");
    }
}

#[test]
fn weights_outside_the_file_are_refused() {
    let mut outside = weight("b", &[4], &[]);
    outside.raw_data = None;
    outside.data_location = Some(DataLocation::EXTERNAL);
    for (key, value) in [("location", "weights.bin"), ("offset", "0"), ("length", "16")] {
        let (key, value) = (Some(key.to_owned()), Some(value.to_owned()));
        outside.external_data.push(StringStringEntryProto { key, value });
    }
    let error = refusal(&one_node(DataType::FLOAT, &["N", "4"], node("Add", "x b", "y"), vec![outside]));
    assert!(matches!(&error, OnnxError::Load { problem } if problem.contains("external data")), "{error:?}");
}

#[test]
fn a_network_that_mixes_rows_is_refused() {
    let mean =
        |keep| with_integer(with_integers(node("ReduceMean", "x", "m"), "axes", &[0]), "keepdims", keep);
    let network = |output: &str| {
        file(
            vec![value("x", DataType::FLOAT, &["N", "2"])],
            vec![bare(output)],
            vec![mean(1), node("Sub", "m x", "y")],
            vec![],
        )
    };
    assert!(matches!(refusal(&network("y")), OnnxError::RowsMixed { output } if output == "y"));
    assert!(matches!(
        refusal(&network("m")),
        OnnxError::OutputShape { output, actual: given, batch: 256 } if output == "m" && given == [1, 2]
    ));
}

#[test]
fn rows_of_another_width_are_refused_with_both_widths() {
    let network = Network::from_bytes(&doubling()).unwrap();
    let error = network.predictions(Rows::new(&[1.0, 2.0, 3.0], 3)).unwrap_err();
    assert!(matches!(error, OnnxError::Game(GameError::Width { actual: 3, expected: 2, .. })), "{error:?}");
    // A game returns the error unchanged.
    let background = Background::baseline([0.0; 3]).unwrap();
    let error = MarginalGame::new(&network, &[1.0; 3], &background).err().unwrap();
    assert!(matches!(error, GameError::Width { actual: 3, expected: 2, .. }), "{error:?}");
}

#[test]
fn missing_and_infinite_values_are_refused_with_row_and_column() {
    let network = Network::from_bytes(&doubling()).unwrap();
    let with = |bad: f64| network.predictions(Rows::new(&[1.0, 2.0, 3.0, bad], 2)).unwrap_err();
    assert!(matches!(with(f64::NAN), OnnxError::Missing { row: 1, column: 1 }));
    for bad in [f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        assert!(matches!(
            with(bad),
            OnnxError::Game(GameError::InfiniteInput { what, column: 1, value, .. })
                if what == "row 1" && value == bad
        ));
    }
    // In a game, a missing value in the explicand is reported for the first coalition that contains it.
    let background = Background::baseline([0.0, 0.0]).unwrap();
    let game = MarginalGame::new(&network, &[1.0, f64::NAN], &background).unwrap();
    let error = game.values(&Coalitions::from_masks(2, [0b01, 0b11]), &mut [0.0; 4]).unwrap_err();
    assert!(matches!(error, GameError::Model { .. }), "{error:?}");
    assert!(error.to_string().contains("row 1 has no value in column 1"), "{error}");
}

#[test]
fn integers_take_whole_numbers_of_32_bits_only() {
    let network = Network::from_bytes(&embedding(DataType::INT64)).unwrap();
    for bad in [0.5, 3e9, f64::INFINITY] {
        let error = network.predictions(Rows::new(&[1.0, 1.0, 1.0, 1.0, bad, 1.0], 3)).unwrap_err();
        assert!(
            matches!(error, OnnxError::NotWhole { row: 1, column: 1, value } if value == bad),
            "{error:?}"
        );
    }
    let error = network.predictions(Rows::new(&[f64::NAN, 1.0, 1.0], 3)).unwrap_err();
    assert!(matches!(error, OnnxError::Missing { row: 0, column: 0 }), "{error:?}");
}

#[test]
fn a_token_outside_the_vocabulary_is_refused_with_its_row() {
    let network = Network::from_bytes(&embedding(DataType::INT64)).unwrap();
    let mut rows = vec![1.0; 3 * 200];
    rows[3 * 150 + 2] = 4.0;
    let error = network.predictions(Rows::new(&rows, 3)).unwrap_err();
    assert!(matches!(error, OnnxError::Run { row: 150, .. }), "{error:?}");
    // The network still works after the error.
    assert_eq!(network.predictions(Rows::new(&[1.0, 1.0, 1.0], 3)).unwrap(), [1.0, 10.0]);
}

#[test]
fn predictions_that_are_not_finite_are_refused_with_row_and_output() {
    let network =
        Network::from_bytes(&one_node(DataType::FLOAT, &["N", "2"], node("Sqrt", "x", "y"), vec![])).unwrap();
    let mut rows = vec![4.0; 2 * 100];
    assert_eq!(network.predictions(Rows::new(&rows, 2)).unwrap(), [2.0; 200]);
    rows[2 * 70 + 1] = -1.0;
    let error = network.predictions(Rows::new(&rows, 2)).unwrap_err();
    assert!(
        matches!(error, OnnxError::NotFinite { row: 70, output: 1, value } if value.is_nan()),
        "{error:?}"
    );
    assert!(network.predict(Rows::new(&rows, 2), &mut [0.0; 200]).is_err());
}

/// Compresses bytes with gzip.
fn packed(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;

    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_packed_network_is_unpacked_and_a_cut_or_bloated_one_refused() {
    let bytes = include_bytes!("../fixtures/iris_mlp.onnx");
    let predict = |bytes: &[u8]| {
        let network = NetworkOptions::new().output("logits").from_bytes(bytes).unwrap();
        network.predictions(Rows::new(&[5.1, 3.5, 1.4, 0.2], 4)).unwrap()
    };
    let stream = packed(bytes);
    assert_eq!(predict(&stream), predict(bytes));
    let message = |bytes: &[u8]| NetworkOptions::new().from_bytes(bytes).unwrap_err().to_string();
    assert!(message(&stream[..stream.len() / 2]).starts_with("cannot decompress the network"));
    assert!(
        message(&packed(&vec![0; (1 << 28) + 1])).contains("the file expands to more than 268435456 bytes")
    );
}
