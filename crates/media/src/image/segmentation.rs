//! Assignment of the pixels of an image to players.

use std::collections::HashMap;

use apportion_games::{Adjacency, GameError, Graph};

use super::{Image, check_size};
use crate::error::MediaError;

/// The assignment of pixels to players: every pixel belongs to one player, and every player has at least one
/// pixel.
///
/// Players are single pixels, square patches, or arbitrary regions. Superpixels of any segmentation method
/// can be passed as labels or as a picture.
///
/// ```
/// use apportion_games::Adjacency;
/// use apportion_media::Segmentation;
///
/// let patches = Segmentation::patches(28, 28, 7)?;
/// assert_eq!((patches.count(), patches.rows_columns()), (16, Some((4, 4))));
/// // The pixel in row 8, column 0 belongs to the first patch of the second row.
/// assert_eq!(patches.labels()[8 * 28], 4);
///
/// let regions = Segmentation::from_labels(2, 3, &[7, 7, 9, 7, 4, 4])?;
/// assert_eq!(regions.labels(), [0, 0, 1, 0, 2, 2]);
/// assert_eq!(regions.borders(Adjacency::Four), [(0, 1), (0, 2), (1, 2)]);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segmentation {
    height: usize,
    width: usize,
    /// The player of each pixel, row by row.
    labels: Vec<usize>,
    count: usize,
    /// Numbers of rows and columns of players, if they form a grid.
    grid: Option<(usize, usize)>,
}

impl Segmentation {
    /// Creates one player for each pixel, row by row.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyImage`], [`MediaError::TooManyPixels`].
    pub fn pixels(height: usize, width: usize) -> Result<Self, MediaError> {
        Self::patches(height, width, 1)
    }

    /// Creates one player for each square patch of `patch` × `patch` pixels, row by row. If `patch` does not
    /// divide the size of the image, the last patches in a row or column are smaller.
    ///
    /// # Errors
    ///
    /// [`MediaError::Patch`] unless `patch` is between 1 and the longer side, [`MediaError::EmptyImage`],
    /// [`MediaError::TooManyPixels`].
    pub fn patches(height: usize, width: usize, patch: usize) -> Result<Self, MediaError> {
        let pixels = check_size(height, width)?;
        let longest = height.max(width);
        if !(1..=longest).contains(&patch) {
            return Err(MediaError::Patch { patch, longest });
        }
        let (rows, columns) = (height.div_ceil(patch), width.div_ceil(patch));
        let label = |pixel: usize| pixel / width / patch * columns + pixel % width / patch;
        let labels = (0..pixels).map(label).collect();
        Ok(Self { height, width, labels, count: rows * columns, grid: Some((rows, columns)) })
    }

    /// Creates players from arbitrary regions: pixels with the same label belong to the same player. `labels`
    /// lists the pixels row by row. Players are numbered in the order in which their labels first appear.
    /// Labels that are already in this order do not change. Gaps between labels are allowed.
    ///
    /// A player's pixels need not touch each other.
    ///
    /// # Errors
    ///
    /// [`MediaError::LabelCount`] unless there is one label per pixel, [`MediaError::EmptyImage`],
    /// [`MediaError::TooManyPixels`].
    pub fn from_labels(height: usize, width: usize, labels: &[usize]) -> Result<Self, MediaError> {
        let pixels = check_size(height, width)?;
        if labels.len() != pixels {
            return Err(MediaError::LabelCount { actual: labels.len(), height, width });
        }
        Ok(Self::numbered(height, width, labels.iter()))
    }

    /// Creates players from the regions of a picture: pixels of exactly the same colour belong to the same
    /// player. Players are numbered as in [`from_labels`](Self::from_labels). Any segmentation tool can
    /// produce such a picture, with one colour per superpixel. Borders must not be anti-aliased.
    pub fn from_label_image(image: &Image) -> Self {
        // Adding 0 maps −0 to 0, so that both are black.
        let colour = |pixel: &[f64]| pixel.iter().map(|value| (value + 0.0).to_bits()).collect::<Vec<u64>>();
        let colours: Vec<Vec<u64>> = image.pixels().chunks_exact(image.channels()).map(colour).collect();
        Self::numbered(image.height(), image.width(), colours.iter())
    }

