//! Checks that every figure must pass.

use apportion_plots::{Anchor, Cell, Dress, Point, Scene, Shape, width_of};

use super::xml;

/// Checks a figure. The error describes the problem.
pub(crate) fn check(scene: &Scene) -> Result<(), String> {
    if !(scene.width.is_finite() && scene.height.is_finite() && scene.height > 0.0) {
        return Err(format!("{} × {} pixels", scene.width, scene.height));
    }
    if scene.title.is_empty() || scene.description.is_empty() {
        return Err("no title or no description".to_owned());
    }
    for dress in [Dress::Colours, Dress::Classes(3)] {
        let svg = scene.svg(dress);
        xml::check(&svg)?;
        if svg.contains("<script") {
            return Err("a script".to_owned());
        }
    }
    scene.shapes.iter().try_for_each(|shape| check_places(scene, shape))?;
    check_texts(scene)?;
    check_table(scene)
}

/// Checks that a shape is within the figure.
fn check_places(scene: &Scene, shape: &Shape) -> Result<(), String> {
    let corners = |at: &Point, size: &Point| vec![*at, (at.0 + size.0, at.1 + size.1)];
    let (points, thickness) = match shape {
        Shape::Rectangle { at, size, opacity, .. } => (corners(at, size), *opacity),
        Shape::Picture { at, size, picture } => {
            if picture.pixels.len() != picture.width * picture.height || picture.pixels.is_empty() {
                return Err(format!("{} pixels", picture.pixels.len()));
            }
            (corners(at, size), 0.0)
        }
        Shape::Line { points, width, opacity, .. } => {
            if points.len() < 2 {
                return Err(format!("a line of {} points", points.len()));
            }
            (points.clone(), width * opacity)
        }
        Shape::Area { points, opacity, .. } => (points.clone(), *opacity),
        Shape::Dots { points, rows, radius, .. } => {
            if !rows.is_empty() && rows.len() != points.len() {
                return Err(format!("{} dots of {} rows", points.len(), rows.len()));
            }
            (points.clone(), *radius)
        }
        Shape::Text { at, size, .. } => (vec![*at], *size),
    };
    let room = 8.0;
    let is_within = |&(x, y): &Point| {
        (-room..=scene.width + room).contains(&x) && (-room..=scene.height + room).contains(&y)
    };
    match points.iter().find(|point| !is_within(point)) {
        Some(point) => Err(format!("{point:?} is outside of {} × {}: {shape:?}", scene.width, scene.height)),
        None if !thickness.is_finite() => Err(format!("{thickness} in {shape:?}")),
        None => Ok(()),
    }
}

/// A label with its horizontal and its vertical range.
type Room<'a> = (&'a str, Point, Point);

/// Checks that all labels are within the figure and do not overlap.
fn check_texts(scene: &Scene) -> Result<(), String> {
    let mut rooms: Vec<Room<'_>> = Vec::new();
    for shape in &scene.shapes {
        let Shape::Text { at, text, size, anchor, is_upright, .. } = shape else { continue };
        let wide = width_of(text, *size);
        let (before, after) = match anchor {
            Anchor::Start => (0.0, wide),
            Anchor::Middle => (0.5 * wide, 0.5 * wide),
            Anchor::End => (wide, 0.0),
        };
        let half = 0.45 * size;
        let (x, y) = match is_upright {
            true => ((at.0 - half, at.0 + half), (at.1 - after, at.1 + before)),
            false => ((at.0 - before, at.0 + after), (at.1 - half, at.1 + half)),
        };
        if x.0 < -0.1 || x.1 > scene.width + 0.1 || y.0 < -0.1 || y.1 > scene.height + 0.1 {
            return Err(format!(
                "{text:?} from {x:?} and {y:?} is outside of {} × {}",
                scene.width, scene.height
            ));
        }
        if ["NaN", "inf", "-inf", "−inf"]
            .iter()
            .any(|number| text.split([' ', '(', ')']).any(|word| word == *number))
        {
            return Err(format!("{text:?} has no number"));
        }
        rooms.push((text, x, y));
    }
    // Sort by the left edge, so that only labels whose horizontal ranges overlap are compared.
    rooms.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    for (place, one) in rooms.iter().enumerate() {
        let mut beside = rooms[place + 1..].iter().take_while(|other| other.1.0 < one.1.1 - 0.1);
        if let Some(other) = beside.find(|other| other.2.0 < one.2.1 - 0.1 && one.2.0 < other.2.1 - 0.1) {
            return Err(format!("{one:?} and {other:?} overlap"));
        }
    }
    Ok(())
}

/// Checks that all lines of the table have a cell for each column, and that all numbers are finite or
/// missing.
fn check_table(scene: &Scene) -> Result<(), String> {
    let table = &scene.table;
    if table.columns.is_empty() || table.lines.is_empty() {
        return Err("no table".to_owned());
    }
    for line in &table.lines {
        if line.len() != table.columns.len() {
            return Err(format!("{} cells for {} columns", line.len(), table.columns.len()));
        }
        if line.iter().any(|cell| matches!(cell, Cell::Number(number) if number.is_infinite())) {
            return Err(format!("{line:?}"));
        }
    }
    Ok(())
}
