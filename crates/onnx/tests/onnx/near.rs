//! Compares predictions for rows near a reference with the runtime's predictions for the same rows as a
//! whole.

use apportion_games::{
    Background, Changes, Coalitions, Game, GameError, MarginalGame, Model, NearReference, Rows,
};
use apportion_onnx::{Network, OnnxError};
use rten_onnx::onnx::{DataType, NodeProto, TensorProto};

use crate::common::{
    self, IRIS, embedding, file, integers, node, shared, uniform, value, weight, with_float, with_integer,
    with_integers, with_text,
};

/// A network that is a sequence of nodes with random weights.
struct Sequence {
    row_shape: Vec<usize>,
    nodes: Vec<NodeProto>,
    weights: Vec<TensorProto>,
    uniform: Box<dyn FnMut() -> f64>,
}

impl Sequence {
    fn new(row_shape: &[usize]) -> Self {
        Self { row_shape: row_shape.to_vec(), nodes: vec![], weights: vec![], uniform: Box::new(uniform(3)) }
    }

    fn last(&self) -> String {
        if self.nodes.is_empty() { "x".to_owned() } else { format!("v{}", self.nodes.len()) }
    }

    /// Appends an operator. Its inputs are the last value and, for each of these shapes, a tensor of random
    /// values within `bounds`. `finish` completes the node.
    fn with(
        mut self,
        operator: &str,
        shapes: &[&[i64]],
        bounds: [f64; 2],
        finish: impl FnOnce(NodeProto) -> NodeProto,
    ) -> Self {
        let number = self.nodes.len() + 1;
        let mut inputs = self.last();
        for (index, shape) in shapes.iter().enumerate() {
            let count: i64 = shape.iter().product();
            let values: Vec<f32> =
                (0..count).map(|_| (bounds[0] + (bounds[1] - bounds[0]) * (self.uniform)()) as f32).collect();
            let name = format!("w{number}_{index}");
            self.weights.push(weight(&name, shape, &values));
            inputs += &format!(" {name}");
        }
        self.nodes.push(finish(node(operator, &inputs, &format!("v{number}"))));
        self
    }

    /// Appends an operator without weights.
    fn then(self, operator: &str) -> Self {
        self.with(operator, &[], [0.0; 2], |node| node)
    }

    fn window(self, operator: &str, size: &[i64], stride: &[i64], pads: &[i64]) -> Self {
        self.with(operator, &[], [0.0; 2], |node| windows(node, size, stride, pads))
    }

    /// Appends a convolution, with weights scaled so that values neither grow nor vanish.
    fn convolution(self, outputs: i64, inputs: i64, size: &[i64], stride: &[i64], pads: &[i64]) -> Self {
        let bound = 2.0 / ((inputs * size.iter().product::<i64>()) as f64).sqrt();
        let shape = [&[outputs, inputs], size].concat();
        self.with("Conv", &[&shape, &[outputs]], [-bound, bound], |node| windows(node, size, stride, pads))
    }

    fn bytes(mut self) -> Vec<u8> {
        let sizes: Vec<String> = self.row_shape.iter().map(usize::to_string).collect();
        let dimensions: Vec<&str> = std::iter::once("N").chain(sizes.iter().map(String::as_str)).collect();
        self.nodes.last_mut().unwrap().output = vec!["y".to_owned()];
        let output = common::bare("y");
        file(vec![value("x", DataType::FLOAT, &dimensions)], vec![output], self.nodes, self.weights)
    }

    fn network(self) -> Network {
        Network::from_bytes(&self.bytes()).unwrap()
    }
}

fn windows(node: NodeProto, size: &[i64], stride: &[i64], pads: &[i64]) -> NodeProto {
    let node = with_integers(with_integers(node, "kernel_shape", size), "strides", stride);
    with_integers(node, "pads", pads)
}

