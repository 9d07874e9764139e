//! Convergence plot: error bounds over the number of evaluations, relative to the tolerance.

use super::options::Options;
use super::words::{of_sample, rows_in_words};
use super::{extent, legend};
use crate::error::PlotError;
use apportion_results::InterimCheck;

use crate::explained::Explained;
use crate::scene::{Anchor, FONT, Mark, Marker, Paint, Point, Scale, Scene, Shape, Table, digits, shortened};

const TOP: f64 = 30.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 66.0;
/// Maximum number of lines.
const MAX_ROWS: usize = 50;
const RADIUS: f64 = 3.2;
const WITHIN: Paint = Paint::Series(2);
const ABOVE: Paint = Paint::Series(1);

/// The interim checks of a row: evaluations, and error bound divided by tolerance.
struct Course {
    row: usize,
    interim_checks: Vec<(f64, f64)>,
}

impl Course {
    fn last(&self) -> (f64, f64) {
        self.interim_checks[self.interim_checks.len() - 1]
    }

    fn is_within(&self) -> bool {
        self.last().1 <= 1.0
    }
}

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let told = options.row.map(|row| explained.place_of_row(row)).transpose()?;
    let all: Vec<Course> = match told {
        Some(row) => course(explained, row).into_iter().collect(),
        None => (0..explained.rows()).filter_map(|row| course(explained, row)).collect(),
    };
    if all.is_empty() {
        let why = "the results contain no interim checks with an error bound; explain with a tolerance \
                   (`--until`) and a sampling method that has standard errors";
        return Err(PlotError::Nothing { kind: "convergence", why });
    }
    let count = all.len();
    let courses: Vec<&Course> = match count > MAX_ROWS {
        true => (0..MAX_ROWS).map(|place| &all[place * count / MAX_ROWS]).collect(),
        false => all.iter().collect(),
    };

    let ends = |of: fn(&(f64, f64)) -> f64| {
        let numbers =
            courses.iter().flat_map(|course| &course.interim_checks).map(of).filter(|&number| number > 0.0);
        extent::min_and_max(numbers)
    };
    let (min, max) = ends(|interim_check| interim_check.1);
    let x = Scale::logarithmic(ends(|interim_check| interim_check.0), (LEFT + 8.0, options.width - 24.0));
    let mut scene = Scene::new(options.width, "Convergence: error bound / tolerance");
    let head = match told {
        Some(row) => format!("{}: convergence", explained.row_name(row)),
        None => "Convergence".to_owned(),
    };
    scene.heading((12.0, 14.0), shortened(&head, options.width - 24.0, FONT + 1.5), Anchor::Start);
    let entries = [(WITHIN, "ended within the tolerance"), (ABOVE, "ended above the tolerance")]
        .map(|(paint, text)| (paint, text.to_owned()));
    let is_shown = |paint: Paint| courses.iter().any(|course| (paint == WITHIN) == course.is_within());
    let entries: Vec<(Paint, String)> = entries.into_iter().filter(|&(paint, _)| is_shown(paint)).collect();
    let top = legend::draw(&mut scene, TOP, &entries) + 12.0;
    let bottom = top + HEIGHT;
    let y = Scale::logarithmic((min.min(1.0), max.max(1.0)), (bottom, top)).with_room(0.04, 0.04);
    scene.axis_left(&y, (LEFT, options.width - 16.0), "error bound / tolerance");
    scene.axis_below(&x, (top, bottom), "evaluations");
    draw_border(&mut scene, y.place(1.0));
    let place = |&(evaluations, share): &(f64, f64)| -> Point {
        // Zero has no place on a logarithmic axis, so draw it at the lower end.
        (x.place(evaluations), if share > 0.0 { y.place(share) } else { bottom })
    };
    let opacity = (8.0 / courses.len() as f64).clamp(0.3, 0.9);
    for course in &courses {
        draw_course(&mut scene, explained, course, &place, (opacity, told.is_some()));
    }

    let caption = caption(explained, &all, courses.len(), told);
    scene.caption(bottom + 42.0, &caption);
    scene.description = description(&all, &caption);
    scene.table = table(explained, &courses);
    Ok(scene)
}

