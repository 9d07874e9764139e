//! Compares tree explainers of every game, with every kernel, with the definitions of the games.

use apportion_games::{Background, Coalitions, Game, Partition, QuotientGame, Rows, TabulatedGame};
use apportion_models::Link;
use apportion_trees::{
    BackgroundCompiler, Diagonal, Ensemble, Exact, Kernel, LinkedTreeExplainer, MarginalTreeExplainer,
    PathDependentTreeExplainer, Precision, Settings, TreeError,
};
use apportion_values::{
    CoalitionalValue, InteractionIndex, Interactions, Semivalue, Value, enumerate, enumerate_interactions,
};

use super::lightgbm::{Node, text};
use super::{Random, TreeSpec, document, linked_document, read};

/// Returns every kind of semivalue, for `players` players.
pub fn semivalues(players: usize) -> Vec<Semivalue> {
    // Weights by size: the smallest and the largest size have more weight than all others.
    let distribution: Vec<f64> =
        (0..players).map(|size| if size == 0 || size + 1 == players { 3.0 } else { 0.5 }).collect();
    let total: f64 = distribution.iter().sum();
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.1).unwrap(),
        Semivalue::weighted_banzhaf(0.99).unwrap(),
        Semivalue::beta_shapley(16.0, 1.0).unwrap(),
        Semivalue::beta_shapley(0.5, 3.5).unwrap(),
        Semivalue::mixture(&[0.0, 0.3, 0.8, 1.0], &[0.125, 0.25, 0.5, 0.125]).unwrap(),
        Semivalue::mixture(&[0.0], &[1.0]).unwrap(),
        Semivalue::mixture(&[1.0], &[1.0]).unwrap(),
        Semivalue::from_size_distribution(
            &distribution.iter().map(|weight| weight / total).collect::<Vec<_>>(),
        )
        .unwrap(),
    ]
}

/// Returns values for the features in these groups, and for the groups themselves.
pub fn in_groups(groups: &Partition) -> Vec<Value> {
    let by_size = |players: usize| semivalues(players).pop().unwrap();
    let pair = |between: &Semivalue, within: &Semivalue| CoalitionalValue {
        between: between.clone(),
        within: within.clone(),
    };
    let between = semivalues(groups.len());
    let mut pairs = vec![
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        pair(&between[2], &between[4]),
        pair(&between[6], &between[1]),
        pair(&between[5], &between[6]),
        pair(&between[8], &between[7]),
        pair(&by_size(groups.len()), &Semivalue::Shapley),
    ];
    if groups.groups().iter().all(|group| group.len() == groups.largest()) {
        pairs.push(pair(&Semivalue::Shapley, &by_size(groups.largest())));
        pairs.push(pair(&by_size(groups.len()), &by_size(groups.largest())));
    }
    let pairs = pairs.into_iter().map(|value| Value::Coalitional(value, groups.clone()));
    let quotients = between.into_iter().map(|value| Value::quotient(value, groups.clone()));
    pairs.chain(quotients).chain([Value::two_step(groups.clone())]).collect()
}

/// The name of a tree explainer's settings, the tree explainer, and its tolerance.
pub type NamedTreeExplainer<'a> = (String, Box<dyn Exact + 'a>, f64);

/// A function that computes the value of a coalition for a row: one number per output. The coalition is a
/// function that returns whether a feature is present.
type CoalitionValue<'a> = &'a dyn Fn(&dyn Fn(usize) -> bool) -> Vec<f64>;

/// The trees of a model.
pub enum Rules {
    Trees(Vec<TreeSpec>),
    /// LightGBM trees, which may have linear leaves.
    Nodes(Vec<Node>),
}

/// A generated model with rows to explain and a background.
pub struct Case {
    pub what: String,
    pub rules: Rules,
    pub ensemble: Ensemble,
    pub features: usize,
    pub rows: Vec<f64>,
    pub background: Background,
}

impl Case {
    /// Creates a case from trees in the format of XGBoost, with the given numbers of rows and background
    /// rows.
    pub fn new(random: &mut Random, trees: Vec<TreeSpec>, features: usize, rows: (usize, usize)) -> Self {
        let ensemble = read(&document(&trees, features, &base_scores(&trees))).unwrap();
        Self::from_rules(random, Rules::Trees(trees), ensemble, features, rows)
    }

    /// Creates a case with a link function.
    pub fn linked(
        random: &mut Random,
        trees: Vec<TreeSpec>,
        features: usize,
        rows: (usize, usize),
        link: Link,
    ) -> Self {
        let document = linked_document(&trees, features, &base_scores(&trees), Some(link));
        Self::from_rules(random, Rules::Trees(trees), read(&document).unwrap(), features, rows)
    }

