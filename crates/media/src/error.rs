//! Errors of the conversion of texts and images to games.

use apportion_games::GameError;

/// An error while reading a text or an image, or while converting it to a game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// A feature assigned to a player does not exist.
    #[error("player {player} has feature {feature}, but a row has the features 0 to {}", *features as i64 - 1)]
    NoSuchFeature {
        /// The player.
        player: usize,
        /// The nonexistent feature.
        feature: usize,
        /// Number of features of a row.
        features: usize,
    },
    /// A feature is assigned to two players, or twice to the same player.
    #[error(
        "feature {feature} belongs to player {first} and to player {second}; give each feature to one player at most, once"
    )]
    SharedFeature {
        /// The feature.
        feature: usize,
        /// The first player that has the feature.
        first: usize,
        /// The second player that has the feature.
        second: usize,
    },
    /// A player has no features.
    #[error("player {player} has no features; leave it out")]
    NoFeatures {
        /// The player.
        player: usize,
    },
    /// The vocabulary is empty.
    #[error("the vocabulary has no tokens; it takes one token per line")]
    EmptyVocabulary,
    /// The vocabulary is not valid UTF-8.
    #[error("line {line} (from 0) of the vocabulary is not UTF-8; convert the file")]
    VocabularyEncoding {
        /// The line, from 0.
        line: usize,
    },
    /// A line of the vocabulary is empty.
    #[error(
        "line {line} (from 0) of the vocabulary is empty; a token's id is its line, so every line holds one token"
    )]
    EmptyToken {
        /// The line, counted from 0; it would be the token's id.
        line: usize,
    },
    /// A token occurs twice in the vocabulary.
    #[error("the token {token:?} has the ids {first} and {second}; a vocabulary has each token once")]
    DuplicateToken {
        /// The token.
        token: String,
        /// Its first id.
        first: usize,
        /// Its second id.
        second: usize,
    },
    /// A token requested by name is not in the vocabulary.
    #[error(
        "the vocabulary has no token {token:?}; name one of its tokens, in the case in which it is written there"
    )]
    NotInVocabulary {
        /// The token.
        token: String,
    },
    /// The model's embedding does not match the size of the vocabulary.
    #[error(
        "the vocabulary has {tokens} tokens, but the model's embedding has {rows} rows, one per token; give the vocabulary that the model was trained with"
    )]
    VocabularySize {
        /// Number of tokens of the vocabulary.
        tokens: usize,
        /// Number of rows of the embedding.
        rows: usize,
    },
    /// A word is not in the vocabulary, and the vocabulary has no token for unknown words.
    #[error(
        "{word:?} (at byte {at}) is not in the vocabulary, which has no token for unknown words; name one, or leave the word out"
    )]
    UnknownWord {
        /// The word, spelled as in the text.
        word: String,
        /// Its start in the text, in bytes.
        at: usize,
    },
    /// The text contains no token.
    #[error("the text {text:?} maps to no token; give at least one word")]
    NoTokens {
        /// The text.
        text: String,
    },
    /// The numbers of tokens and of ids differ.
    #[error("{tokens} tokens were given, and {ids} ids; give one id per token")]
    TokenIds {
        /// Number of tokens.
        tokens: usize,
        /// Number of ids.
        ids: usize,
    },
    /// A token assigned to a player does not exist.
    #[error("player {player} has token {token}, but the text has the tokens 0 to {}", *tokens as i64 - 1)]
    NoSuchToken {
        /// The player.
        player: usize,
        /// The nonexistent token.
        token: usize,
        /// Number of tokens of the text.
        tokens: usize,
    },
    /// The text has more tokens than fit into a row of the model.
    #[error(
        "the text has {tokens} tokens, but a row of the model holds {width}; shorten it, or ask for it to be cut"
    )]
    TextTooLong {
        /// Number of tokens of the text.
        tokens: usize,
        /// Number of tokens of a row.
        width: usize,
    },
    /// The number of scores differs from the number of players.
    #[error("{given} scores were given for {players} players; give one per player")]
    ScoreCount {
        /// Number of scores passed.
        given: usize,
        /// Number of players.
        players: usize,
    },
    /// A score to display is not finite.
    #[error("the score of player {player} is {value}; only finite scores can be shown")]
    ScoreNotFinite {
        /// The player.
        player: usize,
        /// Its score.
        value: f64,
    },
    /// The classifier does not have the requested class.
    #[error("class {class} does not exist: the classifier has the classes 0 to {}", *classes as i64 - 1)]
    NoSuchClass {
        /// The requested class.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The distribution over the classes is invalid.
    #[error("a law over the classes is {classes} numbers in [0, 1] of sum 1; {problem}")]
    LawOfClasses {
        /// Number of classes of the classifier.
        classes: usize,
        /// Why it is invalid.
        problem: String,
    },
    /// An output of the classifier is not a valid logit.
    #[error("output {output} of the classifier is {value}; logits are finite numbers")]
    NotALogit {
        /// Index of the output.
        output: usize,
        /// Its value.
        value: f64,
    },
    /// An output of the classifier is not a valid probability.
    #[error(
        "output {output} of the classifier is {value}; probabilities are in [0, 1]: if these are logits, say so"
    )]
    NotAProbability {
        /// Index of the output.
        output: usize,
        /// Its value.
        value: f64,
    },
    /// The probabilities of all classes do not sum to 1.
    #[error("the probabilities of the classes add up to {sum}, not to 1; a score takes exclusive classes")]
    ProbabilitySum {
        /// Their sum.
        sum: f64,
    },
    /// The game averages logits over several rows, where the score requires averaged probabilities.
    #[error(
        "the game averages logits over {scenarios} rows, but it is probabilities that are averaged before the logarithm; make them of the model's logits first"
    )]
    AveragedLogits {
        /// Number of rows, or draws, that the game averages over.
        scenarios: usize,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The file is not a PNG file.
    #[error("the file is no PNG file; convert the image to PNG")]
    NotPng,
    /// The PNG file is truncated.
    #[error("the PNG file ends before the image does; copy it again")]
    TruncatedPng,
    /// The PNG file cannot be decoded, or the image cannot be encoded.
    #[error("the PNG file is damaged: {problem}")]
    BadPng {
        /// The problem found.
        problem: String,
    },
    /// A pixel is not fully opaque.
    #[error(
        "the pixel in row {row}, column {column} is not opaque, and models have no alpha channel; put the image on a background first"
    )]
    Transparent {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
    /// The image has no pixels.
    #[error("an image of {height} × {width} pixels is empty; both sides are at least 1")]
    EmptyImage {
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels of a row.
        width: usize,
    },
    /// The image has too many pixels.
    #[error("{height} × {width} pixels are too many; an image has at most {most}: make it smaller")]
    TooManyPixels {
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels of a row.
        width: usize,
        /// Maximum number of pixels.
        most: usize,
    },
    /// The image has neither one channel (grey) nor three (red, green, blue).
    #[error("{given} channels were given; an image has 1 (grey) or 3 (red, green, blue)")]
    ChannelCount {
        /// Number of channels passed.
        given: usize,
    },
    /// The number of values does not match the size of the image.
    #[error("{given} numbers are no image of {height} × {width} pixels with {channels} channels, which has {}", height * width * channels)]
    PixelCount {
        /// Number of values passed.
        given: usize,
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels of a row.
        width: usize,
        /// Number of channels.
        channels: usize,
    },
    /// A pixel value is not between 0 and 1.
    #[error(
        "the pixel in row {row}, column {column} has the value {value}; values are from 0 to 1: divide bytes by 255"
    )]
    PixelRange {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The shape of a row is not a shape of images, or an ambiguous one.
    #[error("rows of shape {shape:?} are no images that can be told: {problem}")]
    Shape {
        /// The shape of a row.
        shape: Vec<usize>,
        /// Why the shape is rejected, or what to do.
        problem: &'static str,
    },
    /// The image has a different size or different channels than expected.
    #[error(
        "{what} has {} × {} pixels and channels: {}; wanted are {} × {} and channels: {}: scale or crop it, or convert between grey and colour",
        given.0, given.1, given.2, wanted.0, wanted.1, wanted.2
    )]
    ImageMismatch {
        /// The role of the image.
        what: &'static str,
        /// Its height, width and channels.
        given: (usize, usize, usize),
        /// The expected height, width and channels.
        wanted: (usize, usize, usize),
    },
    /// The pixel scale is for a different number of channels.
    #[error(
        "the pixel scale is for {given} channels, the model takes {wanted}; give one for all, or one for each"
    )]
    ScaleMismatch {
        /// Number of channels of the scale.
        given: usize,
        /// Number of channels of the model.
        wanted: usize,
    },
    /// The ends of a pixel scale are equal or not finite.
    #[error("pixels cannot go from {low} to {high}; give two finite numbers that differ, such as 0 and 255")]
    Scale {
        /// The value that pixel 0 would map to.
        low: f64,
        /// The value that pixel 1 would map to.
        high: f64,
    },
    /// The reference value for absent pixels is not between 0 and 1.
    #[error(
        "the reference value {value} is not from 0 to 1; give it as the image has it, before the model's scale"
    )]
    ReferenceValue {
        /// The value.
        value: f64,
    },
    /// The patches are empty, or larger than the image.
    #[error(
        "patches of {patch} × {patch} pixels: the side is from 1 to {longest}, the longer side of the image"
    )]
    Patch {
        /// The requested side length.
        patch: usize,
        /// The longer side of the image.
        longest: usize,
    },
    /// The number of labels differs from the number of pixels.
    #[error("{given} labels were given for {height} × {width} pixels; give one per pixel, row by row")]
    LabelCount {
        /// Number of labels passed.
        given: usize,
        /// Number of rows of pixels.
        height: usize,
        /// Number of pixels of a row.
        width: usize,
    },
    /// The segmentation has a different size than the image.
    #[error("the players have {} × {} pixels, the image {} × {}", given.0, given.1, wanted.0, wanted.1)]
    SegmentationMismatch {
        /// Height and width of the segmentation.
        given: (usize, usize),
        /// Height and width of the image.
        wanted: (usize, usize),
    },
    /// The player does not exist.
    #[error("player {player} does not exist: there are the players 0 to {}", *players as i64 - 1)]
    NoSuchPlayer {
        /// The player.
        player: usize,
        /// Number of players.
        players: usize,
    },
    /// The step of the finite differences is not positive and finite.
    #[error(
        "differences take a positive, finite step, not {step}; 0.01 suits networks that take pixels from 0 to 1"
    )]
    Step {
        /// The step passed.
        step: f64,
    },
    /// Adding the step does not change the feature, because of rounding.
    #[error("feature {feature} is {value}, to which a step of {step} adds nothing; give a larger step")]
    StepLost {
        /// The feature.
        feature: usize,
        /// Its value.
        value: f64,
        /// The step.
        step: f64,
    },
    /// A feature is missing, so the derivative along it is undefined.
    #[error(
        "feature {feature} has no value, so nothing has a derivative along it; fill it in, or leave it to no player"
    )]
    NoDerivative {
        /// The feature.
        feature: usize,
    },
    /// An error of the underlying game.
    #[error(transparent)]
    Game(#[from] GameError),
}
