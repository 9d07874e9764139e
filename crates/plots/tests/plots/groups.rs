//! Groups of features, nested groups, and groups that are players.

use apportion_plots::{Batch, Cell, Explained, Gathering, Heading, Kind, Member, Options};

fn feature(name: &str) -> Member {
    Member::Feature(name.to_owned())
}

fn gathered(heading: Heading, rows: &[&[f64]]) -> Explained {
    let mut gathering = Gathering::new(heading).unwrap();
    for (row, values) in rows.iter().enumerate() {
        let batch = Batch {
            rows: vec![row as u64],
            base: vec![0.0],
            predictions: vec![values.iter().sum()],
            values: values.to_vec(),
            ..Batch::default()
        };
        gathering.add(batch).unwrap();
    }
    gathering.end()
}

/// Returns the name, the depth, the features and the mean absolute value of each line.
fn lines(explained: &Explained) -> Vec<(String, f64, String, f64)> {
    let scene = Kind::Groups.lay_out(explained, &Options::default()).unwrap();
    let line = |line: &Vec<Cell>| match &line[..4] {
        [Cell::Text(name), Cell::Number(depth), Cell::Text(features), Cell::Number(size)] => {
            (name.clone(), *depth, features.clone(), *size)
        }
        other => panic!("{other:?}"),
    };
    scene.table.lines.iter().map(line).collect()
}

fn line(name: &str, depth: f64, features: &str, size: f64) -> (String, f64, String, f64) {
    (name.to_owned(), depth, features.to_owned(), size)
}

#[test]
fn a_group_has_the_mean_size_of_the_sum_of_its_values() {
    let mut heading = Heading::for_features(["a", "b", "c", "d"]);
    let inner = Member::Group(vec![feature("b"), feature("c")]);
    heading.groups = vec![feature("d"), Member::Group(vec![feature("a"), inner])];
    let explained = gathered(heading, &[&[1.0, 2.0, -3.0, 0.5], &[-1.0, 2.0, 2.0, 0.5]]);
    let expected = [
        // The mean of |1 + 2 − 3| and |−1 + 2 + 2|.
        line("group of 3", 0.0, "a, b, c", 1.5),
        // The mean of |2 − 3| and |2 + 2|.
        line("group of 2", 1.0, "b, c", 2.5),
        line("c", 2.0, "c", 2.5),
        line("b", 2.0, "b", 2.0),
        line("a", 1.0, "a", 1.0),
        line("d", 0.0, "d", 0.5),
    ];
    assert_eq!(lines(&explained), expected);
}

#[test]
fn a_group_that_is_a_player_is_one_line() {
    let mut heading = Heading::for_features(["a", "b", "c"]);
    heading.players = vec!["a+b".to_owned(), "c".to_owned()];
    heading.members = vec![vec![0, 1], vec![2]];
    heading.groups = vec![Member::Group(vec![feature("a"), feature("b")]), feature("c")];
    let explained = gathered(heading, &[&[-2.0, 1.0]]);
    assert_eq!(lines(&explained), [line("a+b", 0.0, "a+b", 2.0), line("c", 0.0, "c", 1.0)]);
}

#[test]
fn names_that_nobody_has_and_groups_without_end_are_borne() {
    let mut heading = Heading::for_features(["a", "b"]);
    let deep = (0..2_000).fold(feature("a"), |inner, _| Member::Group(vec![inner, feature("b")]));
    heading.groups = vec![deep, feature("nobody"), Member::Group(Vec::new())];
    let explained = gathered(heading, &[&[1.0, 2.0]]);
    let lines = lines(&explained);
    assert_eq!(lines[0], line("group of 2", 0.0, "a, b", 3.0));
    assert!(lines.contains(&line("nobody", 0.0, "", 0.0)), "{lines:?}");
}

#[test]
fn many_members_are_summed() {
    let names: Vec<String> = (0..100).map(|player| format!("f{player}")).collect();
    let mut heading = Heading::for_features(&names);
    heading.groups = names.iter().map(|name| feature(name)).collect();
    let explained = gathered(heading, &[&(0..100).map(f64::from).collect::<Vec<_>>()]);
    let lines = lines(&explained);
    assert_eq!(lines.len(), 21);
    let (name, _, _, size) = &lines[20];
    // The sum of 0 to 79.
    assert_eq!((name.as_str(), *size), ("80 others", 3160.0));
}