    /// Creates a case with linear leaves.
    pub fn linear(random: &mut Random, trees: Vec<Node>, features: usize, rows: (usize, usize)) -> Self {
        let ensemble = Ensemble::from_bytes(text(&trees, features).as_bytes()).unwrap();
        Self::from_rules(random, Rules::Nodes(trees), ensemble, features, rows)
    }

    /// Creates a case with random trees that split on some of the features. The trees are assigned to the
    /// outputs in turn.
    pub fn random(
        random: &mut Random,
        (features, players): (usize, &[usize]),
        (trees, depth, categorical): (usize, usize, bool),
        outputs: usize,
        rows: (usize, usize),
    ) -> Self {
        let tree = |index| TreeSpec::random(random, players, depth, categorical, index % outputs);
        let trees = (0..trees * outputs).map(tree).collect();
        Self::new(random, trees, features, rows)
    }

    fn from_rules(
        random: &mut Random,
        rules: Rules,
        ensemble: Ensemble,
        features: usize,
        rows: (usize, usize),
    ) -> Self {
        let background = Background::rows(random.row(features * rows.1), features).unwrap();
        let weights: Vec<f64> = (0..rows.1).map(|_| random.below(4) as f64 + 0.25).collect();
        let (depth, trees, outputs) = (ensemble.depth(), ensemble.tree_count(), ensemble.output_count());
        Self {
            what: format!(
                "{trees} trees of depth {depth}, {features} features, {outputs} outputs, {rows:?} rows"
            ),
            rules,
            ensemble,
            features,
            rows: random.row(features * rows.0),
            background: background.with_weights(&weights).unwrap(),
        }
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows::new(&self.rows, self.features)
    }

    fn margins(&self, row: &[f64]) -> Vec<f64> {
        let mut margins = self.ensemble.base_margins().to_vec();
        match &self.rules {
            Rules::Trees(trees) => trees.iter().for_each(|tree| margins[tree.output] += tree.predict(row)),
            Rules::Nodes(trees) => trees.iter().for_each(|tree| margins[0] += tree.predict(row)),
        }
        margins
    }

    /// Returns the players: all features or, if there are more than nine, the features that any tree uses.
    fn players(&self) -> Vec<usize> {
        let mut players: Vec<usize> = (0..self.features).collect();
        if self.features > 9 {
            let splits: Vec<_> = self.ensemble.nodes().iter().filter(|node| !node.is_leaf()).collect();
            players.retain(|&feature| splits.iter().any(|node| node.feature() == feature));
        }
        players
    }

    /// Returns the game of a row as a table, from the function that computes the values of coalitions.
    fn table(&self, worth: CoalitionValue<'_>) -> TabulatedGame {
        let players = self.players();
        let place = |feature: usize| players.iter().position(|&player| player == feature);
        let worths = (0..1usize << players.len()).flat_map(|coalition| {
            worth(&|feature| place(feature).is_some_and(|place| coalition >> place & 1 == 1))
        });
        TabulatedGame::new(worths.collect::<Vec<_>>(), self.ensemble.output_count()).unwrap()
    }

    /// Returns the marginal game of outputs after the link function.
    fn marginal(&self, row: &[f64], link: Link) -> TabulatedGame {
        self.table(&|present| {
            let mut worth = vec![0.0; self.ensemble.output_count()];
            for (other, weight) in self.background.as_rows().iter().zip(self.background.weights()) {
                let mixture: Vec<f64> = (0..self.features)
                    .map(|feature| if present(feature) { row[feature] } else { other[feature] })
                    .collect();
                let mut margins = self.margins(&mixture);
                link.apply(&mut margins);
                worth.iter_mut().zip(margins).for_each(|(worth, margin)| *worth += weight * margin);
            }
            worth
        })
    }

    fn path_dependent(&self, trees: &[TreeSpec], row: &[f64]) -> TabulatedGame {
        self.table(&|present| {
            let mut worth = self.ensemble.base_margins().to_vec();
            trees.iter().for_each(|tree| worth[tree.output] += tree.path_dependent(row, present));
            worth
        })
    }

