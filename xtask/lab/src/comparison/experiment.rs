//! Cells of the experiments: the estimate of one contender in one run with one setting, computed once and
//! stored.

use apportion::games::parallel;
use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::Game;
use serde::{Deserialize, Serialize};

use super::contender::Compete;
use super::noise::Noise;
use super::noisy::Times;
use crate::reproduce::datasets::{Dataset, KnownDataset};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// One run on a dataset: an explained row and its exact values.
pub(crate) trait Run: Send + Sync {
    type Contender: Compete;

    /// Increased when the meaning of a cell changes in a way that the digests of games and contenders do not
    /// detect, so that old checkpoints are not reused.
    const PROTOCOL: u32;

    /// Returns the number of the run.
    fn number(&self) -> usize;

    /// Returns the explained row.
    fn explicand(&self) -> &[f64];

    /// Returns the name of the game that a contender is applied to. In one run, games with the same name are
    /// identical.
    fn game_name(contender: Self::Contender) -> &'static str;

    /// Returns the game for a contender.
    fn game(&self, contender: Self::Contender) -> Result<Box<dyn Game + '_>>;

    /// Returns how many times the published algorithm evaluates each coalition, if it evaluates a coalition
    /// again for each repeated draw. Our estimators evaluate each coalition once.
    fn times_evaluated(_: Self::Contender, _players: usize, _budget: usize, _seed: u64) -> Result<Times> {
        Ok(Times::new())
    }
}

/// The runs of a paper on its datasets.
pub(crate) struct Experiment<'a, R: Run> {
    session: &'a Session,
    pub(crate) datasets: Vec<Series<R>>,
    digests: BTreeMap<R::Contender, Digest>,
}

/// A dataset with its runs.
pub(crate) struct Series<R> {
    pub(crate) known: &'static KnownDataset,
    pub(crate) instances: Vec<R>,
}

impl<R: Send> Series<R> {
    /// Creates the runs of the session on a dataset; `make` creates a run from its number and the master
    /// seed.
    pub(crate) fn new<M: Send + Sync>(
        session: &Session,
        dataset: &Arc<Dataset<M>>,
        make: impl Fn(&Arc<Dataset<M>>, usize, u64) -> Result<R> + Sync,
    ) -> Result<Self> {
        let instances = parallel::try_map(0..session.runs, |run| make(dataset, run, session.seed))?;
        Ok(Self { known: dataset.known, instances })
    }
}

/// The setting of an estimate: dataset, contender, budget and noise. Each setting is computed for all runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting<C> {
    /// Index into [`Experiment::datasets`].
    pub(crate) dataset: usize,
    pub(crate) contender: C,
    /// Number of evaluations m.
    pub(crate) budget: usize,
    pub(crate) noise: Noise,
}

/// Checkpoint key of an estimate.
#[derive(Serialize)]
struct EstimateKey {
    dataset: &'static str,
    data_sha256: &'static str,
    model_sha256: &'static str,
    game: &'static str,
    estimator: &'static str,
    budget: usize,
    noise: Noise,
    run: usize,
}

/// The cell of one contender's estimate in one run.
type EstimateCell<'a, R> = Cell<EstimateKey, (<R as Run>::Contender, &'a R)>;

/// Digests, by run, of the games with the same name, dataset and noise.
struct GameDigests {
    dataset: usize,
    game: &'static str,
    noise: Noise,
    digests: Vec<Digest>,
}

impl GameDigests {
    fn are_of<R: Run>(&self, setting: &Setting<R::Contender>) -> bool {
        (self.dataset, self.game, self.noise)
            == (setting.dataset, R::game_name(setting.contender), setting.noise)
    }
}

/// Result of a contender in one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// The estimated values φ̃.
    pub(crate) values: Vec<f64>,
    pub(crate) evaluations: usize,
    /// Condition number of the regression's Gram matrix, if there is a regression.
    pub(crate) condition_number: Option<f64>,
}

impl<'a, R: Run> Experiment<'a, R> {
    pub(crate) fn new(session: &'a Session, datasets: Vec<Series<R>>) -> Result<Self> {
        Ok(Self { session, datasets, digests: digests()? })
    }