/// Returns a network with the same layers as the digit networks of the data pack.
fn digits(side: usize) -> Network {
    let left = ((side - 4) / 2 - 2) / 2;
    Sequence::new(&[1, side, side])
        .convolution(8, 1, &[5, 5], &[1, 1], &[0; 4])
        .then("Relu")
        .window("MaxPool", &[2, 2], &[2, 2], &[0; 4])
        .convolution(16, 8, &[3, 3], &[1, 1], &[0; 4])
        .then("Relu")
        .window("MaxPool", &[2, 2], &[2, 2], &[0; 4])
        .then("Flatten")
        .with("Gemm", &[&[16 * (left * left) as i64, 3], &[3]], [-0.2, 0.2], |node| node)
        .network()
}

fn networks() -> Vec<(&'static str, Network)> {
    let same = |node| {
        let node = with_integers(with_integers(node, "kernel_shape", &[3, 4]), "strides", &[1, 2]);
        with_text(node, "auto_pad", "SAME_UPPER")
    };
    vec![
        ("digits", digits(28)),
        ("smallest digits", digits(14)),
        (
            "strides, pads and batch normalization",
            Sequence::new(&[3, 32, 32])
                .with("Sub", &[&[3, 1, 1]], [0.2, 0.4], |node| node)
                .with("Div", &[&[1]], [0.5, 1.0], |node| node)
                .convolution(12, 3, &[5, 3], &[2, 1], &[2, 1, 1, 0])
                .with("BatchNormalization", &[&[12][..]; 4], [0.3, 0.9], |node| {
                    with_float(node, "epsilon", 1e-3)
                })
                .with("LeakyRelu", &[], [0.0; 2], |node| with_float(node, "alpha", 0.2))
                .window("AveragePool", &[3, 3], &[2, 2], &[1; 4])
                .convolution(7, 12, &[3, 3], &[3, 2], &[1; 4])
                .with("BatchNormalization", &[&[7][..]; 4], [0.3, 0.9], |node| node)
                .then("Tanh")
                .then("GlobalAveragePool")
                .then("Flatten")
                .network(),
        ),
        (
            "padding to the same size",
            Sequence::new(&[2, 11, 9])
                .with("Conv", &[&[9, 2, 3, 4]], [-0.3, 0.3], same)
                .with("Add", &[&[1, 9, 1, 1]], [-0.3, 0.3], |node| node)
                .then("Sigmoid")
                .with("MaxPool", &[], [0.0; 2], same)
                .with("Mul", &[&[9, 1, 1]], [-1.0, 1.0], |node| node)
                .with("AveragePool", &[], [0.0; 2], |node| {
                    with_integer(windows(node, &[3, 3], &[1, 2], &[1, 0, 2, 1]), "count_include_pad", 1)
                })
                .network(),
        ),
        (
            "over time",
            Sequence::new(&[2, 40])
                .convolution(6, 2, &[5], &[1], &[2, 2])
                .then("Relu")
                .window("MaxPool", &[3], &[2], &[1, 0])
                .convolution(10, 6, &[3], &[2], &[0, 1])
                .then("Relu")
                .then("GlobalMaxPool")
                .then("Flatten")
                .with("MatMul", &[&[10, 12]], [-0.4, 0.4], |node| node)
                .with("Add", &[&[12]], [-0.4, 0.4], |node| node)
                .then("Relu")
                .with("Gemm", &[&[2, 12]], [-0.4, 0.4], |node| {
                    with_float(with_integer(node, "transB", 1), "alpha", 0.5)
                })
                .network(),
        ),
        ("mean over space", {
            let mut sequence = Sequence::new(&[144])
                .then("Identity")
                .with("Reshape", &[], [0.0; 2], |node| node)
                .convolution(4, 1, &[3, 3], &[1, 1], &[0; 4]);
            sequence.nodes[1].input.push("image".to_owned());
            sequence.weights.push(integers("image", &[-1, 1, 12, 12]));
            sequence
                .with("Clip", &[], [0.0; 2], |node| with_float(with_float(node, "min", -0.2), "max", 0.4))
                .with("ReduceMean", &[], [0.0; 2], |node| {
                    with_integer(with_integers(node, "axes", &[2, -1]), "keepdims", 0)
                })
                .network()
        }),
    ]
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn reference(network: &Network, seed: u64) -> (Vec<f64>, Box<dyn NearReference>) {
    let mut uniform = uniform(seed);
    let row: Vec<f64> = (0..network.feature_count()).map(|_| uniform()).collect();
    let near = network.near(&row).expect("a sequential network with a convolution");
    (row, near)
}

/// Returns rows as changes to a reference. The changed features are none, the first one, the last one, a few,
/// a tenth, or all.
fn some_changes(features: usize, seed: u64) -> Vec<Vec<(usize, f64)>> {
    let mut uniform = uniform(seed);
    let mut rows = vec![vec![], vec![(0, 2.0)], vec![(features - 1, -1.0)]];
    for share in [0.01, 0.03, 0.1, 0.1, 1.0] {
        let changed: Vec<usize> = (0..features).filter(|_| uniform() < share).collect();
        rows.push(changed.into_iter().map(|feature| (feature, uniform())).collect());
    }
    rows.push(vec![]);
    rows
}

fn predicted(near: &dyn NearReference, rows: &[Vec<(usize, f64)>], outputs: usize) -> Vec<f64> {
    let mut changes = Changes::new();
    rows.iter().for_each(|row| changes.push(row.iter().copied()));
    let mut out = vec![f64::NAN; rows.len() * outputs];
    near.predict(&changes, &mut out).unwrap();
    out
}

/// Returns the largest difference from the runtime's predictions of whole rows, relative to the largest
/// output.
fn error(network: &Network, row: &[f64], near: &dyn NearReference, rows: &[Vec<(usize, f64)>]) -> f64 {
    let mut whole = Vec::new();
    for changes in rows {
        let start = whole.len();
        whole.extend_from_slice(row);
        changes.iter().for_each(|&(feature, value)| whole[start + feature] = value);
    }
    let wanted = network.predictions(Rows::new(&whole, row.len())).unwrap();
    let got = predicted(near, rows, network.output_count());
    let largest = wanted.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    got.iter().zip(&wanted).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / largest
}

#[test]
fn predictions_agree_with_the_runtime_on_whole_rows() {
    for (name, network) in networks() {
        for seed in 0..4 {
            let (row, near) = reference(&network, seed);
            assert!((1..=network.feature_count()).contains(&near.max_changes()), "{name}");
            let error = error(&network, &row, &*near, &some_changes(row.len(), seed + 10));
            eprintln!("{name}: {error:.1e}");
            assert!(error < 2e-6, "{name}: {error}");
        }
    }
}

#[test]
fn predictions_on_the_networks_of_the_data_pack_agree_with_the_runtime() {
    for name in ["mnist38_cnn", "cifar_cnn"] {
        let path = shared().join("models").join(name).with_extension("onnx");
        if !path.exists() {
            return;
        }
        let network = Network::from_path(path).unwrap();
        let features = network.feature_count();
        let black = vec![0.0; features];
        let near = network.near(&black).unwrap();
        let mut worst = error(&network, &black, &*near, &some_changes(features, 1));
        let (row, near) = reference(&network, 2);
        worst = worst.max(error(&network, &row, &*near, &some_changes(features, 3)));
        eprintln!("{name}: {worst:.1e}");
        assert!(worst < 1e-6, "{name}: {worst}");
    }
}

#[test]
fn the_bits_of_a_prediction_depend_on_its_changes_alone() {
    for (name, network) in networks() {
        let outputs = network.output_count();
        let (_, near) = reference(&network, 1);
        let rows = some_changes(network.feature_count(), 2);
        let together = bits(&predicted(&*near, &rows, outputs));
        for (index, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            row.reverse();
            let alone = bits(&predicted(&*near, &[row], outputs));
            assert_eq!(alone, together[index * outputs..][..outputs], "{name}: row {index} alone, reversed");
        }
        let backwards: Vec<_> = rows.iter().rev().cloned().collect();
        let wanted: Vec<u64> = together.chunks(outputs).rev().flatten().copied().collect();
        assert_eq!(bits(&predicted(&*near, &backwards, outputs)), wanted, "{name}");
        let again = reference(&network, 1).1;
        assert_eq!(bits(&predicted(&*again, &rows, outputs)), together, "{name}");
    }
}

#[test]
fn games_of_one_baseline_take_small_coalitions_from_there() {
    let network = digits(28);
    let (baseline, near) = reference(&network, 5);
    let explicand: Vec<f64> = baseline.iter().map(|value| 1.0 - value).collect();
    let mut coalitions = Coalitions::new(784);
    let mut uniform = uniform(6);
    for size in [0, 1, 5, 13, near.max_changes(), near.max_changes() + 1, 784] {
        for _ in 0..60 {
            let first = (uniform() * (785 - size) as f64) as usize;
            coalitions.push_members(first..first + size);
        }
    }
    let background = Background::baseline(baseline.clone()).unwrap();
    let game = MarginalGame::new(&network, &explicand, &background).unwrap();
    let values = |threads: usize| {
        let mut values = vec![0.0; coalitions.len() * 3];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| game.values(&coalitions, &mut values)).unwrap();
        values
    };
    let got = values(1);
    assert_eq!(bits(&values(2)), bits(&got));
    assert_eq!(bits(&values(5)), bits(&got));
    let mut rows = Vec::new();
    for coalition in coalitions.iter() {
        let start = rows.len();
        rows.extend_from_slice(&baseline);
        coalition.members().for_each(|member| rows[start + member] = explicand[member]);
    }
    let wanted = network.predictions(Rows::new(&rows, 784)).unwrap();
    let largest = wanted.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    for (got, wanted) in got.iter().zip(&wanted) {
        assert!((got - wanted).abs() < 2e-6 * largest, "{got} != {wanted}");
    }
    assert!(got.iter().zip(&wanted).any(|(got, wanted)| got != wanted), "the runtime predicted all rows");
    let far = 3 * 60 * 5;
    assert_eq!(bits(&got[far..]), bits(&wanted[far..]), "the runtime predicts rows above the limit");
}

