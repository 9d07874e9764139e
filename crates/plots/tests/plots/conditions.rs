//! Tests conditions that divide rows into cohorts.

use apportion_plots::{Batch, Condition, Explained, Gathering, Heading, Kind, Options, PlotError};

/// Returns rows 0 to 9, whose ages are ten times their index, except that the last is missing. The three
/// cities alternate.
fn explained() -> Explained {
    let names = ["age", "city", "hours per week", "hours", "a < b", "the \"big\" one", "\"quoted\""];
    let mut heading = Heading::for_features(names);
    heading.categories[1] = ["Paris", "New York", "missing link"].map(str::to_owned).into();
    let mut gathering = Gathering::new(heading).unwrap();
    for row in 0..10_u32 {
        let age = if row == 9 { f64::NAN } else { f64::from(10 * row) };
        gathering
            .add(Batch {
                rows: vec![u64::from(row)],
                base: vec![0.0],
                predictions: vec![f64::from(row)],
                values: [f64::from(row), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].into(),
                inputs: {
                    let row = f64::from(row);
                    vec![age, row % 3.0, 40.0, row, f64::from(0.1_f32), row, row]
                },
                ..Batch::default()
            })
            .unwrap();
    }
    gathering.end()
}

fn rows(condition: &str) -> Result<Vec<usize>, PlotError> {
    condition.parse::<Condition>()?.rows(&explained(), 0)
}

#[test]
fn conditions_are_met_by_their_rows() {
    for (condition, expected) in [
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
        // A name that contains an operator, and a number that was rounded to 32 bits.
        ("a < b = 0.1", (0..10).collect()),
        ("a < b < 0", vec![]),
        // Quoted names, in which two quotes represent one.
        ("\"age\" >= 70", vec![7, 8]),
        ("\"a < b\" = \"0.1\"", (0..10).collect()),
        ("\"hours\">=8", vec![8, 9]),
        ("\"the \"\"big\"\" one\" > 5", vec![6, 7, 8, 9]),
        ("\"quoted\" <= 1", vec![0, 1]),
        ("city = \"New York\"", vec![1, 4, 7]),
        ("\"age\" = \"missing\"", vec![9]),
        ("prediction >= 8", vec![8, 9]),
        ("\"prediction\" < 1", vec![0]),
        ("prediction = missing", vec![]),
    ] {
        assert_eq!(rows(condition).unwrap(), expected, "{condition}");
    }
}

#[test]
fn conditions_that_cannot_be_read_are_refused() {
    for (condition, says) in [
        ("", "missing comparison"),
        ("age", "missing comparison"),
        ("age >=", "missing comparison"),
        (">= 3", "missing comparison"),
        ("agee >= 3", "unknown feature \"agee\"; available features: age, city"),
        ("age >= old", "are numbers; write a number instead of \"old\""),
        ("age >= NaN", "instead of \"NaN\""),
        ("age > missing", "only = and !="),
        ("city < Paris", "only = and !="),
        ("city = Rome", "never equal \"Rome\"; categories: Paris, New York"),
        ("city = new york", "never equal \"new york\"; categories: New York, Paris"),
        ("\"agee\" >= 3", "unknown feature \"agee\"; available features: age, city"),
        ("\"age >= 3", "unknown feature \"\\\"age\""),
        ("prediction >= high", "predictions are numbers; write a number instead of \"high\""),
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
    assert_eq!(cohorts(&["prediction > 7"]), [named("prediction > 7", 2.0, 8.5), named("others", 8.0, 3.5)]);
    assert_eq!(
        cohorts(&["age > 60", "age < 10"]),
        [named("age > 60", 2.0, 7.5), named("age < 10", 1.0, 0.0)]
    );
    // All rows meet the condition, so there is no cohort for the other rows.
    assert_eq!(cohorts(&["hours >= 0"]), [named("hours >= 0", 10.0, 4.5)]);
}

#[test]
fn conditions_that_no_row_meets_are_refused_with_what_there_is() {
    for (conditions, says) in [
        (&["age > 1000"][..], "no row satisfies it; the inputs of age range from 0 to 80"),
        (&["age > 60", "age < 0"], "invalid condition \"age < 0\": no row satisfies it"),
        (&["prediction < 0"], "no row satisfies it; predictions range from 0 to 9"),
        (&["city = missing"], "invalid condition \"city = missing\": no row satisfies it"),
    ] {
        let mut options = Options::default();
        options.cohorts = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let error = Kind::Cohorts.lay_out(&explained(), &options).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn predictions_are_those_of_the_output_and_a_feature_of_that_name_goes_before() {
    let rows = |names: [&str; 1], inputs: [f64; 2], output: usize| {
        let outputs = ["no", "yes"].map(str::to_owned).into();
        let mut gathering = Gathering::new(Heading { outputs, ..Heading::for_features(names) }).unwrap();
        gathering
            .add(Batch {
                rows: vec![0, 1],
                base: vec![0.0; 4],
                predictions: vec![1.0, -1.0, -2.0, 2.0],
                values: vec![0.0; 4],
                inputs: inputs.into(),
                ..Batch::default()
            })
            .unwrap();
        "prediction > 0".parse::<Condition>().unwrap().rows(&gathering.end(), output).unwrap()
    };
    assert_eq!((rows(["age"], [9.0, 9.0], 0), rows(["age"], [9.0, 9.0], 1)), (vec![0], vec![1]));
    assert_eq!(rows(["prediction"], [-1.0, 9.0], 0), [1]);
}

#[test]
fn predictions_can_be_compared_without_inputs() {
    let mut gathering = Gathering::new(Heading::for_features(["age"])).unwrap();
    gathering
        .add(Batch {
            rows: vec![0, 1],
            base: vec![0.0; 2],
            predictions: vec![1.0, 3.0],
            values: vec![1.0, 3.0],
            ..Batch::default()
        })
        .unwrap();
    let explained = gathering.end();
    let rows = |condition: &str| condition.parse::<Condition>().unwrap().rows(&explained, 0);
    assert_eq!(rows("prediction > 2"), Ok(vec![1]));
    assert!(rows("age > 2").unwrap_err().to_string().contains("no inputs"));
}

#[test]
fn intervals_of_cohorts_are_those_of_the_mean() {
    let mut options = Options::default();
    options.cohorts = vec!["age >= 70".parse().unwrap()];
    let table = Kind::Cohorts.lay_out(&explained(), &options).unwrap().table;
    // The two values are 7 and 8. Their mean has the standard error 0.5, and the factor of Student's
    // distribution with one degree of freedom is 12.706.
    let apportion_plots::Cell::Number(half) = table.lines[0][4] else { panic!() };
    assert!((half - 0.5 * 12.706_204_736_174_7).abs() < 1e-9, "{half}");
}

#[test]
fn a_seventh_cohort_has_no_colour() {
    let mut options = Options::default();
    options.cohorts = (0..7).map(|k| format!("age > {k}").parse().unwrap()).collect();
    assert!(matches!(Kind::Cohorts.lay_out(&explained(), &options), Err(PlotError::Condition { .. })));
}
