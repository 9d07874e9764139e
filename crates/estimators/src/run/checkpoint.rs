//! Checkpoints: the configuration and the evaluations of a stored run.

use apportion_games::{Coalitions, Game};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::estimator::Estimator;
use super::memory::{Memory, Stored};
use crate::error::Result;
use crate::error::RunError;

/// The version of the checkpoint format.
const FORM: u32 = 2;

/// The number of stored coalitions that are evaluated again when a run is resumed, to check that the game is
/// the same.
const PROBES: usize = 5;

/// A stored [`Anytime`](crate::Anytime) run, serializable with serde: the method, its settings, and every
/// evaluation so far.
///
/// A run can be resumed on any machine with the same method, game and seed, and continues to bitwise
/// identical results. A checkpoint is rejected if one of these differs, if it was written by another version
/// of this crate, or if it is truncated or corrupt. Its JSON takes up to 20 characters for every 64 players
/// of a coalition, and about 20 for each value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    form: u32,
    version: String,
    method: String,
    /// All options of the method.
    settings: Value,
    seed: u64,
    players: usize,
    outputs: usize,
    scenarios: usize,
    stored: Stored,
    /// The SHA-256 digest of all other fields, in hexadecimal.
    digest: String,
}

impl Checkpoint {
    pub(crate) fn new(estimator: &dyn Estimator, game: &dyn Game, seed: u64, memory: &Memory) -> Self {
        let mut checkpoint = Self {
            form: FORM,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: estimator.name().to_owned(),
            settings: estimator.settings(),
            seed,
            players: game.players(),
            outputs: game.outputs(),
            scenarios: game.scenarios(),
            stored: memory.stored().clone(),
            digest: String::new(),
        };
        checkpoint.digest = checkpoint.digest_of_the_rest();
        checkpoint
    }

    /// Returns the number of stored evaluations, rounded up. A coalition in one of B scenarios counts as 1/B
    /// of an evaluation.
    pub fn evaluations(&self) -> usize {
        let rows = self.stored.values.len() / self.outputs.max(1);
        let in_scenarios = self.stored.scenarios.iter().filter(|&&scenario| scenario != u32::MAX).count();
        rows - in_scenarios + in_scenarios.div_ceil(self.scenarios.max(1))
    }

    /// Returns the number of scenarios of the game. For a conditional game, this is the number of draws,
    /// which distinguishes it from the same game with more draws.
    pub fn scenarios(&self) -> usize {
        self.scenarios
    }

    /// Returns the stored evaluations, or an error if the checkpoint is corrupt or belongs to a different
    /// run.
    pub(crate) fn open(&self, estimator: &dyn Estimator, game: &dyn Game, seed: u64) -> Result<Memory> {
        let differs = |what: &'static str, stored: &dyn std::fmt::Display, wanted: &dyn std::fmt::Display| {
            let (stored, wanted) = (stored.to_string(), wanted.to_string());
            if stored == wanted {
                return Ok(());
            }
            Err(RunError::OtherCheckpoint { what, stored, expected: wanted })
        };
        differs("format", &self.form, &FORM)?;
        if self.digest != self.digest_of_the_rest() {
            return Err(RunError::SpoiledCheckpoint.into());
        }
        differs("version", &self.version, &env!("CARGO_PKG_VERSION"))?;
        differs("method", &self.method, &estimator.name())?;
        differs("method configuration", &self.settings, &estimator.settings())?;
        differs("seed", &self.seed, &seed)?;
        differs("number of players", &self.players, &game.players())?;
        differs("number of outputs", &self.outputs, &game.outputs())?;
        differs("number of scenarios", &self.scenarios, &game.scenarios())?;
        let memory =
            Memory::restore(self.players, self.outputs, &self.stored).ok_or(RunError::SpoiledCheckpoint)?;
        self.probe(game)?;
        Ok(memory)
    }

    /// Evaluates some coalitions again, and returns an error if a value differs from the stored one. These
    /// are the empty and the grand coalition, which are stored first, and others spread evenly up to the
    /// last.
    fn probe(&self, game: &dyn Game) -> Result<()> {
        let rows = self.stored.values.len() / self.outputs;
        let width = self.stored.coalitions.len().checked_div(rows).unwrap_or(0);
        let mut probes: Vec<usize> = (0..PROBES.min(rows))
            .map(|probe| if probe < 2 { probe } else { (rows - 1) * (probe - 1) / (PROBES - 2) })
            .collect();
        probes.dedup();
        for row in probes {
            let mut batch = Coalitions::new(self.players);
            batch.push_words(&self.stored.coalitions[row * width..(row + 1) * width]);
            let mut values = vec![0.0; self.outputs];
            match self.stored.scenarios.get(row) {
                Some(&scenario) if scenario != u32::MAX => {
                    if scenario as usize >= self.scenarios {
                        return Err(RunError::SpoiledCheckpoint.into());
                    }
                    game.values_in_scenarios(&batch, &[scenario as usize], &mut values)?;
                }
                _ => game.values(&batch, &mut values)?,
            }
            let stored = &self.stored.values[row * self.outputs..(row + 1) * self.outputs];
            if let Some((stored, wanted)) =
                stored.iter().zip(&values).find(|(stored, value)| stored.to_bits() != value.to_bits())
            {
                return Err(RunError::OtherCheckpoint {
                    what: "game (model, row or background)",
                    stored: format!("v({}) = {stored}", batch.row(0).to_coalition()),
                    expected: wanted.to_string(),
                }
                .into());
            }
        }
        Ok(())
    }

    fn digest_of_the_rest(&self) -> String {
        let mut digest = Sha256::new();
        for text in [&self.version, &self.method, &self.settings.to_string()] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let Stored { coalitions, scenarios, values } = &self.stored;
        let numbers =
            [self.form.into(), self.seed, self.players as u64, self.outputs as u64, self.scenarios as u64];
        let lengths = [coalitions.len() as u64, scenarios.len() as u64, values.len() as u64];
        let bits = values.iter().map(|value| value.to_bits());
        let all = numbers.into_iter().chain(lengths).chain(coalitions.iter().copied());
        for number in all.chain(scenarios.iter().map(|&scenario| scenario.into())).chain(bits) {
            digest.update(number.to_le_bytes());
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
