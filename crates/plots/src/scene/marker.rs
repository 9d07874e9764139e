//! Markers of points.

use super::Point;

/// The shape of the markers of points. All shapes with the same radius look equally large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A disc.
    #[default]
    Circle,
    /// A square.
    Square,
    /// A triangle that points upwards.
    Triangle,
    /// A triangle that points downwards.
    Wedge,
    /// A square that stands on a corner.
    Diamond,
    /// Two crossed lines.
    Cross,
}

/// The width of the lines of a cross in pixels.
pub(super) const CROSS_WIDTH: f64 = 1.4;

impl Marker {
    /// Returns the corners of a filled marker, or the ends of the two lines of a cross, one after the other.
    /// A disc has no corners.
    pub(super) fn corners(self, (x, y): Point, radius: f64) -> Vec<Point> {
        let corners: &[Point] = match self {
            Self::Circle => &[],
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Self::Wedge => &[(0.0, 1.2), (-1.1, -0.8), (1.1, -0.8)],
            Self::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Self::Cross => &[(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)],
        };
        corners.iter().map(|&(across, down)| (x + radius * across, y + radius * down)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dress, Paint, Scene};
    use super::*;

    const ALL: [Marker; 6] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Wedge, Marker::Diamond, Marker::Cross];

    fn scene(marker: Marker) -> Scene {
        let mut scene = Scene::new(40.0, "Markers");
        scene.height = 20.0;
        scene.dots([(10.0, 10.0), (30.0, 10.0)], marker, 5.0, Paint::Fixed([200, 0, 0]));
        scene
    }

    #[test]
    fn each_marker_is_one_path_in_svg_and_differs_from_the_others() {
        let drawn = ALL.map(|marker| scene(marker).svg(Dress::Classes(0)));
        for (at, svg) in drawn.iter().enumerate() {
            assert!(svg.matches("<path").count() == 1 && svg.contains("=\"#c80000\""), "{svg}");
            assert!(!drawn[..at].contains(svg), "{:?}", ALL[at]);
        }
        assert!(drawn[5].contains("M5 5L15 15M5 15L15 5M25 5L35 15M25 15L35 5"), "{}", drawn[5]);
    }

    #[test]
    #[cfg(feature = "bitmap")]
    fn markers_cover_their_places_in_pixels_and_about_the_same_area() {
        for marker in ALL {
            let bytes = scene(marker).png(1.0).unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            // The colour contains no green, so the share of a pixel that it covers is 1 minus the green of
            // the pixel.
            let covered = |x: usize, y: usize| 1.0 - f64::from(pixels[(y * 40 + x) * 4 + 1]) / 255.0;
            let area: f64 =
                (0..20).flat_map(|y| (0..20).map(move |x| (x, y))).map(|(x, y)| covered(x, y)).sum();
            assert!(covered(10, 10) > 0.9 && covered(30, 10) > 0.9, "{marker:?}");
            assert!(covered(1, 1) == 0.0 && covered(20, 10) == 0.0, "{marker:?}");
            let thin = if marker == Marker::Cross { 0.5 } else { 1.0 };
            assert!((50.0 * thin..=110.0).contains(&area), "{marker:?} covers {area}");
        }
    }
}