/// Returns whether the network supports predictions near a reference row of zeros.
fn follows(bytes: &[u8]) -> bool {
    let network = Network::from_bytes(bytes).unwrap();
    network.near(&vec![0.0; network.feature_count()]).is_some()
}

#[test]
fn other_networks_are_left_to_the_runtime() {
    let convolved = || Sequence::new(&[1, 12, 12]).convolution(4, 1, &[3, 3], &[1, 1], &[1; 4]);
    assert!(follows(&convolved().bytes()));
    assert!(!follows(IRIS), "no convolution");
    assert!(!follows(&embedding(DataType::INT64)), "token ids");
    assert!(!follows(&convolved().then("Softmax").bytes()), "an unsupported operator");
    assert!(
        !follows(&convolved().with("Add", &[&[12, 12]], [0.0, 1.0], |node| node).bytes()),
        "a different shift for each cell"
    );
    let rounded_up = |node| with_integer(windows(node, &[2, 2], &[3, 3], &[0; 4]), "ceil_mode", 1);
    assert!(!follows(&convolved().with("MaxPool", &[], [0.0; 2], rounded_up).bytes()));
    let sized = |node| windows(node, &[3, 3], &[1, 1], &[0; 4]);
    let dilated = |node| with_integers(sized(node), "dilations", &[2, 2]);
    assert!(!follows(&convolved().with("Conv", &[&[1, 4, 3, 3]], [0.0, 1.0], dilated).bytes()));
    let in_groups = |node| with_integer(sized(node), "group", 4);
    assert!(!follows(&convolved().with("Conv", &[&[4, 1, 3, 3]], [0.0, 1.0], in_groups).bytes()));
    let mut residual = convolved();
    residual.nodes.push(node("Add", "v1 v1", "v2"));
    assert!(!follows(&residual.bytes()), "two paths through the network");
    let dense = Sequence::new(&[3, 1, 1]).convolution(2, 3, &[1, 1], &[1, 1], &[0; 4]);
    assert!(!follows(&dense.bytes()), "every change affects all cells");
}