    /// Returns the values of all features, given the game of the players.
    fn values(&self, value: &Value, game: &TabulatedGame) -> Vec<f64> {
        let (players, outputs) = (self.players(), self.ensemble.output_count());
        let of_players = match value {
            Value::Semivalue(value) => {
                enumerate(game, value.without_null_players(players.len())).unwrap().values
            }
            _ if players.len() == self.features => return value.enumerate(game).unwrap().values,
            _ => panic!("groups of features that are not written down"),
        };
        let mut values = vec![0.0; self.features * outputs];
        for (player, of_player) in players.iter().zip(of_players.chunks_exact(outputs)) {
            values[player * outputs..][..outputs].copy_from_slice(of_player);
        }
        values
    }

    /// Returns the matrix of the interaction indices of pairs, which are expected second differences; `None`
    /// for a value without interactions.
    fn pairs(&self, value: &Value, diagonal: Diagonal, game: &TabulatedGame) -> Option<Vec<f64>> {
        match value {
            Value::Semivalue(value) => Some(matrix(value, diagonal, &self.players(), self.features, game)),
            Value::Quotient(value, groups) => {
                let all: Vec<usize> = (0..groups.len()).collect();
                let game = QuotientGame::new(game, groups).unwrap();
                Some(matrix(value, diagonal, &all, groups.len(), &game))
            }
            _ => None,
        }
    }

    /// Returns all tree explainers of the marginal game, of the path-dependent game, and of the outputs after
    /// the link function, with their names and tolerances relative to the largest number.
    pub fn tree_explainers(&self) -> [Vec<NamedTreeExplainer<'_>>; 3] {
        let mut games = [Vec::new(), Vec::new(), Vec::new()];
        let (background, weights) = (self.background.as_rows(), Some(self.background.weights()));
        let told = |kernel| Settings::default().with_kernel(kernel);
        let tables = told(Some(Kernel::Tables));
        let mut settings = vec![(told(None), 1e-12)];
        settings.extend(Kernel::ALL.map(|kernel| (told(Some(kernel)), 1e-12)));
        settings.push((tables.with_keep_tables(true), 1e-12));
        settings.push((tables.with_precision(Precision::Single), 1e-6));
        let mut compiler = BackgroundCompiler::new(&self.ensemble);
        let compiled = compiler.as_mut().ok().map(|compiler| compiler.add(background, weights));
        let compiled =
            compiled.map(|added| added.unwrap()).and(compiler.ok().map(|all| all.finish().unwrap()));
        for (settings, tolerance) in settings {
            let name = |what: &str| format!("{what}, {settings:?}");
            let tree_explainer = MarginalTreeExplainer::new(&self.ensemble, background, weights).unwrap();
            games[0].push((
                name("marginal"),
                Box::new(tree_explainer.with_settings(settings)) as Box<dyn Exact + '_>,
                tolerance,
            ));
            // Use compiled backgrounds only with settings that specify nothing but a kernel. Cohorts and
            // quadrature need rows.
            let plain = Settings::default().with_kernel(settings.kernel) == settings;
            if let (Some(compiled), true) = (compiled.clone(), plain)
                && !matches!(settings.kernel, Some(Kernel::Cohorts | Kernel::Quadrature))
            {
                let tree_explainer = MarginalTreeExplainer::from_compiled(&self.ensemble, compiled).unwrap();
                games[0].push((
                    name("compiled"),
                    Box::new(tree_explainer.with_settings(settings)),
                    tolerance,
                ));
            }
            if !settings.keep_tables
                && let Ok(tree_explainer) = PathDependentTreeExplainer::new(&self.ensemble)
            {
                games[1].push((
                    name("path-dependent"),
                    Box::new(tree_explainer.with_settings(settings)),
                    tolerance,
                ));
            }
        }
        if let Ok(tree_explainer) = LinkedTreeExplainer::new(&self.ensemble, background, weights) {
            games[2].push(("linked".to_owned(), Box::new(tree_explainer), 1e-12));
        }
        games
    }

    /// Compares all tree explainers with the definitions.
    pub fn check(&self, values: &[Value]) {
        let rows: Vec<&[f64]> = self.rows().iter().collect();
        let all =
            |game: &dyn Fn(&[f64]) -> TabulatedGame| rows.iter().map(|row| game(row)).collect::<Vec<_>>();
        let [marginal, path_dependent, linked] = self.tree_explainers();
        self.compare(&marginal, &all(&|row| self.marginal(row, Link::Identity)), values);
        if let Rules::Trees(trees) = &self.rules {
            self.compare(&path_dependent, &all(&|row| self.path_dependent(trees, row)), values);
        }
        if let Some(link) = self.ensemble.link().filter(|_| !linked.is_empty()) {
            self.compare(&linked, &all(&|row| self.marginal(row, link)), values);
        }
    }

