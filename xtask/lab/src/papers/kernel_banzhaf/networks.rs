//! Figure 6: error against sample size on neural networks.
//!
//! Networks are loaded by `apportion-onnx`, whose runtime takes long to build, so this module requires the
//! feature `onnx`. Without the feature, `networks_left_out.rs` is used instead.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use apportion::games::{Purpose, SumOfUnanimity, TabulatedGame, stream};
use apportion::{Background, Game, MarginalGame, Semivalue};
use apportion_onnx::Network;
use rand::seq::index;

use super::contender::Contender::{self, KernelBanzhaf, KernelBanzhafUnpaired, MonteCarlo, Msr};
use super::experiment::look;
use super::instance::EnumerationKey;
use super::sample_size::pairs_help;
use crate::comparison::{
    Centre, Compete, Curves, Experiment, FigureLayout, Run, Series, by_sample_size, squared_distance, sweep,
};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::datasets::{Dataset, KnownDataset, known_dataset};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::notes;
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;
use crate::reproduce::trained::{self, Entry, how_to_train};
use crate::reproduce::verdict::Claim;

/// The paper's datasets, each with the name of its network trained by `cargo xtask train`. The paper's Census
/// Income is adult.
const TRAINED: [(&str, &str); 4] =
    [("pima", "pima_mlp"), ("adult", "adult_mlp"), ("bank_full", "bank_full_mlp"), ("german", "german_mlp")];

/// Number of background rows for absent features.
const BACKGROUND: usize = 50;

/// The tabulated game of one explicand, and its exact Banzhaf values.
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

/// A random row of a dataset, and 50 other random rows as background.
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

/// Returns the values of all coalitions of a game.
fn tabulate(game: &dyn Game) -> Result<Vec<f64>> {
    Ok(TabulatedGame::from_game(game)?.values_in_order().to_vec())
}

fn runs(session: &Session, dataset: &Dataset<Network>) -> Result<Series<NetworkRun>> {
    let known: &'static KnownDataset = dataset.known;
    let explained = (0..session.runs).map(|run| Explained::draw(dataset, run, session.seed));
    let explained = explained.collect::<Result<Vec<_>>>()?;
    let method = Digest::from_numbers(tabulate(&SumOfUnanimity::random(5, 20, 3, 1))?);
    let mut cells = Vec::new();
    for (run, explained) in explained.iter().enumerate() {
        let explicand = Digest::from_numbers(explained.explicand.iter().copied());
        let played = Digest::joined([&Digest::of_game(&explained.game()?)?, &explicand]);
        let protocol = NetworkRun::PROTOCOL;
        cells.push(Cell {
            key: EnumerationKey::new(known, run),
            made_of: Ingredients::new("network game", protocol, session.seed, &played, &method),
            with: explained,
        });
    }
    let tables = session.results(&cells, |cell| tabulate(&cell.with.game()?))?;
    let instances = tables.into_iter().zip(&explained).enumerate().map(|(run, (values, explained))| {
        let game = TabulatedGame::new(values, 1)?;
        let truth = apportion::estimators::exact(&game, Semivalue::Banzhaf)?.values;
        Ok(NetworkRun { run, explicand: explained.explicand.clone(), game, truth })
    });
    Ok(Series { known, instances: instances.collect::<Result<_>>()? })
}

fn read(bytes: &[u8]) -> Result<Network> {
    let network = Network::from_bytes(bytes)?;
    ensure!(network.output_count() == 1, "the network has {} outputs, expected 1", network.output_count());
    Ok(network)
}

/// The datasets whose networks are available, with their networks.
struct NetworkDatasets {
    datasets: Vec<Arc<Dataset<Network>>>,
    trained: Vec<Entry>,
    /// Reasons why networks are missing.
    skipped: Vec<String>,
}

fn find(session: &Session) -> Result<NetworkDatasets> {
    let mut found = NetworkDatasets { datasets: Vec::new(), trained: Vec::new(), skipped: Vec::new() };
    for (dataset, name) in TRAINED {
        match trained(session, dataset, name)? {
            Ok((dataset, entry)) => {
                found.datasets.push(dataset);
                found.trained.push(entry);
            }
            Err(why) => {
                let line = format!("{name}: skipped; {why}");
                session.say_once(&line);
                found.skipped.push(line);
            }
        }
    }
    Ok(found)
}

/// A dataset with a network trained by us, and the index entry of the network.
type Explainable = (Arc<Dataset<Network>>, Entry);

/// Returns a dataset with its network trained by us, or the reason why the network is missing.
fn trained(session: &Session, dataset: &str, name: &'static str) -> Result<Result<Explainable, String>> {
    let dataset = known_dataset(dataset);
    let network = match session.library.trained_on(dataset, name) {
        Ok(network) => network,
        Err(why) => return Ok(Err(why)),
    };
    Ok(read(&network.bytes)
        .and_then(|model| {
            let (given, wanted) = (model.feature_count(), dataset.players);
            ensure!(given == wanted, "the network expects {given} columns, but the dataset has {wanted}");
            Ok((dataset.with_trained(name, &network, model)?, network.entry))
        })
        .map_err(|error| format!("{error:#}: {}", how_to_train(name))))
}

/// Generates figure 6: median and quartiles of the error, for the estimators of Banzhaf values.
pub(crate) fn fig6(session: &Session) -> Result<ArtefactOutput> {
    let found = find(session)?;
    let series = found.datasets.iter().map(|dataset| {
        runs(session, dataset).with_context(|| format!("cannot evaluate the games of {}", dataset.known.name))
    });
    let experiment = Experiment::new(session, series.collect::<Result<Vec<_>>>()?)?;
    let curves =
        sweep(&experiment, &Contender::BANZHAF, &by_sample_size(), Centre::Median, |run, _, estimate| {
            Ok(Some(squared_distance(&estimate.values, &run.truth)))
        })?;
    let look = FigureLayout {
        columns: 2,
        ..look("Figure 6: error against sample size (neural networks, interventional game)", "squared error")
    };
    let mut made = curves.artefact_output(["dataset", "m"], &look, "Median of ‖φ̃ − φ‖² by sample size");
    made.tables.extend(trained::table(
        found.trained.iter().map(|entry| (entry, "prints none; two layers, dropout of one half")),
    ));
    let mut claims = claims(&curves);
    if !found.skipped.is_empty() {
        let missing = found.skipped.join("; ");
        claims = claims.into_iter().map(|claim| claim.and(&missing)).collect();
    }
    let mut notes = notes![
        "models: two-layer networks trained by this project on the paper's Diabetes (Pima), Census Income \
         (adult), Bank (all rows) and German Credit, which are part of the repository (xtask/lab/networks)",
        format!(
            "game: interventional, the mean over {BACKGROUND} random rows other than the explicand, drawn \
             again in every run; truth: computed from all 2^n coalitions"
        ),
        super::notes::ESTIMATORS,
    ];
    notes.extend(found.skipped);
    Ok(ArtefactOutput { claims, notes, datasets: Vec::new(), ..made })
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
                (kernel, rival),
            )
        })
        .collect();
    claims.push(pairs_help(curves));
    claims
}
