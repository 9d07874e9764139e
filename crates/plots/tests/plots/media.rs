//! Texts and images must match their players.

use apportion_plots::{Gathering, Heading, Medium, PlotError, ResultsError};

fn refused(medium: Medium) -> String {
    let mut heading = Heading::for_features(["a", "b"]);
    heading.medium = Some(medium);
    match Gathering::new(heading) {
        Err(error @ PlotError::Results(ResultsError::Medium { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn text(spans: &[(usize, usize)]) -> Medium {
    Medium::Text { text: "né à Paris".to_owned(), spans: spans.to_vec() }
}

fn image(width: usize, height: usize, segments: &[u32], pixels: usize) -> Medium {
    Medium::Image { width, height, segments: segments.to_vec(), pixels: vec![[0; 3]; pixels] }
}

#[test]
fn what_does_not_belong_to_the_players_is_refused() {
    for (medium, says) in [
        (text(&[(0, 3)]), "wrong number of spans: 1, expected 2 (one per player)"),
        (text(&[(0, 2), (4, 6)]), "invalid span from byte 0 to 2"),
        (text(&[(0, 3), (7, 100)]), "invalid span from byte 7 to 100"),
        (text(&[(3, 0), (7, 8)]), "invalid span from byte 3 to 0"),
        (text(&[(0, 3), (1, 3)]), "overlap"),
        (image(2, 2, &[0, 1, 0], 0), "one segment for each of 2 × 2 pixels, got 3"),
        (image(2, 1, &[0, 1], 1), "one colour for each of 2 × 1 pixels, got 1"),
        (image(2, 1, &[0, 2], 0), "player 2; expected a number below 2, the number of players"),
        (image(0, 5, &[], 0), "invalid size of 0 × 5 pixels"),
        (image(usize::MAX, usize::MAX, &[], 0), "invalid size of"),
    ] {
        let error = refused(medium);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn what_belongs_to_them_is_taken() {
    for medium in [text(&[(7, 12), (0, 3)]), text(&[(0, 0), (0, 3)]), image(2, 1, &[1, Medium::NOBODY], 2)] {
        let mut heading = Heading::for_features(["a", "b"]);
        heading.medium = Some(medium);
        assert!(Gathering::new(heading).is_ok());
    }
}