    /// Compares the indices of coalitions of features or of groups with enumeration, for the tree explainers
    /// of the marginal and the path-dependent game. Indices have a single algorithm for all kernels.
    pub fn check_indices(&self, asked: &[(InteractionIndex, usize)], groups: Option<&Partition>) {
        let [marginal, path_dependent, _] = self.tree_explainers();
        let mut games: Vec<(Vec<TabulatedGame>, &[NamedTreeExplainer<'_>])> = Vec::new();
        let all = |game: &dyn Fn(&[f64]) -> TabulatedGame| self.rows().iter().map(game).collect::<Vec<_>>();
        games.push((all(&|row| self.marginal(row, Link::Identity)), &marginal));
        if let (Rules::Trees(trees), false) = (&self.rules, path_dependent.is_empty()) {
            games.push((all(&|row| self.path_dependent(trees, row)), &path_dependent));
        }
        let features = self.players();
        for (games, tree_explainers) in games {
            let plain = |name: &str| tree_explainers.iter().find(|(told, ..)| told.starts_with(name));
            let tree_explainers = ["marginal", "compiled", "path-dependent"].into_iter().filter_map(plain);
            for (name, tree_explainer, _) in tree_explainers {
                for (index, order) in asked {
                    let what = format!("{}, {index} order {order}, {name}", self.what);
                    let got = tree_explainer.indices_of(index, *order, groups, self.rows());
                    let Some(got) = supported(&what, got) else { continue };
                    assert_eq!(got.len(), games.len(), "{what}");
                    for (got, game) in got.iter().zip(&games) {
                        let (expected, players) = match groups {
                            None => (enumerate_interactions(game, index, *order), features.clone()),
                            Some(groups) => {
                                let game = QuotientGame::new(game, groups).unwrap();
                                (enumerate_interactions(&game, index, *order), (0..groups.len()).collect())
                            }
                        };
                        same_indices(&what, got, &expected.unwrap(), &players);
                    }
                }
            }
        }
    }

    fn compare(&self, tree_explainers: &[NamedTreeExplainer<'_>], games: &[TabulatedGame], values: &[Value]) {
        let ends: Vec<_> = games.iter().map(|game| enumerate(game, Semivalue::Banzhaf).unwrap()).collect();
        let base = ends.first().map_or(Vec::new(), |first| first.base.clone());
        let full: Vec<f64> = ends.iter().flat_map(|ends| &ends.predictions).copied().collect();
        for value in values {
            let expected: Vec<f64> = games.iter().flat_map(|game| self.values(value, game)).collect();
            let matrices = [Diagonal::Value, Diagonal::Remainder].map(|diagonal| {
                let of_game = |game| self.pairs(value, diagonal, game);
                let has_pairs = matches!(value, Value::Semivalue(_) | Value::Quotient(..));
                (diagonal, has_pairs.then(|| games.iter().filter_map(of_game).collect::<Vec<_>>()))
            });
            for (name, tree_explainer, tolerance) in tree_explainers {
                let what = format!("{}, {value:?}, {name}", self.what);
                let close =
                    |what: &str, got: &[f64], expected: &[f64]| close(what, got, expected, *tolerance);
                if let Some(got) = supported(&what, tree_explainer.values_of(value, self.rows())) {
                    close(&what, &got.values, &expected);
                    close(&what, &got.predictions, &full);
                    if !games.is_empty() {
                        close(&what, &got.base, &base);
                    }
                    assert_eq!(got.base, tree_explainer.base());
                    // Without rows there is no error, although a plan for more rows may return one.
                    let plan = supported(&what, tree_explainer.plan_of(value, 1000, self.rows()));
                    assert!(plan.is_some() || games.is_empty(), "{what}");
                    assert!(plan.is_none_or(|plan| (0.0..f64::INFINITY).contains(&plan.seconds)), "{what}");
                }
                for (diagonal, expected) in &matrices {
                    let got = tree_explainer.interactions_of(value, *diagonal, self.rows());
                    match (expected, got) {
                        (None, got) => assert!(matches!(got, Err(TreeError::Unsupported { .. })), "{what}"),
                        (Some(expected), got) => {
                            if let Some(got) = supported(&what, got) {
                                close(&format!("{what}, {diagonal:?}"), &got.values, &expected.concat());
                            }
                        }
                    }
                }
            }
        }
    }

    /// Compares all tree explainers of a game with each other, for cases with too many features for the
    /// definitions.
    pub fn agree(&self, values: &[Value]) {
        for tree_explainers in self.tree_explainers() {
            for value in values {
                let mut known = [None, None];
                for (name, tree_explainer, tolerance) in &tree_explainers {
                    let what = format!("{}, {value:?}, {name}", self.what);
                    let pairs = tree_explainer.interactions_of(value, Diagonal::Value, self.rows());
                    let got =
                        supported(&what, tree_explainer.values_of(value, self.rows())).map(|got| got.values);
                    for (known, got) in known.iter_mut().zip([got, pairs.ok().map(|got| got.values)]) {
                        let Some(got) = got else { continue };
                        close(&what, &got, known.get_or_insert_with(|| got.clone()), *tolerance);
                    }
                }
            }
        }
    }
}

/// Returns one base score per output, at equal steps.
fn base_scores(trees: &[TreeSpec]) -> Vec<f32> {
    let outputs = trees.iter().map(|tree| tree.output + 1).max().unwrap_or(1);
    (0..outputs).map(|output| output as f32 * 0.5 - 0.75).collect()
}

/// Returns the interaction matrix of `count` players for a game in which only the players in `players` take
/// part.
pub fn matrix(
    value: &Semivalue,
    diagonal: Diagonal,
    players: &[usize],
    count: usize,
    game: &impl Game,
) -> Vec<f64> {
    let (k, outputs) = (players.len(), game.outputs());
    let mut worths = vec![0.0; outputs << k];
    game.values(&Coalitions::from_masks(k, 0..1 << k), &mut worths).unwrap();
    let alone = enumerate(game, value.without_null_players(k)).unwrap();
    let mut matrix = vec![0.0; count * count * outputs];
    let at = |i: usize, j: usize, output: usize| (players[i] * count + players[j]) * outputs + output;
    let factor = if diagonal == Diagonal::Remainder { 0.5 } else { 1.0 };
    for (i, output) in (0..k).flat_map(|i| (0..outputs).map(move |output| (i, output))) {
        matrix[at(i, i, output)] += alone.values[i * outputs + output];
        for j in (0..k).filter(|&j| j != i) {
            let worth = |coalition: usize| worths[coalition * outputs + output];
            let second_difference = |others: usize| {
                worth(others | 1 << i | 1 << j) - worth(others | 1 << i) - worth(others | 1 << j)
                    + worth(others)
            };
            let others = (0..1usize << k).filter(|others| others & (1 << i | 1 << j) == 0);
            let index: f64 = others
                .map(|others| {
                    let size = others.count_ones() as usize;
                    value.moment(size, k - 2 - size) * second_difference(others)
                })
                .sum();
            matrix[at(i, j, output)] = factor * index;
            if diagonal == Diagonal::Remainder {
                matrix[at(i, i, output)] -= factor * index;
            }
        }
    }
    matrix
}

/// Returns the result of a tree explainer, or `None` if it does not support its settings.
pub fn supported<T>(what: &str, answer: Result<T, TreeError>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(TreeError::Unsupported { .. } | TreeError::Kernel { .. }) if !what.contains("kernel: None") => {
            None
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Compares numbers with a tolerance relative to the largest number, or to 1 if all numbers are smaller.
pub fn close(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0f64, |scale, number| scale.max(number.abs()));
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance * scale, "{what}: number {index}: {got} != {expected}");
    }
}

/// Compares the interaction indices of a model with the indices of a game of some of its players, in the
/// order of `players`.
fn same_indices(what: &str, got: &Interactions, expected: &Interactions, players: &[usize]) {
    let largest = |numbers: &[f64]| numbers.iter().fold(1.0f64, |largest, number| number.abs().max(largest));
    let ends = [expected.base(), expected.predictions(), expected.values()].map(largest);
    let allowed = 1e-12 * largest(&ends);
    let zeros = vec![0.0; expected.outputs()];
    let near = |got: &[f64], expected: &[f64], of: &dyn std::fmt::Display| {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() <= allowed, "{what}, {of}: {got} != {expected}");
        }
    };
    for (coalition, expected) in expected.iter() {
        let members: Vec<usize> = coalition.members().map(|member| players[member]).collect();
        near(got.get(&members).unwrap_or(&zeros), expected, &coalition);
    }
    for (coalition, index) in got.iter() {
        let inside = coalition.members().map(|member| players.iter().position(|&player| player == member));
        match inside.collect::<Option<Vec<_>>>() {
            Some(members) => near(index, expected.get(&members).unwrap(), &coalition),
            None => near(index, &zeros, &coalition),
        }
    }
    near(got.base(), expected.base(), &"v(∅)");
    near(got.predictions(), expected.predictions(), &"v(N)");
    near(got.constant(), expected.constant(), &"the constant");
}
