//! Figure 6: error against sample size on neural networks.
//!
//! Networks are read by `apportion-onnx`, whose runtime takes long to build: behind the feature `onnx`. `networks_left_out.rs` stands
//! here without it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use apportion::games::{Purpose, SumOfUnanimity, TabulatedGame, stream};
use apportion::{Background, Game, MarginalGame, Semivalue};
use apportion_onnx::Network;
use rand::seq::index;
use serde::Serialize;

use super::contender::Contender::{self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, Msr};
use super::sample_size::pairs_help;
use crate::comparison::{
    Centre, Compete, Curves, Experiment, Look, Run, Series, by_sample_size, squared_distance, sweep,
};
use crate::reproduce::catalogue::Made;
use crate::reproduce::datasets::{Dataset, Known, known};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{Claim, Needed};

/// The datasets, each with its network.
const DATASETS: [&str; 2] = ["diabetes-mlp", "adult-mlp"];

/// Those of a dataset that the paper has, its Census Income.
const OF_PAPER: [&str; 1] = ["adult-mlp"];

/// Rows that stand for absent features.
const BACKGROUND: usize = 50;

/// The game of one explicand, tabulated, and its exact Banzhaf values.
struct NetworkRun {
    run: usize,
    explicand: Vec<f64>,
    game: TabulatedGame,
    truth: Vec<f64>,
}

impl Run for NetworkRun {
    type Contender = Contender;

    const PROTOCOL: u32 = 1;

    fn number(&self) -> usize {
        self.run
    }

    fn explicand(&self) -> &[f64] {
        &self.explicand
    }

    fn game_name(_: Contender) -> &'static str {
        "interventional, 50 rows"
    }

    fn game(&self, _: Contender) -> Result<Box<dyn Game + '_>> {
        Ok(Box::new(&self.game))
    }
}

/// One enumeration of 2^n coalitions.
#[derive(Serialize)]
struct TableCell<'a> {
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    run: usize,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    explained: &'a Explained<'a>,
    #[serde(skip)]
    played: Digest,
    #[serde(skip)]
    method: &'a Digest,
}

impl Cell for TableCell<'_> {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients {
            kind: "network game",
            protocol: NetworkRun::PROTOCOL,
            games: &self.played,
            method: self.method,
            truth: None,
            seed: self.seed,
        }
    }
}

/// A random row of a dataset, and 50 other random rows that stand for absent features.
struct Explained<'a> {
    data: &'a Dataset<Network>,
    explicand: Vec<f64>,
    background: Background,
}

impl<'a> Explained<'a> {
    fn draw(data: &'a Dataset<Network>, run: usize, seed: u64) -> Result<Self> {
        let seed = derive_seed(&("network", data.known.name, run, seed))?;
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let drawn = index::sample(&mut rng, data.rows(), BACKGROUND + 1).into_vec();
        let background: Vec<f64> = drawn[1..].iter().flat_map(|&row| data.row(row)).copied().collect();
        Ok(Self {
            data,
            explicand: data.row(drawn[0]).to_vec(),
            background: Background::rows(background, data.known.players)?,
        })
    }

    fn game(&self) -> Result<MarginalGame<'_, Network>> {
        Ok(MarginalGame::new(&self.data.model, &self.explicand, &self.background)?)
    }
}

/// All values of a game.
fn tabulate(game: &dyn Game) -> Result<Vec<f64>> {
    Ok(TabulatedGame::from_game(game)?.values_in_order().to_vec())
}

fn runs(session: &Session, dataset: &Dataset<Network>) -> Result<Series<NetworkRun>> {
    let known: &'static Known = dataset.known;
    let explained = (0..session.runs).map(|run| Explained::draw(dataset, run, session.seed));
    let explained = explained.collect::<Result<Vec<_>>>()?;
    let method = Digest::of(tabulate(&SumOfUnanimity::random(5, 20, 3, 1))?);
    let mut cells = Vec::new();
    for (run, explained) in explained.iter().enumerate() {
        let explicand = Digest::of(explained.explicand.iter().copied());
        cells.push(TableCell {
            dataset: known.name,
            data_sha256: known.data_sha256(),
            model_sha256: known.model_sha256(),
            run,
            seed: session.seed,
            explained,
            played: Digest::joined([&Digest::of_game(&explained.game()?)?, &explicand]),
            method: &method,
        });
    }
    let tables = session.results(&cells, |cell| tabulate(&cell.explained.game()?))?;
    let instances = tables.into_iter().zip(&explained).enumerate().map(|(run, (values, explained))| {
        let game = TabulatedGame::new(values, 1)?;
        let truth = apportion::estimators::exact(&game, Semivalue::Banzhaf)?.values;
        Ok(NetworkRun { run, explicand: explained.explicand.clone(), game, truth })
    });
    Ok(Series { known, instances: instances.collect::<Result<_>>()? })
}

fn network(session: &Session, known: &'static Known) -> Result<Option<Arc<Dataset<Network>>>> {
    session.library.get_with(known, |bytes| {
        let network = Network::from_bytes(bytes)?;
        ensure!(network.output_count() == 1, "{} has {} outputs, not 1", known.name, network.output_count());
        Ok(network)
    })
}

/// Figure 6: median and quartiles of the error of the estimators of Banzhaf values.
pub(crate) fn fig6(session: &Session) -> Result<Made> {
    let mut series = Vec::new();
    for name in DATASETS {
        if let Some(dataset) = network(session, known(name))? {
            series.push(runs(session, &dataset).with_context(|| format!("the games of {name}"))?);
        }
    }
    let experiment = Experiment::new(session, series)?;
    let curves = sweep(&experiment, &Contender::BANZHAF, &by_sample_size(), |run, _, estimate| {
        Ok(Some(squared_distance(&estimate.values, &run.truth)))
    })?;
    let look = Look {
        title: "Figure 6: error against sample size (neural networks, interventional game)",
        x: "evaluations m",
        y: "squared error",
        floor: 1e-14,
        centre: Centre::Median,
        columns: 2,
    };
    let made = curves.made(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² by sample size");
    let of = |names: &[&str]| {
        let is_judged = |panel: usize| names.contains(&experiment.datasets[panel].known.name);
        claims(&curves.only(is_judged, &Contender::OF_PAPER))
    };
    let mut claims = of(&OF_PAPER);
    if experiment.datasets.iter().all(|series| !OF_PAPER.contains(&series.known.name)) {
        claims.extend(of(&DATASETS).into_iter().map(Claim::on_stand_ins));
    }
    let notes = vec![
        "models: two small neural networks (the paper's are two-layer networks on Diabetes (Pima), Census Income, Bank and German \
         Credit)"
            .to_owned(),
        format!(
            "game: interventional, the mean over {BACKGROUND} random rows other than the explicand, new in every run; truth: all 2^n \
             coalitions"
        ),
        super::ESTIMATORS.to_owned(),
    ];
    Ok(Made { claims, notes, datasets: DATASETS.to_vec(), ..made })
}

fn claims(curves: &Curves<Contender>) -> Vec<Claim> {
    let pairs = [KernelBanzhaf, KernelBanzhafUnpaired]
        .into_iter()
        .flat_map(|kernel| [MonteCarlo, Msr].map(|rival| (kernel, rival)));
    let mut claims: Vec<Claim> = pairs
        .map(|(kernel, rival)| {
            curves.below(
                &format!("{} consistently outperforms {} on networks", kernel.title(), rival.title()),
                "appendix D; figure 6",
                Needed::All,
                (kernel, rival),
                Centre::Median,
            )
        })
        .collect();
    claims.push(pairs_help(curves));
    claims
}