#[test]
fn a_damaged_file_is_no_panic() {
    let mut sequence = Sequence::new(&[1, 8, 8])
        .convolution(1, 1, &[3, 3], &[1, 1], &[1; 4])
        .window("AveragePool", &[2, 2], &[2, 2], &[0; 4])
        .with("Reshape", &[], [0.0; 2], |mut node| {
            node.input.push("row".to_owned());
            node
        });
    let raw: Vec<u8> = [0_i64, -1].iter().flat_map(|size| size.to_le_bytes()).collect();
    sequence.weights.push(TensorProto {
        int64_data: vec![],
        raw_data: Some(raw.into()),
        ..integers("row", &[0, -1])
    });
    let sound = sequence.with("Gemm", &[&[16, 1]], [-1.0, 1.0], |node| node).bytes();
    assert!(follows(&sound));
    let mut followed = 0;
    for position in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[position] ^= [0x01, 0x80, 0xff][position % 3];
        if let Ok(network) = Network::from_bytes(&bytes) {
            followed += usize::from(network.near(&vec![0.0; network.feature_count()]).is_some());
        }
    }
    assert!((1..sound.len()).contains(&followed), "{followed}");
}

#[test]
fn a_reference_that_cannot_be_is_none() {
    let network = digits(14);
    for value in [f64::NAN, f64::INFINITY, 1e39, 3.4e38] {
        assert!(network.near(&[value; 196]).is_none(), "{value}");
    }
    assert!(network.near(&[0.0; 195]).is_none());
}