    /// Numbers the players in the order in which their labels first appear.
    fn numbered<L: Eq + std::hash::Hash>(
        height: usize,
        width: usize,
        labels: impl Iterator<Item = L>,
    ) -> Self {
        let mut players = HashMap::new();
        let labels = labels
            .map(|label| {
                let next = players.len();
                *players.entry(label).or_insert(next)
            })
            .collect();
        Self { height, width, labels, count: players.len(), grid: None }
    }

    /// Returns the number of rows of pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of players.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the player of each pixel, row by row.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the numbers of rows and columns of players if the players are pixels or patches: player `r ·
    /// columns + c` is in row r and column c of the grid.
    pub fn rows_columns(&self) -> Option<(usize, usize)> {
        self.grid
    }

    /// Returns the pixels of a player in increasing order, numbered row by row; empty for a player that does
    /// not exist. Takes time proportional to the number of pixels; for all players at once, see
    /// [`pixels_by_player`](Self::pixels_by_player).
    pub fn pixels_of(&self, player: usize) -> Vec<usize> {
        (0..self.labels.len()).filter(|&pixel| self.labels[pixel] == player).collect()
    }

    /// Returns the pixels of each player in increasing order, numbered row by row.
    pub fn pixels_by_player(&self) -> Vec<Vec<usize>> {
        let mut pixels = vec![Vec::new(); self.count];
        self.labels.iter().enumerate().for_each(|(pixel, &player)| pixels[player].push(pixel));
        pixels
    }

    /// Returns the pairs of players (i, j), i < j, that share a border. They do if a pixel of one is above,
    /// below, left or right of a pixel of the other or, with [`Adjacency::Eight`], diagonal to it. Each pair
    /// is listed once, in increasing order.
    ///
    /// Takes O(p log p) time for p pixels.
    pub fn borders(&self, adjacency: Adjacency) -> Vec<(usize, usize)> {
        match adjacency {
            Adjacency::Four => self.pairs(&[(0, 1), (1, 0)]),
            Adjacency::Eight => self.pairs(&[(0, 1), (1, 0), (1, 1), (1, -1)]),
        }
    }

    /// Returns the graph of the players whose edges are their [borders](Self::borders): a grid if they are
    /// pixels or patches.
    ///
    /// # Errors
    ///
    /// Same as [`Graph::from_edges`]; borders never cause them.
    pub fn graph(&self, adjacency: Adjacency) -> Result<Graph, GameError> {
        match self.grid {
            Some((rows, columns)) => Ok(Graph::grid(rows, columns, adjacency)),
            None => Graph::from_edges(self.count, self.borders(adjacency)),
        }
    }