    pub(super) fn session(&self) -> &'a Session {
        self.session
    }

    /// Returns the estimates of each setting, run by run.
    pub(crate) fn estimates(&self, settings: &[Setting<R::Contender>]) -> Result<Vec<Vec<Estimate>>> {
        let (played, places) = self.played(settings)?;
        let mut cells = Vec::new();
        for (&setting, place) in settings.iter().zip(places) {
            cells.extend(self.cells(setting, &played[place].digests));
        }
        let estimates = self.session.results(&cells, |cell| {
            let EstimateKey { estimator, dataset, run, budget, .. } = cell.key;
            estimate(cell).with_context(|| format!("{estimator} on {dataset}, run {run}, m = {budget}"))
        })?;
        let mut rest = estimates.into_iter();
        Ok(settings
            .iter()
            .map(|setting| rest.by_ref().take(self.datasets[setting.dataset].instances.len()).collect())
            .collect())
    }

    /// Returns the estimates of some contenders on a dataset with `budget` evaluations, without noise.
    pub(crate) fn estimates_on(
        &self,
        dataset: usize,
        contenders: &[R::Contender],
        budget: usize,
    ) -> Result<Vec<Vec<Estimate>>> {
        let setting = |&contender| Setting { dataset, contender, budget, noise: Noise::NONE };
        self.estimates(&contenders.iter().map(setting).collect::<Vec<_>>())
    }

    /// Computes the digests of the games of `settings`, each once for all its contenders and budgets, and
    /// returns them with the index of the game for each setting.
    fn played(&self, settings: &[Setting<R::Contender>]) -> Result<(Vec<GameDigests>, Vec<usize>)> {
        let mut all: Vec<GameDigests> = Vec::new();
        let mut places = Vec::new();
        for setting in settings {
            if let Some(place) = all.iter().position(|played| played.are_of::<R>(setting)) {
                places.push(place);
                continue;
            }
            places.push(all.len());
            let series = &self.datasets[setting.dataset];
            let digest = |instance: &R| {
                let (contender, noise, name) = (setting.contender, setting.noise, series.known.name);
                let game = played(instance, contender, noise, name, self.session.seed)?;
                let values = Digest::of_game(&*game)?;
                anyhow::Ok(Digest::joined([
                    &values,
                    &Digest::from_numbers(instance.explicand().iter().copied()),
                ]))
            };
            all.push(GameDigests {
                dataset: setting.dataset,
                game: R::game_name(setting.contender),
                noise: setting.noise,
                digests: parallel::try_map(&series.instances, digest)?,
            });
        }
        Ok((all, places))
    }

    /// Returns the cells of a setting, one per run, given the digests of the games.
    fn cells<'c>(
        &'c self,
        setting: Setting<R::Contender>,
        played: &'c [Digest],
    ) -> impl Iterator<Item = EstimateCell<'c, R>> {
        let series = &self.datasets[setting.dataset];
        let (contender, method) = (setting.contender, &self.digests[&setting.contender]);
        series.instances.iter().zip(played).map(move |(instance, played)| Cell {
            key: EstimateKey {
                dataset: series.known.name,
                data_sha256: series.known.data_sha256(),
                model_sha256: series.known.model_sha256(),
                game: R::game_name(contender),
                estimator: contender.title(),
                budget: setting.budget,
                noise: setting.noise,
                run: instance.number(),
            },
            made_of: Ingredients::new("estimate", R::PROTOCOL, self.session.seed, played, method),
            with: (contender, instance),
        })
    }
}

/// Returns the digests of all contenders.
pub(crate) fn digests<C: Compete>() -> Result<BTreeMap<C, Digest>> {
    C::all().iter().map(|&contender| Ok((contender, contender.digest()?))).collect()
}

/// Returns the game of a run with noise that is drawn once and shared by all contenders.
fn played<'a, R: Run>(
    instance: &'a R,
    contender: R::Contender,
    noise: Noise,
    dataset: &str,
    seed: u64,
) -> Result<Box<dyn Game + 'a>> {
    let noise_seed = derive_seed(&("noise", dataset, instance.number(), noise.sigma, seed))?;
    noise.on(instance.game(contender)?, noise_seed, Times::new())
}

/// Returns the seed of an estimate.
pub(crate) fn estimate_seed(
    dataset: &str,
    estimator: &str,
    budget: usize,
    noise: Noise,
    run: usize,
    master: u64,
) -> Result<u64> {
    derive_seed(&("estimate", dataset, estimator, budget, noise.sigma, run, master))
}

/// Returns the game of a run with noise that is drawn again at each evaluation of an estimate.
fn played_each_time<'a, R: Run>(cell: &EstimateCell<'a, R>, seed: u64) -> Result<Box<dyn Game + 'a>> {
    let EstimateKey { dataset, estimator, budget, noise, run, .. } = cell.key;
    let ((contender, instance), master) = (cell.with, cell.made_of.seed);
    let noise_seed = derive_seed(&("noise", dataset, run, noise.sigma, master, estimator, budget))?;
    let game = instance.game(contender)?;
    let times = R::times_evaluated(contender, game.players(), budget, seed)?;
    noise.on(game, noise_seed, times)
}

