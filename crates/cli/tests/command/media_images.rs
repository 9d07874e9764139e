//! `apportion explain-image`: compares values on the networks of the fixtures with their definitions.

use apportion::Rows;
use apportion::games::{Adjacency, Graph};
use apportion::media::Image;

use crate::media::{Masked, SINGLE, VALUES, check, explained, largest, network, on_image};
use crate::support::{assert_close, fixture, json, numbers};

/// Returns an image of the fixtures, and its pixels in the order of a network whose input has the channels
/// first.
fn pixels(name: &str) -> (Image, Vec<f64>) {
    let image = Image::from_png_file(fixture(name)).unwrap();
    let (channels, size) = (image.channels(), image.height() * image.width());
    let row = (0..channels * size).map(|feature| image.pixels()[feature % size * channels + feature / size]);
    let row = row.collect();
    (image, row)
}

/// Returns the features of each patch of an image.
fn patches(image: &Image, patch: usize) -> Vec<Vec<usize>> {
    let (rows, columns) = (image.height().div_ceil(patch), image.width().div_ceil(patch));
    let mut players = vec![Vec::new(); rows * columns];
    for feature in 0..image.channels() * image.height() * image.width() {
        let pixel = feature % (image.height() * image.width());
        let (row, column) = (pixel / image.width() / patch, pixel % image.width() / patch);
        players[row * columns + column].push(feature);
    }
    players
}

/// Returns the game whose players are the patches of a digit; absent patches get the mean of the image.
fn digit(patch: usize) -> Masked {
    let (image, present) = pixels("digit.png");
    let mean = present.iter().sum::<f64>() / present.len() as f64;
    let players = patches(&image, patch);
    Masked { network: network("digits.onnx"), absent: vec![mean; present.len()], present, players }
}

#[test]
fn patches_get_what_the_definitions_say() {
    // The patches at the right and bottom borders are smaller.
    let game = digit(3).table(<[f64]>::to_vec);
    for value in VALUES {
        for (neighbours, adjacency) in [("4", Adjacency::Four), ("8", Adjacency::Eight)] {
            let arguments =
                on_image("digits.onnx", "digit.png", &["--patch", "3", "--neighbours", neighbours]);
            let results = check(&arguments, value, &game, &Graph::grid(3, 3, adjacency));
            assert_eq!((&results["rows"], &results["columns"]), (&3.into(), &3.into()));
            assert_eq!(results["features"][5], "1/2");
        }
    }
}

/// Checks C-Shapley values of order 1 (definition 2 of Chen et al., 2019) for each of 64 pixels. The
/// connected coalitions of a pixel consist of the pixel and any subset of its neighbours.
#[test]
fn single_pixels_get_what_the_definition_says() {
    let Masked { network, present, absent, .. } = digit(1);
    let graph = Graph::grid(8, 8, Adjacency::Four);
    let mut rows = Vec::new();
    let mut terms = Vec::new();
    for pixel in 0..64 {
        let around = graph.neighbours(pixel);
        for mask in 0..1usize << around.len() {
            let mut row = absent.clone();
            let others: Vec<usize> = (0..around.len()).filter(|other| mask >> other & 1 == 1).collect();
            others.iter().for_each(|&other| row[around[other]] = present[around[other]]);
            rows.extend_from_slice(&row);
            row[pixel] = present[pixel];
            rows.extend(row);
            let size = (others.len() + 1) as f64;
            terms.push((pixel, 2.0 / ((size + 2.0) * (size + 1.0) * size)));
        }
    }
    let worth = network.predictions(Rows::new(&rows, 64)).unwrap();
    let mut expected = vec![0.0; 64];
    for ((pixel, weight), worth) in terms.into_iter().zip(worth.chunks_exact(2)) {
        expected[pixel] += weight * (worth[1] - worth[0]);
    }
    let results = json(&on_image("digits.onnx", "digit.png", &["--value", "c-shapley=1,printed"]));
    let values = numbers(&explained(&results)["values"]);
    assert_close(&values, &expected, largest(&expected), SINGLE, "pixels");
}