    /// Returns the pairs of players that have pixels one of `steps` (rows down, columns right) apart.
    fn pairs(&self, steps: &[(usize, isize)]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (pixel, &mine) in self.labels.iter().enumerate() {
            let (row, column) = (pixel / self.width, pixel % self.width);
            for &(down, right) in steps {
                let there = column.checked_add_signed(right).filter(|&column| column < self.width);
                let Some(column) = there.filter(|_| row + down < self.height) else { continue };
                let other = self.labels[(row + down) * self.width + column];
                if mine != other {
                    pairs.push((mine.min(other), mine.max(other)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Returns an error if the image has a different size.
    pub(super) fn check(&self, image: &Image) -> Result<(), MediaError> {
        let (given, wanted) = ((self.height, self.width), (image.height(), image.width()));
        match given == wanted {
            true => Ok(()),
            false => Err(MediaError::SegmentationMismatch { actual: given, expected: wanted }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::GraphShape;

    #[test]
    fn patches_at_the_far_ends_are_smaller_where_they_must() {
        let patches = Segmentation::patches(3, 5, 2).unwrap();
        assert_eq!(patches.labels(), [0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5]);
        assert_eq!((patches.count(), patches.rows_columns()), (6, Some((2, 3))));
        assert_eq!(patches.pixels_of(2), [4, 9]);
        assert_eq!(patches.pixels_of(6), []);
        let whole = Segmentation::patches(2, 3, 3).unwrap();
        assert_eq!((whole.count(), whole.borders(Adjacency::Eight)), (1, vec![]));
    }

    #[test]
    fn pixels_are_patches_of_one() {
        let pixels = Segmentation::pixels(2, 3).unwrap();
        assert_eq!(pixels.labels(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(pixels.borders(Adjacency::Four), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        let corners = [(0, 4), (1, 3), (1, 5), (2, 4)];
        let mut all = [&pixels.borders(Adjacency::Four)[..], &corners].concat();
        all.sort_unstable();
        assert_eq!(pixels.borders(Adjacency::Eight), all);
    }

    #[test]
    fn borders_are_those_of_any_two_pixels_that_touch() {
        let (height, width) = (9, 13);
        for colours in [1, 2, 5, 40] {
            let labels: Vec<usize> =
                (0..height * width).map(|pixel| pixel * pixel * 31 % 997 % colours).collect();
            let regions = Segmentation::from_labels(height, width, &labels).unwrap();
            for adjacency in [Adjacency::Four, Adjacency::Eight] {
                let mut pairs = std::collections::BTreeSet::new();
                for (a, b) in (0..labels.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    let rows = (a / width).abs_diff(b / width);
                    let columns = (a % width).abs_diff(b % width);
                    let touch = match adjacency {
                        Adjacency::Four => rows + columns == 1,
                        Adjacency::Eight => rows.max(columns) == 1,
                    };
                    let (a, b) = (regions.labels()[a], regions.labels()[b]);
                    if touch && a != b {
                        pairs.insert((a.min(b), a.max(b)));
                    }
                }
                let pairs: Vec<(usize, usize)> = pairs.into_iter().collect();
                assert_eq!(regions.borders(adjacency), pairs, "{colours} colours");
            }
        }
    }

    #[test]
    fn the_graph_of_patches_is_a_grid_and_that_of_regions_their_borders() {
        for (height, width, patch) in [(1, 1, 1), (1, 5, 1), (5, 1, 2), (7, 10, 3), (4, 6, 2)] {
            let patches = Segmentation::patches(height, width, patch).unwrap();
            let regions = Segmentation::from_labels(height, width, patches.labels()).unwrap();
            assert_eq!((regions.labels(), regions.rows_columns()), (patches.labels(), None));
            for adjacency in [Adjacency::Four, Adjacency::Eight] {
                let (grid, graph) = (patches.graph(adjacency).unwrap(), regions.graph(adjacency).unwrap());
                let (rows, columns) = patches.rows_columns().unwrap();
                assert_eq!(grid.shape(), GraphShape::Grid { rows, columns, adjacency });
                assert_eq!(graph.nodes(), grid.nodes());
                assert!((0..grid.nodes()).all(|node| graph.neighbours(node) == grid.neighbours(node)));
            }
        }
    }

    #[test]
    fn every_pixel_is_one_players() {
        for regions in [
            Segmentation::patches(7, 10, 3).unwrap(),
            Segmentation::from_labels(7, 10, &(0..70).map(|pixel| 100 - pixel / 3).collect::<Vec<_>>())
                .unwrap(),
        ] {
            let pixels = regions.pixels_by_player();
            assert_eq!(pixels.len(), regions.count());
            assert!(pixels.iter().enumerate().all(|(player, mine)| *mine == regions.pixels_of(player)));
            let mut all = pixels.concat();
            all.sort_unstable();
            assert_eq!(all, (0..70).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_picture_of_labels_has_a_player_per_colour() {
        let image = Image::from_bytes(1, 4, 3, &[9, 0, 0, 0, 0, 9, 9, 0, 0, 9, 0, 1]).unwrap();
        assert_eq!(Segmentation::from_label_image(&image).labels(), [0, 1, 0, 2]);
        let grey = Image::new(1, 3, 1, [0.0, -0.0, 0.5]).unwrap();
        assert_eq!(Segmentation::from_label_image(&grey).labels(), [0, 0, 1]);
    }

    #[test]
    fn what_is_no_segmentation_is_refused() {
        let refused = Segmentation::patches(4, 6, 0).unwrap_err();
        assert!(matches!(refused, MediaError::Patch { patch: 0, longest: 6 }));
        assert!(matches!(Segmentation::patches(4, 6, 7), Err(MediaError::Patch { .. })));
        let refused = Segmentation::from_labels(2, 2, &[0; 5]).unwrap_err();
        assert!(matches!(refused, MediaError::LabelCount { actual: 5, height: 2, width: 2 }));
        assert!(matches!(Segmentation::pixels(0, 2), Err(MediaError::EmptyImage { .. })));
    }
}
