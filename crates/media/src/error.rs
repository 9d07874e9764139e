//! What can go wrong on the way from a text or an image to a game.

use apportion_games::GameError;

/// Why a text or an image could not be read, or made into a game.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// A feature that a player is given does not exist.
    #[error("player {player} has feature {feature}, but a row has the features 0 to {}", *features as i64 - 1)]
    NoSuchFeature {
        /// The player.
        player: usize,
        /// The feature given.
        feature: usize,
        /// Features of a row.
        features: usize,
    },
    /// A feature is in the hands of two players, or twice of one.
    #[error(
        "feature {feature} belongs to player {first} and to player {second}; give each feature to one player at most, once"
    )]
    SharedFeature {
        /// The feature.
        feature: usize,
        /// Who has it first.
        first: usize,
        /// Who has it again.
        second: usize,
    },
    /// A player without features.
    #[error("player {player} has no features; leave it out")]
    NoFeatures {
        /// The player.
        player: usize,
    },
    /// A vocabulary without tokens.
    #[error("the vocabulary has no tokens; it takes one token per line")]
    EmptyVocabulary,
    /// A vocabulary whose bytes are no text.
    #[error("line {line} (from 0) of the vocabulary is not UTF-8; convert the file")]
    VocabularyEncoding {
        /// The line, from 0.
        line: usize,
    },
    /// A token without characters.
    #[error(
        "line {line} (from 0) of the vocabulary is empty; a token's id is its line, so every line holds one token"
    )]
    EmptyToken {
        /// The line, from 0, which would be the token's id.
        line: usize,
    },
    /// A token that has two ids.
    #[error("the token {token:?} has the ids {first} and {second}; a vocabulary has each token once")]
    DuplicateToken {
        /// The token.
        token: String,
        /// Its first id.
        first: usize,
        /// Its second id.
        second: usize,
    },
    /// A token asked for by name that the vocabulary does not have.
    #[error(
        "the vocabulary has no token {token:?}; name one of its tokens, in the case in which it is written there"
    )]
    NotInVocabulary {
        /// The token.
        token: String,
    },
    /// A model of another vocabulary.
    #[error(
        "the vocabulary has {tokens} tokens, but the model's embedding has {rows} rows, one per token; give the vocabulary that the model was trained with"
    )]
    VocabularySize {
        /// Tokens of the vocabulary.
        tokens: usize,
        /// Rows of the embedding.
        rows: usize,
    },
    /// A word that is not in a vocabulary without a token for such words.
    #[error(
        "{word:?} (at byte {at}) is not in the vocabulary, which has no token for unknown words; name one, or leave the word out"
    )]
    UnknownWord {
        /// The word as it is written.
        word: String,
        /// Where it starts in the text, in bytes.
        at: usize,
    },
    /// A text that maps to no token.
    #[error("the text {text:?} maps to no token; give at least one word")]
    NoTokens {
        /// The text.
        text: String,
    },
    /// A list of tokens and a list of ids that do not match.
    #[error("{tokens} tokens were given, and {ids} ids; give one id per token")]
    TokenIds {
        /// Tokens given.
        tokens: usize,
        /// Ids given.
        ids: usize,
    },
    /// A token that a player is given does not exist.
    #[error("player {player} has token {token}, but the text has the tokens 0 to {}", *tokens as i64 - 1)]
    NoSuchToken {
        /// The player.
        player: usize,
        /// The token given.
        token: usize,
        /// Tokens of the text.
        tokens: usize,
    },
    /// A text with more tokens than a row of the model holds.
    #[error(
        "the text has {tokens} tokens, but a row of the model holds {width}; shorten it, or ask for it to be cut"
    )]
    TextTooLong {
        /// Tokens of the text.
        tokens: usize,
        /// Tokens of a row.
        width: usize,
    },
    /// Scores to be shown of another number of players.
    #[error("{given} scores were given for {players} players; give one per player")]
    ScoreCount {
        /// Scores given.
        given: usize,
        /// Players that there are.
        players: usize,
    },
    /// A score that has no colour.
    #[error("the score of player {player} is {value}; only finite scores can be shown")]
    ScoreNotFinite {
        /// The player.
        player: usize,
        /// Its score.
        value: f64,
    },
    /// A class that a classifier does not have.
    #[error("class {class} does not exist: the classifier has the classes 0 to {}", *classes as i64 - 1)]
    NoSuchClass {
        /// The class asked for.
        class: usize,
        /// Classes that there are.
        classes: usize,
    },
    /// A law over the classes that is none.
    #[error("a law over the classes is {classes} numbers in [0, 1] of sum 1; {problem}")]
    LawOfClasses {
        /// Classes of the classifier.
        classes: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// An output of a classifier that is no logit.
    #[error("output {output} of the classifier is {value}; logits are finite numbers")]
    NotALogit {
        /// Which of the outputs.
        output: usize,
        /// Its value.
        value: f64,
    },
    /// An output of a classifier that is no probability.
    #[error(
        "output {output} of the classifier is {value}; probabilities are in [0, 1]: if these are logits, say so"
    )]
    NotAProbability {
        /// Which of the outputs.
        output: usize,
        /// Its value.
        value: f64,
    },
    /// Probabilities of all classes that do not add up.
    #[error("the probabilities of the classes add up to {sum}, not to 1; a score takes exclusive classes")]
    ProbabilitySum {
        /// What they add up to.
        sum: f64,
    },
    /// Logits that were averaged over several rows.
    #[error(
        "the game averages logits over {scenarios} rows, but it is probabilities that are averaged before the logarithm; make them of the model's logits first"
    )]
    AveragedLogits {
        /// Rows, or draws, that the game averages over.
        scenarios: usize,
    },
    /// A file that cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is no PNG file.
    #[error("the file is no PNG file; convert the image to PNG")]
    NotPng,
    /// A PNG file that ends too early.
    #[error("the PNG file ends before the image does; copy it again")]
    TruncatedPng,
    /// A PNG file that cannot be decoded, or an image that cannot be made one.
    #[error("the PNG file is damaged: {problem}")]
    BadPng {
        /// What is wrong.
        problem: String,
    },
    /// A pixel that one can see through.
    #[error(
        "the pixel in row {row}, column {column} is not opaque, and models have no alpha channel; put the image on a background first"
    )]
    Transparent {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
    },
    /// An image without pixels.
    #[error("an image of {height} × {width} pixels is empty; both sides are at least 1")]
    EmptyImage {
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
    },
    /// A larger image than is taken.
    #[error("{height} × {width} pixels are too many; an image has at most {most}: make it smaller")]
    TooManyPixels {
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
        /// The most pixels.
        most: usize,
    },
    /// An image that is neither grey nor red, green and blue.
    #[error("{given} channels were given; an image has 1 (grey) or 3 (red, green, blue)")]
    ChannelCount {
        /// Channels given.
        given: usize,
    },
    /// Another count of numbers than the image has.
    #[error("{given} numbers are no image of {height} × {width} pixels with {channels} channels, which has {}", height * width * channels)]
    PixelCount {
        /// Numbers given.
        given: usize,
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
        /// Numbers of a pixel.
        channels: usize,
    },
    /// A number that is no brightness.
    #[error(
        "the pixel in row {row}, column {column} has the value {value}; values are from 0 to 1: divide bytes by 255"
    )]
    PixelRange {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A shape that is not that of one kind of images.
    #[error("rows of shape {shape:?} are no images that can be told: {problem}")]
    Shape {
        /// The shape of a row.
        shape: Vec<usize>,
        /// What is wrong with it, or what to do.
        problem: &'static str,
    },
    /// An image of another size or other channels than the one it goes with.
    #[error(
        "{what} has {} × {} pixels and channels: {}; wanted are {} × {} and channels: {}: scale or crop it, or convert between grey and colour",
        given.0, given.1, given.2, wanted.0, wanted.1, wanted.2
    )]
    ImageMismatch {
        /// Which image.
        what: &'static str,
        /// Its height, width and channels.
        given: (usize, usize, usize),
        /// The height, width and channels wanted.
        wanted: (usize, usize, usize),
    },
    /// A pixel scale for another number of channels.
    #[error(
        "the pixel scale is for {given} channels, the model takes {wanted}; give one for all, or one for each"
    )]
    ScaleMismatch {
        /// Channels of the scale.
        given: usize,
        /// Channels of the model.
        wanted: usize,
    },
    /// Ends between which there is no scale.
    #[error("pixels cannot go from {low} to {high}; give two finite numbers that differ, such as 0 and 255")]
    Scale {
        /// What 0 was to be.
        low: f64,
        /// What 1 was to be.
        high: f64,
    },
    /// A value for absent pixels that is no brightness.
    #[error(
        "the reference value {value} is not from 0 to 1; give it as the image has it, before the model's scale"
    )]
    ReferenceValue {
        /// The value.
        value: f64,
    },
    /// Patches without pixels, or larger than the image.
    #[error(
        "patches of {patch} × {patch} pixels: the side is from 1 to {longest}, the longer side of the image"
    )]
    Patch {
        /// The side asked for.
        patch: usize,
        /// The longer side of the image.
        longest: usize,
    },
    /// Labels that are not one per pixel.
    #[error("{given} labels were given for {height} × {width} pixels; give one per pixel, row by row")]
    LabelCount {
        /// Labels given.
        given: usize,
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
    },
    /// Players of an image of another size.
    #[error("the players have {} × {} pixels, the image {} × {}", given.0, given.1, wanted.0, wanted.1)]
    SegmentationMismatch {
        /// Height and width of the segmentation.
        given: (usize, usize),
        /// Height and width of the image.
        wanted: (usize, usize),
    },
    /// A player that does not exist.
    #[error("player {player} does not exist: there are the players 0 to {}", *players as i64 - 1)]
    NoSuchPlayer {
        /// The player.
        player: usize,
        /// Players that there are.
        players: usize,
    },
    /// A step of differences that is none.
    #[error(
        "differences take a positive, finite step, not {step}; 0.01 suits networks that take pixels from 0 to 1"
    )]
    Step {
        /// The step given.
        step: f64,
    },
    /// A step that a number swallows.
    #[error("feature {feature} is {value}, to which a step of {step} adds nothing; give a larger step")]
    StepLost {
        /// The feature.
        feature: usize,
        /// Its value.
        value: f64,
        /// The step.
        step: f64,
    },
    /// A missing value, along which there is no derivative.
    #[error(
        "feature {feature} has no value, so nothing has a derivative along it; fill it in, or leave it to no player"
    )]
    NoDerivative {
        /// The feature.
        feature: usize,
    },
    /// What the game behind reports.
    #[error(transparent)]
    Game(#[from] GameError),
}
