//! Conditions that divide rows into cohorts.

use apportion_plots::{Batch, Condition, Explained, Gathering, Heading, Kind, Options, PlotError};

/// Rows 0 to 9 whose ages are ten times that, the last missing; cities in turn.
fn explained() -> Explained {
    let mut heading = Heading::of_features(["age", "city", "hours per week", "hours", "a < b"]);
    heading.categories[1] = ["Paris", "New York", "missing link"].map(str::to_owned).into();
    let mut gathering = Gathering::new(heading).unwrap();
    for row in 0..10_u32 {
        let age = if row == 9 { f64::NAN } else { f64::from(10 * row) };
        gathering
            .add(Batch {
                rows: vec![u64::from(row)],
                base: vec![0.0],
                predictions: vec![f64::from(row)],
                values: vec![f64::from(row), 0.0, 0.0, 0.0, 0.0],
                inputs: vec![age, f64::from(row % 3), 40.0, f64::from(row), f64::from(0.1_f32)],
                ..Batch::default()
            })
            .unwrap();
    }
    gathering.end()
}

fn rows(condition: &str) -> Result<Vec<usize>, PlotError> {
    condition.parse::<Condition>()?.rows(&explained())
}

#[test]
fn conditions_are_met_by_their_rows() {
    for (condition, wanted) in [
        ("age >= 40", vec![4, 5, 6, 7, 8]),
        ("age>40", vec![5, 6, 7, 8]),
        (" age  <  20 ", vec![0, 1]),
        ("age <= 2e1", vec![0, 1, 2]),
        ("age = 30", vec![3]),
        ("age == 30", vec![3]),
        ("age != 30", vec![0, 1, 2, 4, 5, 6, 7, 8]),
        ("age = missing", vec![9]),
        ("age != missing", (0..9).collect()),
        ("age > −5", (0..9).collect()),
        ("city = Paris", vec![0, 3, 6, 9]),
        ("city = New York", vec![1, 4, 7]),
        ("city != missing link", vec![0, 1, 3, 4, 6, 7, 9]),
        ("hours per week >= 40", (0..10).collect()),
        ("hours >= 8", vec![8, 9]),
        // A name with a sign in it, and a number that was stored in 32 bits.
        ("a < b = 0.1", (0..10).collect()),
        ("a < b < 0", vec![]),
    ] {
        assert_eq!(rows(condition).unwrap(), wanted, "{condition}");
    }
}

#[test]
fn conditions_that_cannot_be_read_are_refused() {
    for (condition, says) in [
        ("", "no sign"),
        ("age", "no sign"),
        ("age >=", "no sign"),
        (">= 3", "no sign"),
        ("agee >= 3", "no feature \"agee\", known are age, city"),
        ("age >= old", "\"old\" is none"),
        ("age >= NaN", "\"NaN\" is none"),
        ("age > missing", "by = and != alone"),
        ("city < Paris", "by = and != alone"),
        ("city = Rome", "never \"Rome\", known are Paris, New York"),
    ] {
        match rows(condition) {
            Err(error @ PlotError::Condition { .. }) => {
                assert!(error.to_string().contains(says), "{condition}: {error}");
            }
            other => panic!("{condition}: {other:?}"),
        }
    }
}

#[test]
fn cohorts_are_the_rows_that_meet_conditions_and_the_others() {
    let cohorts = |conditions: &[&str]| -> Vec<(String, f64, f64)> {
        let mut options = Options::default();
        options.cohorts = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let table = Kind::Cohorts.lay_out(&explained(), &options).unwrap().table;
        let of_age = table.lines.iter().filter(|line| line[0] == "age".into());
        of_age
            .map(|line| match &line[1..] {
                [
                    apportion_plots::Cell::Text(name),
                    apportion_plots::Cell::Number(rows),
                    apportion_plots::Cell::Number(size),
                    _,
                ] => (name.clone(), *rows, *size),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    let named = |name: &str, rows: f64, size: f64| (name.to_owned(), rows, size);
    assert_eq!(
        cohorts(&[]),
        [named("prediction above 4", 5.0, 7.0), named("prediction at most 4", 5.0, 2.0)]
    );
    assert_eq!(cohorts(&["age > 60"]), [named("age > 60", 2.0, 7.5), named("others", 8.0, 3.75)]);
    assert_eq!(cohorts(&["age > 60", "age < 0"]), [named("age > 60", 2.0, 7.5), named("age < 0", 0.0, 0.0)]);
}

#[test]
fn intervals_of_cohorts_are_those_of_the_mean() {
    let mut options = Options::default();
    options.cohorts = vec!["age >= 70".parse().unwrap()];
    let table = Kind::Cohorts.lay_out(&explained(), &options).unwrap().table;
    // Two values, 7 and 8: their mean has the standard error 0.5, and Student's law with one degree of freedom the factor 12.706.
    let apportion_plots::Cell::Number(half) = table.lines[0][4] else { panic!() };
    assert!((half - 0.5 * 12.706_204_736_174_7).abs() < 1e-9, "{half}");
}

#[test]
fn a_seventh_cohort_has_no_colour() {
    let mut options = Options::default();
    options.cohorts = (0..7).map(|k| format!("age > {k}").parse().unwrap()).collect();
    assert!(matches!(Kind::Cohorts.lay_out(&explained(), &options), Err(PlotError::Condition { .. })));
}