fn estimate<R: Run>(cell: &EstimateCell<'_, R>) -> Result<Estimate> {
    let EstimateKey { dataset, estimator, budget, noise, run, .. } = cell.key;
    let ((contender, instance), master) = (cell.with, cell.made_of.seed);
    let seed = estimate_seed(dataset, estimator, budget, noise, run, master)?;
    let game = if noise.is_at_each_evaluation() {
        played_each_time(cell, seed)?
    } else {
        played(instance, contender, noise, dataset, master)?
    };
    let explanation = contender.estimator().estimate(&game, budget, seed)?;
    Ok(Estimate {
        values: explanation.values,
        evaluations: explanation.evaluations,
        condition_number: explanation.diagnostics.condition_number,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::comparison::contenders;
    use apportion::estimators::{LeverageShap, Pairing};
    use apportion::games::SumOfUnanimity;

    contenders! {
        /// An estimator whose behaviour changes while its name stays the same.
        subject Before;
        Before: "changing", LEVERAGE_SHAP, LeverageShap::default();
        After: "changing", LEVERAGE_SHAP,
            LeverageShap::default().with_pairing(Pairing::Unpaired);
    }
    use Contender as Changing;

    struct Toy<const PROTOCOL: u32> {
        explicand: Vec<f64>,
        game: SumOfUnanimity,
    }

    impl<const PROTOCOL: u32> Run for Toy<PROTOCOL> {
        type Contender = Changing;

        const PROTOCOL: u32 = PROTOCOL;

        fn number(&self) -> usize {
            0
        }

        fn explicand(&self) -> &[f64] {
            &self.explicand
        }

        fn game_name(_: Changing) -> &'static str {
            "toy"
        }

        fn game(&self, _: Changing) -> Result<Box<dyn Game + '_>> {
            Ok(Box::new(&self.game))
        }
    }

    /// Everything that an estimate in these tests depends on.
    #[derive(Debug, Clone)]
    struct EstimateInputs {
        data: &'static str,
        model: &'static str,
        game: u64,
        explicand: f64,
        noise: Noise,
        contender: Changing,
        budget: usize,
    }

    /// Returns the estimated values, computed in a session with checkpoints below `out`.
    fn values<const PROTOCOL: u32>(out: &Path, made: &EstimateInputs) -> Vec<f64> {
        let session = Session::for_tests(out);
        let toy = Toy::<PROTOCOL> {
            explicand: vec![made.explicand; 10],
            game: SumOfUnanimity::random(10, 30, 4, made.game),
        };
        let series =
            Series { known: KnownDataset::for_tests("toy", made.data, made.model), instances: vec![toy] };
        let experiment = Experiment::new(&session, vec![series]).unwrap();
        let (contender, budget, noise) = (made.contender, made.budget, made.noise);
        let setting = Setting { dataset: 0, contender, budget, noise };
        let mut estimates = experiment.estimates(&[setting]).unwrap().concat();
        assert_eq!(estimates.len(), 1);
        estimates.remove(0).values
    }

    #[test]
    fn whatever_made_an_estimate_is_changed_it_is_computed_anew() {
        let made = EstimateInputs {
            data: "a",
            model: "b",
            game: 1,
            explicand: 0.5,
            noise: Noise::absolute(0.1),
            contender: Changing::Before,
            budget: 60,
        };
        let out = tempfile::tempdir().unwrap();
        let first = values::<1>(out.path(), &made);
        assert_eq!(values::<1>(out.path(), &made), first);
        assert_eq!(Session::finished(out.path()), 1);
        let others = [
            (EstimateInputs { data: "c", ..made.clone() }, true),
            (EstimateInputs { model: "c", ..made.clone() }, true),
            (EstimateInputs { explicand: 0.25, ..made.clone() }, true),
            (EstimateInputs { game: 2, ..made.clone() }, false),
            (EstimateInputs { noise: Noise::NONE, ..made.clone() }, false),
            (EstimateInputs { noise: Noise::absolute(0.2), ..made.clone() }, false),
            (EstimateInputs { noise: Noise::relative(0.1), ..made.clone() }, false),
            (EstimateInputs { noise: Noise::absolute(0.1).at_each_evaluation(), ..made.clone() }, false),
            (EstimateInputs { contender: Changing::After, ..made.clone() }, false),
            (EstimateInputs { budget: 80, ..made.clone() }, false),
        ];
        for (at, (other, gives_the_same)) in others.iter().enumerate() {
            let fresh = tempfile::tempdir().unwrap();
            let got = values::<1>(out.path(), other);
            assert_eq!(Session::finished(out.path()), at + 2, "{other:?}");
            assert_eq!(got, values::<1>(fresh.path(), other), "{other:?}");
            assert_eq!(got == first, *gives_the_same, "{other:?}");
        }
        assert_eq!(values::<2>(out.path(), &made), first);
        assert_eq!(Session::finished(out.path()), others.len() + 2);
        // The checkpoints contain the cells of all variants, so the first result is found again.
        assert_eq!(values::<1>(out.path(), &made), first);
        assert_eq!(Session::finished(out.path()), others.len() + 2);
    }
}