#[test]
fn absent_pixels_are_what_the_options_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reference.png");
    let other = Image::from_bytes(8, 8, 1, &[51; 64]).unwrap();
    std::fs::write(&path, other.to_png().unwrap()).unwrap();
    let graph = Graph::grid(2, 2, Adjacency::Four);
    for (options, absent, scale) in [
        (["--reference", "0"], 0.0, [0.0, 1.0]),
        (["--reference", "0.25"], 0.25, [0.0, 1.0]),
        (["--reference", path.to_str().unwrap()], 0.2, [0.0, 1.0]),
        (["--pixels", "0,16"], f64::NAN, [0.0, 16.0]),
        (["--pixels", "-1,1"], f64::NAN, [-1.0, 1.0]),
    ] {
        let mut masked = digit(4);
        if !absent.is_nan() {
            masked.absent.fill(absent);
        }
        let [low, high] = scale;
        for row in [&mut masked.absent, &mut masked.present] {
            row.iter_mut().for_each(|pixel| *pixel = low + (high - low) * *pixel);
        }
        let arguments = on_image("digits.onnx", "digit.png", &[&["--patch", "4"][..], &options].concat());
        check(&arguments, "shapley", &masked.table(<[f64]>::to_vec), &graph);
    }
}

#[test]
fn a_grey_image_goes_into_a_network_of_flat_rows() {
    let (image, present) = pixels("digit.png");
    let players = patches(&image, 4);
    let masked = Masked { network: network("flat.onnx"), absent: vec![0.5; 64], present, players };
    let arguments = on_image("flat.onnx", "digit.png", &["--patch", "4", "--reference", "0.5"]);
    let graph = Graph::grid(2, 2, Adjacency::Four);
    check(&arguments, "c-shapley=1", &masked.table(<[f64]>::to_vec), &graph);
}

/// One of the regions consists of two separate parts.
#[test]
fn superpixels_are_players_and_their_borders_the_graph() {
    let labels = [
        [0, 0, 0, 1, 1, 9, 2, 2],
        [0, 0, 0, 1, 1, 9, 2, 2],
        [0, 0, 3, 3, 3, 9, 2, 2],
        [0, 0, 3, 3, 3, 9, 2, 2],
        [9, 9, 9, 9, 9, 9, 2, 2],
        [4, 4, 4, 4, 4, 9, 2, 2],
        [4, 4, 1, 1, 4, 9, 2, 2],
        [4, 4, 4, 4, 4, 9, 2, 2],
    ];
    let labels: Vec<u8> = labels.concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("superpixels.png");
    std::fs::write(&path, Image::from_bytes(8, 8, 1, &labels).unwrap().to_png().unwrap()).unwrap();
    // The players are the labels in the order of their first appearance.
    let order = [0, 1, 9, 2, 3, 4];
    let mut masked = digit(4);
    masked.players =
        order.iter().map(|label| (0..64).filter(|&pixel| labels[pixel] == *label).collect()).collect();
    let game = masked.table(<[f64]>::to_vec);
    let edges = [(0, 1), (0, 4), (1, 4), (1, 2), (2, 3), (2, 4), (0, 2), (2, 5), (1, 5)];
    let graph = Graph::from_edges(6, edges).unwrap();
    for value in VALUES {
        let arguments = on_image("digits.onnx", "digit.png", &["--superpixels", path.to_str().unwrap()]);
        let results = check(&arguments, value, &game, &graph);
        assert_eq!(results["features"], serde_json::json!(["0", "1", "2", "3", "4", "5"]));
        assert_eq!(results["labels"].as_array().unwrap().len(), 64);
    }
}

