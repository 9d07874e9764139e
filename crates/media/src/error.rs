//! Errors that occur when converting texts and images to games.

use apportion_games::GameError;
use apportion_games::phrases::{expected_index, plural};

/// An error while reading a text or an image, or while converting it to a game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// A feature assigned to a player does not exist.
    #[error("invalid feature {feature} for player {player}; {}", expected_index(*features, "feature"))]
    NoSuchFeature {
        /// Index of the player.
        player: usize,
        /// Index of the nonexistent feature.
        feature: usize,
        /// Number of features in a row.
        features: usize,
    },
    /// A feature is assigned to two players, or twice to the same player.
    #[error(
        "feature {feature} is listed {}; list each feature only once",
        if first == second {
            format!("twice for player {first}")
        } else {
            format!("for player {first} and for player {second}")
        }
    )]
    SharedFeature {
        /// Index of the feature.
        feature: usize,
        /// Index of the first player that has the feature.
        first: usize,
        /// Index of the second player that has the feature.
        second: usize,
    },
    /// A player does not have any features.
    #[error("player {player} has no features; remove it")]
    NoFeatures {
        /// Index of the player.
        player: usize,
    },
    /// The vocabulary is empty.
    #[error("the vocabulary is empty; expected one token per line")]
    EmptyVocabulary,
    /// The vocabulary is not valid UTF-8.
    #[error("line {line} (counted from 0) of the vocabulary is not valid UTF-8; convert the file to UTF-8")]
    VocabularyEncoding {
        /// The line with the invalid bytes, counted from 0.
        line: usize,
    },
    /// A line of the vocabulary is empty.
    #[error(
        "line {line} (counted from 0) of the vocabulary is empty; expected one token per line, as token IDs \
         are line numbers"
    )]
    EmptyToken {
        /// The line, counted from 0, which is the ID of the missing token.
        line: usize,
    },
    /// A token occurs twice in the vocabulary.
    #[error(
        "duplicate token {token:?} in the vocabulary, with the IDs {first} and {second}; tokens must be \
         unique"
    )]
    DuplicateToken {
        /// The text of the token.
        token: String,
        /// The first ID of the token.
        first: usize,
        /// The second ID of the token.
        second: usize,
    },
    /// A token requested by name is not in the vocabulary.
    #[error("unknown token {token:?}; expected a token of the vocabulary (case-sensitive)")]
    NotInVocabulary {
        /// The text of the token.
        token: String,
    },
    /// The model's embedding does not match the size of the vocabulary.
    #[error(
        "the vocabulary has {tokens} token{}, but the model's embedding has {rows} row{}, one per token; use \
         the vocabulary that the model was trained with",
        plural(*tokens),
        plural(*rows)
    )]
    VocabularySize {
        /// Number of tokens in the vocabulary.
        tokens: usize,
        /// Number of rows in the embedding.
        rows: usize,
    },
    /// A word is not in the vocabulary, and the vocabulary does not have a token for unknown words.
    #[error(
        "{word:?} (at byte {at}) is not in the vocabulary, and no token for unknown words is set; set such a \
         token, or remove the word"
    )]
    UnknownWord {
        /// The word, spelled as in the text.
        word: String,
        /// The start of the word in the text, in bytes.
        at: usize,
    },
    /// The text does not contain any tokens.
    #[error("the text {text:?} contains no tokens; pass at least one word")]
    NoTokens {
        /// The text without tokens.
        text: String,
    },
    /// The numbers of tokens and of ids differ.
    #[error("expected {tokens} token ID{} (one per token), got {ids}", plural(*tokens))]
    TokenIds {
        /// Number of tokens.
        tokens: usize,
        /// Number of ids.
        ids: usize,
    },
    /// A token assigned to a player does not exist.
    #[error("invalid token {token} for player {player}; {}", expected_index(*tokens, "token"))]
    NoSuchToken {
        /// Index of the player.
        player: usize,
        /// Index of the nonexistent token.
        token: usize,
        /// Number of tokens in the text.
        tokens: usize,
    },
    /// The text has more tokens than fit in a row of the model.
    #[error(
        "the text has {tokens} token{}, but the model takes at most {width}; shorten or truncate the text",
        plural(*tokens)
    )]
    TextTooLong {
        /// Number of tokens in the text.
        tokens: usize,
        /// Number of tokens that fit in a row.
        width: usize,
    },
    /// The number of scores differs from the number of players.
    #[error("expected {players} score{} (one per player), got {actual}", plural(*players))]
    ScoreCount {
        /// Number of scores passed.
        actual: usize,
        /// Number of players.
        players: usize,
    },
    /// A score to display is not finite.
    #[error("the score of player {player} is {value}; scores must be finite")]
    ScoreNotFinite {
        /// Index of the player.
        player: usize,
        /// The score of the player.
        value: f64,
    },
    /// The classifier does not have the requested class.
    #[error("invalid class {class}; {}", expected_index(*classes, "class"))]
    NoSuchClass {
        /// Index of the requested class.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The distribution over the classes is invalid.
    #[error(
        "invalid class distribution: {problem}; expected one probability from 0 to 1 per class (classes: \
         {classes}), with a sum of 1"
    )]
    ClassDistribution {
        /// Number of classes of the classifier.
        classes: usize,
        /// Why the distribution is invalid.
        problem: String,
    },
    /// An output of the classifier is not a valid logit.
    #[error("output {output} of the classifier is {value}, but logits must be finite; check the classifier")]
    NotALogit {
        /// Index of the output.
        output: usize,
        /// The value of the output.
        value: f64,
    },
    /// An output of the classifier is not a valid probability.
    #[error(
        "output {output} of the classifier is {value}, but probabilities must be in [0, 1]; if the \
         classifier returns logits, declare the outputs as logits"
    )]
    NotAProbability {
        /// Index of the output.
        output: usize,
        /// The value of the output.
        value: f64,
    },
    /// The probabilities of all classes do not sum to 1.
    #[error("the class probabilities sum to {sum}, expected 1; the classes must be mutually exclusive")]
    ProbabilitySum {
        /// The sum of the probabilities.
        sum: f64,
    },
    /// The game averages logits over several rows, but the score requires averaged probabilities.
    #[error(
        "the game averages logits over {scenarios} rows, but probabilities must be averaged before the \
         logarithm; convert the logits of the model to probabilities first"
    )]
    AveragedLogits {
        /// Number of rows, or draws, over which the game averages.
        scenarios: usize,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The path of the file.
        path: std::path::PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The file is not a PNG file.
    #[error("the file is not a PNG file; convert the image to PNG")]
    NotPng,
    /// The PNG file is truncated.
    #[error("the PNG file is truncated; copy the file again")]
    TruncatedPng,
    /// The PNG file cannot be decoded.
    #[error("the PNG file is corrupt: {problem}; save the image as PNG again")]
    BadPng {
        /// Why the file is invalid.
        problem: String,
    },
    /// The image cannot be encoded.
    #[error("cannot encode the image of {height} × {width} pixels as PNG: {problem}; use a smaller image")]
    EncodePng {
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels per row.
        width: usize,
        /// The error of the encoder.
        problem: String,
    },
    /// A pixel is not fully opaque.
    #[error(
        "the pixel in row {row}, column {column} is not opaque, but models have no alpha channel; flatten \
         the image onto a background first"
    )]
    Transparent {
        /// The row of the pixel, counted from 0.
        row: usize,
        /// The column of the pixel, counted from 0.
        column: usize,
    },
    /// The image does not have any pixels.
    #[error("invalid image size of {height} × {width} pixels; both sides must be at least 1")]
    EmptyImage {
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels per row.
        width: usize,
    },
    /// The image has too many pixels.
    #[error("{height} × {width} pixels exceed the maximum of {max}; use a smaller image")]
    TooManyPixels {
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels per row.
        width: usize,
        /// Maximum number of pixels.
        max: usize,
    },
    /// The image has neither one channel (grey) nor three (red, green, blue).
    #[error("expected 1 channel (grey) or 3 (red, green, blue), got {actual}")]
    ChannelCount {
        /// Number of channels passed.
        actual: usize,
    },
    /// The number of values does not match the size of the image.
    #[error(
        "invalid number of pixel values {actual} for an image of {height} × {width} pixels with {channels} \
         channel{}; expected {}",
        plural(*channels),
        height * width * channels
    )]
    PixelCount {
        /// Number of values passed.
        actual: usize,
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels per row.
        width: usize,
        /// Number of channels.
        channels: usize,
    },
    /// A pixel value is not between 0 and 1.
    #[error(
        "the pixel in row {row}, column {column} has the value {value}; values must be in [0, 1] (divide \
         bytes by 255)"
    )]
    PixelRange {
        /// The row of the pixel, counted from 0.
        row: usize,
        /// The column of the pixel, counted from 0.
        column: usize,
        /// The pixel value.
        value: f64,
    },
    /// The shape of a row is not an image shape, or is ambiguous.
    #[error("cannot infer the image layout from rows of shape {shape:?}: {problem}")]
    Shape {
        /// The shape of a row, without the batch dimension.
        shape: Vec<usize>,
        /// Why the shape is rejected, or what to do.
        problem: &'static str,
    },
    /// The image has a different size or different channels than expected.
    #[error(
        "{what} has shape {} × {} × {} (height × width × channels), expected {} × {} × {}; use the same {}",
        actual.0, actual.1, actual.2, expected.0, expected.1, expected.2,
        match ((actual.0, actual.1) == (expected.0, expected.1), actual.2 == expected.2) {
            (true, _) => "number of channels",
            (false, true) => "height and width",
            (false, false) => "height, width and number of channels",
        }
    )]
    ImageMismatch {
        /// The role of the image.
        what: &'static str,
        /// The height, width and channels of the image.
        actual: (usize, usize, usize),
        /// The expected height, width and channels.
        expected: (usize, usize, usize),
    },
    /// The number of channels of the pixel scale differs from that of the model.
    #[error(
        "the pixel scale has {actual} channel{}, expected {expected}; pass one range for all channels, or \
         one range per channel",
        plural(*actual)
    )]
    ScaleMismatch {
        /// Number of channels of the scale.
        actual: usize,
        /// Number of channels of the model.
        expected: usize,
    },
    /// The ends of a pixel scale are equal or not finite.
    #[error(
        "invalid pixel range from {low} to {high}; expected two different finite numbers, e.g. 0 and 255"
    )]
    Scale {
        /// The value to which pixel 0 would be mapped.
        low: f64,
        /// The value to which pixel 1 would be mapped.
        high: f64,
    },
    /// The reference value for absent pixels is not between 0 and 1.
    #[error(
        "invalid reference value {value}; expected a pixel value from 0 to 1 (before conversion to the scale \
         of the model)"
    )]
    ReferenceValue {
        /// The reference value.
        value: f64,
    },
    /// The patches are empty, or larger than the image.
    #[error(
        "invalid patches of {patch} × {patch} pixels; the side must be at least 1 and at most {longest}, the \
         longer side of the image"
    )]
    Patch {
        /// The requested side length.
        patch: usize,
        /// The longer side of the image.
        longest: usize,
    },
    /// The number of labels differs from the number of pixels.
    #[error("expected one label per pixel, row by row ({height} × {width} pixels), got {actual}")]
    LabelCount {
        /// Number of labels passed.
        actual: usize,
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels per row.
        width: usize,
    },
    /// The segmentation has a different size than the image.
    #[error(
        "the segmentation has {} × {} pixels, expected {} × {} as in the image; segment this image",
        actual.0, actual.1, expected.0, expected.1
    )]
    SegmentationMismatch {
        /// Height and width of the segmentation.
        actual: (usize, usize),
        /// Height and width of the image.
        expected: (usize, usize),
    },
    /// The player does not exist.
    #[error("invalid player {player}; {}", expected_index(*players, "player"))]
    NoSuchPlayer {
        /// Index of the player.
        player: usize,
        /// Number of players.
        players: usize,
    },
    /// The step of the finite differences is not positive and finite.
    #[error(
        "the finite-difference step must be positive and finite, got {step}; 0.001 suits networks with \
         pixels from 0 to 1"
    )]
    Step {
        /// The given finite-difference step.
        step: f64,
    },
    /// Adding the step does not change the feature, because of rounding.
    #[error(
        "adding a step of {step} to feature {feature} does not change the value {value} because of rounding; \
         use a larger step"
    )]
    StepLost {
        /// Index of the feature.
        feature: usize,
        /// The value of the feature.
        value: f64,
        /// The finite-difference step.
        step: f64,
    },
    /// A feature is missing, so the derivative along it is undefined.
    #[error(
        "feature {feature} is missing, so its derivative is undefined; impute the value, or do not assign \
         the feature to a player"
    )]
    NoDerivative {
        /// Index of the feature.
        feature: usize,
    },
    /// The underlying game returned an error.
    #[error(transparent)]
    Game(#[from] GameError),
}