/// Returns the interim checks of a row that have a bound, or `None` if there are no such checks.
fn course(explained: &Explained, row: usize) -> Option<Course> {
    let certified = explained.kept.certificates.get(row)?.as_ref()?;
    let interim_check = |interim_check: &InterimCheck| {
        let share = interim_check.error.filter(|share| share.is_finite() && *share >= 0.0)?;
        // Zero has no place on a logarithmic axis, so draw zero evaluations at one.
        Some((interim_check.evaluations.max(1) as f64, share))
    };
    let interim_checks: Vec<(f64, f64)> = certified.interim_checks.iter().filter_map(interim_check).collect();
    (!interim_checks.is_empty()).then_some(Course { row, interim_checks })
}

/// Draws the line at which the bound equals the tolerance.
fn draw_border(scene: &mut Scene, y: f64) {
    let right = scene.width - 16.0;
    scene.dashed([(LEFT, y), (right, y)], Paint::Ink, 1.2);
}

fn draw_course(
    scene: &mut Scene,
    explained: &Explained,
    course: &Course,
    place: &dyn Fn(&(f64, f64)) -> Point,
    (opacity, is_alone): (f64, bool),
) {
    let paint = if course.is_within() { WITHIN } else { ABOVE };
    let (evaluations, share) = course.last();
    let says = format!(
        "{}: {} × tolerance after {} evaluations",
        explained.row_name(course.row),
        digits(share, 3),
        digits(evaluations, 9)
    );
    let mark = Mark { player: None, row: Some(course.row), says };
    let points: Vec<Point> = course.interim_checks.iter().map(place).collect();
    let last = points[points.len() - 1];
    if is_alone {
        let radius = 0.6 * RADIUS;
        let (points, rows, mark) = (points.clone(), vec![course.row; points.len()], mark.clone());
        scene.shapes.push(Shape::Dots { points, rows, radius, marker: Marker::Circle, paint, mark });
    }
    if points.len() > 1 {
        let (width, is_dashed) = (1.3, false);
        scene.shapes.push(Shape::Line { points, paint, width, is_dashed, opacity, mark: mark.clone() });
    }
    let (points, rows, marker) = (vec![last], vec![course.row], Marker::Circle);
    scene.shapes.push(Shape::Dots { points, rows, radius: RADIUS, marker, paint, mark });
}

fn caption(explained: &Explained, all: &[Course], shown: usize, told: Option<usize>) -> String {
    let says =
        told.and_then(|row| explained.kept.certificates.get(row)?.as_ref()).map(|certified| &certified.says);
    let mut caption = match says.filter(|says| !says.is_empty()) {
        Some(says) => format!("{} ", crate::explained::shown(says)),
        None => String::new(),
    };
    if told.is_none() {
        caption.push_str(&match (all.len(), explained.rows()) {
            (1, 1) => "Interim checks of one row. ".to_owned(),
            (looked, rows) => format!("{looked} of {} with interim checks. ", rows_in_words(rows as u64)),
        });
    }
    if shown < all.len() {
        caption.push_str(&format!("{shown} of these are shown. "));
    }
    if told.is_none() {
        caption.push_str(&of_sample(explained, "Based on"));
    }
    caption.push_str("Dots mark the last checks, the dashed line the tolerance.");
    caption
}

fn description(all: &[Course], caption: &str) -> String {
    let within = all.iter().filter(|course| course.is_within()).count();
    let (min, max) = extent::min_and_max(all.iter().map(|course| course.last().0));
    format!(
        "{within} of {} ended within the tolerance, after {} to {} evaluations. {caption}",
        rows_in_words(all.len() as u64),
        digits(min, 9),
        digits(max, 9)
    )
}

fn table(explained: &Explained, courses: &[&Course]) -> Table {
    let mut table = Table::new(["row", "evaluations", "error bound / tolerance"]);
    for course in courses {
        for &(evaluations, share) in &course.interim_checks {
            table.push([(explained.kept.rows[course.row] as f64).into(), evaluations.into(), share.into()]);
        }
    }
    table
}
