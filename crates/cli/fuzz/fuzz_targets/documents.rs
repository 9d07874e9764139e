//! Fuzzes all data that the library reads with serde, except checkpoints: dendrograms, values by name or
//! distribution, and interaction indices.

#![no_main]

#[path = "../../../trees/fuzz/fuzz_targets/texts/mod.rs"]
mod texts;

use apportion::partitions::{Cut, Dendrogram};
use apportion::values::{InteractionIndex, LinearValue, Semivalue, SolutionConcept};
use serde::Serialize;
use serde::de::DeserializeOwned;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(dendrogram) = again::<Dendrogram>(bytes) {
        let features = dendrogram.features();
        // Draw only small figures, because a figure has a line for each feature.
        if features <= 200 {
            dendrogram.to_svg(Some(Cut::Height(0.5))).expect("a height");
            for groups in 1..=features {
                let partition = dendrogram.cut_into(groups).expect("as many groups as there can be");
                assert_eq!(partition.groups().len(), groups);
            }
        }
        dendrogram.cut_at(0.5).expect("a height");
        dendrogram.hierarchy();
    }
    again::<LinearValue>(bytes);
    again::<SolutionConcept>(bytes);
    again::<Semivalue>(bytes);
    if let Some(index) = again::<InteractionIndex>(bytes) {
        // The weights for any number of players and coalitions are either valid or an error.
        let _ = index.weights(2, 10);
    }
});

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    texts::mutate(bytes, size, most, seed)
});

/// Parses the bytes, writes the value, parses it again, and checks that it is unchanged.
fn again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&read).expect("it is JSON");
    let again: T = serde_json::from_slice(&written).unwrap_or_else(|error| panic!("{error}: {read:?}"));
    assert_eq!(again, read);
    Some(read)
}