fn refusal(near: &dyn NearReference, change: (usize, f64)) -> OnnxError {
    let mut changes = Changes::new();
    changes.push([]);
    changes.push([change]);
    let error = near.predict(&changes, &mut [0.0; 6]).unwrap_err();
    match error.downcast::<OnnxError>() {
        Ok(error) => *error,
        Err(error) => OnnxError::Game(*error.downcast::<GameError>().unwrap()),
    }
}

#[test]
fn changes_are_refused_as_rows_are() {
    let (_, near) = reference(&digits(14), 1);
    let error = refusal(&*near, (7, f64::NAN));
    assert!(matches!(error, OnnxError::Missing { row: 1, column: 7 }), "{error:?}");
    for value in [f64::INFINITY, -1e39] {
        let error = refusal(&*near, (7, value));
        assert!(
            matches!(&error, OnnxError::Game(GameError::InfiniteInput { what, column: 7, value: given, .. })
                if what == "row 1" && *given == value),
            "{error:?}"
        );
    }
    let error = refusal(&*near, (196, 0.0));
    assert!(
        matches!(&error, OnnxError::Game(GameError::Width { actual: 197, expected: 196, .. })),
        "{error:?}"
    );
}

#[test]
fn predictions_that_are_not_finite_are_refused() {
    let large = Sequence::new(&[1, 8, 8]).convolution(3, 1, &[8, 8], &[1, 1], &[0; 4]);
    let network = large.with("Mul", &[&[1]], [1e30, 1e30], |node| node).then("Flatten").network();
    let near = network.near(&[0.0; 64]).unwrap();
    let error = refusal(&*near, (3, 1e30));
    assert!(matches!(error, OnnxError::NotFinite { row: 1, output: 0, .. }), "{error:?}");
}

#[test]
fn a_vocabulary_is_the_embedding_of_the_input() {
    assert_eq!(Network::from_bytes(&embedding(DataType::INT32)).unwrap().vocabulary_size(), Some(4));
    assert_eq!(Network::from_bytes(IRIS).unwrap().vocabulary_size(), None);
    for name in ["rt_polarity_conv", "ag_news_bag"] {
        let path = shared().join("models").join(name).with_extension("onnx");
        if path.exists() {
            assert_eq!(Network::from_path(path).unwrap().vocabulary_size(), Some(5000), "{name}");
        }
    }
}
