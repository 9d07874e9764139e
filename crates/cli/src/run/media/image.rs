//! `apportion explain-image`: attributions of a network's prediction for an image to pixels or patches.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use apportion::games::{Adjacency, Graph};
use apportion::media::{
    ChannelOrder, Image, Layout, MediaError, OverlayOptions, PixelScale, Reference, Segmentation, overlay,
};
use apportion_files::Destination;
use apportion_onnx::Network;
use serde_json::json;

use super::division::divide;
use crate::failure::Usage;
use crate::parse::media::ExplainImage;
use crate::read::network;
use crate::write::write_all;

pub(crate) fn run(args: &ExplainImage) -> Result<()> {
    let started = Instant::now();
    let options = args.division.check()?;
    let scale = scale(&args.pixels)?;
    let inputs =
        [Some(args.network.model.as_path()), Some(args.image.as_path()), args.superpixels.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    let destination = Destination::new(args.out.as_deref(), &inputs)?;
    let picture = match &args.overlay {
        Some(path) => Some(Destination::from_option("--overlay", path, &inputs)?),
        None => None,
    };
    if picture.as_ref().is_some_and(|picture| picture.is_file_of(&destination)) {
        return Err(Usage("--overlay and --out name the same file; use different files".to_owned()).into());
    }
    let reference = reference(&args.reference)?;
    let image = read("the image", &args.image)?;
    let segmentation = match &args.superpixels {
        Some(path) => Segmentation::from_label_image(&read("the superpixels", path)?),
        None => Segmentation::patches(image.height(), image.width(), args.patch as usize)?,
    };
    let network = network::read(&args.network)?;
    let layout = layout(&network, &image)?;
    let masked = image.masked(&layout, &scale, &segmentation, &reference)?;
    let adjacency = if args.neighbours == 8 { Adjacency::Eight } else { Adjacency::Four };
    let graph: Graph = segmentation.graph(adjacency)?;
    let divided = divide(&args.division, &options, &network, &masked, graph, started)?;

    let grid = segmentation.rows_columns();
    let names = (0..segmentation.count()).map(|player| match grid {
        Some((_, columns)) => format!("{}/{}", player / columns, player % columns),
        None => player.to_string(),
    });
    let names = names.collect();
    let grey = image.to_grey();
    let mean = |pixels: &Vec<usize>| {
        pixels.iter().map(|&pixel| grey.pixels()[pixel]).sum::<f64>() / pixels.len().max(1) as f64
    };
    let inputs = segmentation.pixels_by_player().iter().map(mean).collect();
    let mut about = vec![
        ("height", json!(image.height())),
        ("width", json!(image.width())),
        ("channels", json!(image.channels())),
        ("reference", json!(args.reference)),
    ];
    match grid {
        Some((rows, columns)) => {
            about.push(("patch", json!(args.patch)));
            about.push(("rows", json!(rows)));
            about.push(("columns", json!(columns)));
        }
        None => about.push(("labels", json!(segmentation.labels()))),
    }
    divided.finish(&args.division, |divided| {
        let drawn = match &picture {
            Some(picture) => {
                let drawn = overlay(&image, &segmentation, &divided.shown(), &OverlayOptions::default())?;
                Some((picture, drawn.to_png()?))
            }
            None => None,
        };
        let (results, block) = divided.values(&args.division, "image", names, inputs, about)?;
        let draw = || match &drawn {
            Some((picture, bytes)) => picture.write(|out| Ok(out.write_all(bytes)?)),
            None => Ok(()),
        };
        if matches!(destination, Destination::Standard) {
            draw()?;
            return write_all(&destination, args.format, &results, &block, || Ok(()));
        }
        // The picture is written before the results get their final name, so that neither file appears if the
        // other cannot be written.
        write_all(&destination, args.format, &results, &block, draw)
    })
}

fn read(what: &str, path: &Path) -> Result<Image> {
    let image = match Image::from_png_file(path) {
        // The message of this variant would repeat the path of the file.
        Err(MediaError::File { source, .. }) => Err(source.into()),
        image => image.map_err(anyhow::Error::from),
    };
    image.with_context(|| format!("cannot read {what} from {}", path.display()))
}

/// Returns the layout of the image in an input row of the network. A flat row does not determine the width,
/// so the width is taken from the image.
fn layout(network: &Network, image: &Image) -> Result<Layout> {
    if network.takes_whole_numbers() && network.vocabulary_size().is_some() {
        bail!(
            "the model does not accept images: its input {} contains token ids; use apportion explain-text",
            network.input_name()
        );
    }
    match (network.row_shape(), image.channels()) {
        (&[features], 1) if features == image.height() * image.width() => {
            Ok(Layout::new(image.height(), image.width(), 1, ChannelOrder::First)?)
        }
        (&[features], channels) => bail!(
            "the model expects rows of {features} numbers, but the image has shape {} × {} × {channels} \
             (height × width × channels); use a grey image with {features} pixels, or a network whose input \
             is [channels, height, width]",
            image.height(),
            image.width()
        ),
        (shape, _) => Layout::from_shape(shape).context("the model does not accept images"),
    }
}

/// Returns the network's values for black and white.
fn scale(ends: &[f64]) -> Result<PixelScale> {
    let scale = match ends {
        [] => return Ok(PixelScale::default()),
        [low, high] => PixelScale::new(*low, *high),
        ends if ends.len().is_multiple_of(2) => {
            PixelScale::per_channel(ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>())
        }
        ends => {
            return Err(Usage(format!(
                "--pixels expects two numbers, or two for each channel, got {}",
                ends.len()
            ))
            .into());
        }
    };
    scale.map_err(|error| Usage(format!("--pixels: {error}")).into())
}

/// Returns the replacement for absent pixels.
fn reference(given: &str) -> Result<Reference> {
    let numbers: Result<Vec<f64>, _> = given.split(',').map(|number| number.trim().parse::<f64>()).collect();
    Ok(match (given, numbers) {
        ("mean", _) => Reference::Mean,
        ("channel-means", _) => Reference::ChannelMeans,
        (_, Ok(numbers)) => match numbers[..] {
            _ if numbers.iter().any(|number| !(0.0..=1.0).contains(number)) => {
                return Err(Usage(format!(
                    "invalid value {given} for --reference: numbers must be from 0 (black) to 1 (white), \
                     independent of --pixels"
                ))
                .into());
            }
            [number] => Reference::Value(number),
            _ => Reference::Values(numbers),
        },
        (path, Err(_)) if !Path::new(path).exists() => {
            return Err(Usage(format!(
                "invalid value {path:?} for --reference; expected mean, channel-means, a number, one number \
                 per channel, or a file"
            ))
            .into());
        }
        (path, Err(_)) => Reference::Image(read("the reference", Path::new(path))?),
    })
}
