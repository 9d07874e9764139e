//! Synthetic results for figures.

use apportion_plots::{
    Batch, Certified, Explained, Form, Gathering, Heading, InterimCheck, Kind, Medium, Member,
};

/// Results from which every kind of figure can be drawn.
#[derive(Debug, Clone)]
pub(crate) struct Results {
    pub(crate) names: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) rows: usize,
    /// The attributions φ: rows × players × outputs.
    pub(crate) values: Vec<f64>,
    /// The standard errors, one per value, or empty.
    pub(crate) std_errors: Vec<f64>,
    /// The inputs of the players: rows × players.
    pub(crate) inputs: Vec<f64>,
    /// The categories of the first feature.
    pub(crate) words: Vec<String>,
    pub(crate) base: f64,
    pub(crate) is_efficient: bool,
    /// The interim checks of each row.
    pub(crate) interim_checks: Vec<(u64, Option<f64>)>,
    pub(crate) text: String,
    pub(crate) max_rows: usize,
}

/// Returns a pseudorandom number from −1 to 1, which is the same for the same position.
pub(crate) fn number(at: usize) -> f64 {
    let mut mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

impl Results {
    /// Creates results for players with these names, with numbers from −1 to 1.
    pub(crate) fn new(names: &[&str], rows: usize, outputs: usize) -> Self {
        let players = names.len();
        Self {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            outputs: match outputs {
                1 => vec![String::new()],
                count => (0..count).map(|output| format!("class {output}")).collect(),
            },
            ids: None,
            rows,
            values: (0..rows * players * outputs).map(number).collect(),
            std_errors: Vec::new(),
            inputs: (0..rows * players).map(|at| (100.0 * number(at + 7)).round()).collect(),
            words: Vec::new(),
            base: 0.5,
            is_efficient: true,
            interim_checks: vec![(64, Some(3.0)), (128, Some(1.5)), (256, Some(0.9))],
            text: "The words that are the players come here, one by one.".to_owned(),
            max_rows: usize::MAX,
        }
    }

    /// Multiplies all values by `factor`.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self.std_errors.iter_mut().for_each(|error| *error *= factor);
        self.base *= factor;
        self
    }

    /// Turns the values into estimates.
    pub(crate) fn estimated(mut self) -> Self {
        self.std_errors = (0..self.values.len()).map(|at| 0.1 + 0.1 * number(at)).collect();
        self
    }

    fn heading(&self, kind: Kind) -> Heading {
        let players = self.names.len();
        let mut heading = Heading::for_features(&self.names);
        heading.outputs.clone_from(&self.outputs);
        heading.is_efficient = self.is_efficient;
        if let Some(words) = heading.categories.first_mut() {
            words.clone_from(&self.words);
        }
        let feature = |name: &String| Member::Feature(name.clone());
        let (first, last) = self.names.split_at(players / 2);
        let inner = Member::Group(last.iter().map(feature).collect());
        heading.groups = vec![Member::Group(first.iter().take(1).map(feature).chain([inner]).collect())];
        heading.groups.extend(first.iter().skip(1).map(feature));
        heading.medium = match kind {
            Kind::Text => Some(Medium::Text { text: self.text.clone(), spans: self.spans() }),
            Kind::Image => Some(Medium::Image {
                width: 6,
                height: 5,
                segments: (0..30)
                    .map(|at| if at == 0 { Medium::NOBODY } else { (at % players) as u32 })
                    .collect(),
                pixels: if players.is_multiple_of(2) {
                    Vec::new()
                } else {
                    (0..30).map(|at| [8 * at, 255, 0]).collect()
                },
            }),
            _ => None,
        };
        heading.interactions = matches!(kind, Kind::Interactions | Kind::Network).then_some(Form::Remainder);
        heading
    }

    /// Divides the text into parts of nearly equal length, some of which are empty if there are too few
    /// letters.
    fn spans(&self) -> Vec<(usize, usize)> {
        let players = self.names.len();
        let edges: Vec<usize> = self.text.char_indices().map(|(at, _)| at).chain([self.text.len()]).collect();
        let edge = |player: usize| edges[player * (edges.len() - 1) / players];
        (0..players).map(|player| (edge(player), edge(player + 1))).collect()
    }

    /// Collects the rows, with the data that a kind of figure requires.
    pub(crate) fn explained(&self, kind: Kind) -> Explained {
        let (players, outputs) = (self.names.len(), self.outputs.len());
        let heading = self.heading(kind);
        let are_pairs = heading.interactions.is_some();
        let mut gathering = Gathering::new(heading).unwrap().max_rows(self.max_rows);
        for row in 0..self.rows {
            let width = players * outputs;
            let values = &self.values[row * width..(row + 1) * width];
            let sum = |output: usize| values.iter().skip(output).step_by(outputs).sum::<f64>();
            let undivided = if self.is_efficient { 0.0 } else { 0.25 * self.base };
            let batch = Batch {
                rows: vec![row as u64],
                ids: self.ids.as_ref().map(|ids| vec![ids[row].clone()]),
                base: vec![self.base; outputs],
                predictions: (0..outputs).map(|output| self.base + sum(output) + undivided).collect(),
                values: if are_pairs { paired(values, players, outputs) } else { values.to_vec() },
                std_errors: match self.std_errors.is_empty() || are_pairs {
                    true => Vec::new(),
                    false => self.std_errors[row * width..(row + 1) * width].to_vec(),
                },
                inputs: self.inputs[row * players..(row + 1) * players].to_vec(),
                certificates: vec![Some(self.certified())],
                ..Batch::default()
            };
            gathering.add(batch).unwrap();
        }
        gathering.end()
    }

    fn certified(&self) -> Certified {
        Certified {
            stopped_by: "accuracy".to_owned(),
            guarantee: "normal".to_owned(),
            confidence: 0.95,
            error_bounds: vec![0.1],
            tolerances: vec![0.2],
            half_widths: Vec::new(),
            interim_checks: self
                .interim_checks
                .iter()
                .map(|&(evaluations, error)| InterimCheck { evaluations, spent: 0.01, error })
                .collect(),
            says: "All is within 0.1.".to_owned(),
        }
    }
}

/// Turns values into interactions: half of each value is on the diagonal, and half is with the next player.
fn paired(values: &[f64], players: usize, outputs: usize) -> Vec<f64> {
    let mut pairs = vec![0.0; players * players * outputs];
    for player in 0..players {
        for output in 0..outputs {
            let half = 0.5 * values[player * outputs + output];
            let other = (player + 1) % players;
            for of in [player, other] {
                pairs[(player * players + of) * outputs + output] += half;
            }
        }
    }
    pairs
}