/// Checks the logits of a network with a single output, which is for class 1 of two, and the probabilities of
/// a network with three outputs.
#[test]
fn scores_are_those_of_the_classes() {
    let (image, present) = pixels("colours.png");
    let mean = present.iter().sum::<f64>() / present.len() as f64;
    let absent = vec![mean; present.len()];
    let colours = Masked { network: network("colours.onnx"), absent, present, players: patches(&image, 2) };
    let digit = digit(4);
    let of_logit = |outputs: &[f64]| {
        let one = 1.0 / (1.0 + (-outputs[0]).exp());
        vec![1.0 - one, one]
    };
    type Classes<'a> = &'a dyn Fn(&[f64]) -> Vec<f64>;
    type Named<'a> = (&'static str, Box<dyn Fn(&[f64]) -> f64 + 'a>);
    let images: [(&Masked, Classes<'_>, Vec<String>, Graph); 2] = [
        (
            &colours,
            &|outputs| outputs.to_vec(),
            on_image("colours.onnx", "colours.png", &["--patch", "2", "--outputs", "probabilities"]),
            Graph::grid(2, 3, Adjacency::Four),
        ),
        (
            &digit,
            &of_logit,
            on_image("digits.onnx", "digit.png", &["--patch", "4"]),
            Graph::grid(2, 2, Adjacency::Four),
        ),
    ];
    for (masked, classes, arguments, graph) in images {
        let outputs = masked.network.predictions(Rows::new(&masked.present, masked.present.len())).unwrap();
        let whole = classes(&outputs);
        let predicted = (0..whole.len()).max_by(|&a, &b| whole[a].total_cmp(&whole[b])).unwrap();
        for class in 0..whole.len() {
            let scores: [Named<'_>; 3] = [
                ("log-probability", Box::new(move |p: &[f64]| p[class].ln())),
                ("log-odds", Box::new(move |p: &[f64]| (p[class] / (1.0 - p[class])).ln())),
                (
                    "expected-log-probability",
                    Box::new(|p: &[f64]| p.iter().zip(&whole).map(|(p, whole)| whole * p.ln()).sum()),
                ),
            ];
            for (name, score) in &scores {
                let game = masked.table(|outputs| vec![score(&classes(outputs))]);
                let mut arguments = arguments.clone();
                arguments.extend(["--score".to_owned(), (*name).to_owned()]);
                arguments.extend(["--class".to_owned(), class.to_string()]);
                let results = check(&arguments, "l-shapley=1", &game, &graph);
                assert_eq!(results["score"], *name);
                assert_eq!((&results["class"], &results["predicted"]), (&class.into(), &predicted.into()));
            }
        }
        let mut arguments = arguments.clone();
        arguments.extend(["--score".to_owned(), "log-probability".to_owned()]);
        let game = masked.table(|outputs| vec![classes(outputs)[predicted].ln()]);
        assert_eq!(check(&arguments, "myerson", &game, &graph)["class"], predicted);
    }
}

#[test]
fn a_game_of_a_classifier_has_all_of_its_outputs() {
    let (image, present) = pixels("colours.png");
    let means: Vec<f64> =
        present.chunks_exact(24).map(|channel| channel.iter().sum::<f64>() / 24.0).collect();
    let absent: Vec<f64> = (0..present.len()).map(|feature| means[feature / 24]).collect();
    let players = patches(&image, 2);
    let mut masked = Masked { network: network("colours.onnx"), absent, present, players };
    let graph = Graph::grid(2, 3, Adjacency::Four);
    let arguments = |reference: &str| {
        let options = ["--patch", "2", "--outputs", "probabilities", "--reference", reference];
        on_image("colours.onnx", "colours.png", &options)
    };
    for value in VALUES {
        check(&arguments("channel-means"), value, &masked.table(<[f64]>::to_vec), &graph);
    }
    for (channel, value) in [0.5, 0.1, 1.0].into_iter().enumerate() {
        masked.absent[24 * channel..][..24].fill(value);
    }
    check(&arguments("0.5,0.1,1"), "shapley", &masked.table(<[f64]>::to_vec), &graph);
}
