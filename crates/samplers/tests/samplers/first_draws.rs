//! Tests the first draws for fixed seeds.
//!
//! Stored results record their seed. If these draws change, none of these results is reproducible any more,
//! and the change log must mention it.

use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SizeDistribution, WithReplacement,
};

fn first(sample: &Sample, rows: usize) -> Vec<String> {
    sample.coalitions().iter().take(rows).map(|row| row.to_string()).collect()
}

/// Returns a fingerprint that depends on all rows (FNV-1a over the words).
fn fingerprint(sample: &Sample) -> u64 {
    let bytes = sample.coalitions().words().iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn first_rows_are_fixed() {
    let (distribution, pairing) = (SizeDistribution::leverage(8).unwrap(), Pairing::Paired);
    let bernoulli = Bernoulli { distribution: distribution.clone(), pairing, order: Order::Fixed }
        .sample(80, 42)
        .unwrap();
    assert_eq!(first(&bernoulli, 80)[16..19], ["{0, 1} of 8", "{2, 3, 4, 5, 6, 7} of 8", "{0, 3} of 8"]);
    let fixed = FixedCounts { distribution: distribution.clone(), pairing, order: Order::Fixed }
        .sample(80, 42)
        .unwrap();
    assert_eq!(first(&fixed, 80)[16..19], ["{0, 3} of 8", "{1, 2, 4, 5, 6, 7} of 8", "{1, 2} of 8"]);
    let with_replacement =
        WithReplacement { distribution, pairing: Pairing::Unpaired }.sample(80, 42).unwrap();
    assert_eq!(
        first(&with_replacement, 3),
        ["{1, 7} of 8", "{1, 2, 3, 4, 5, 6} of 8", "{0, 1, 3, 4, 5, 6} of 8"]
    );
}

#[test]
fn whole_samples_are_fixed() {
    let mut fingerprints = Vec::new();
    for (players, evaluations) in [(10, 300), (100, 1000), (1000, 2000)] {
        for (distribution, pairing) in [
            (SizeDistribution::leverage(players), Pairing::Paired),
            (SizeDistribution::kernel(players), Pairing::Unpaired),
        ] {
            let distribution = distribution.unwrap();
            let samplers: [Box<dyn Sampler>; 3] = [
                Box::new(Bernoulli { distribution: distribution.clone(), pairing, order: Order::Fixed }),
                Box::new(FixedCounts { distribution: distribution.clone(), pairing, order: Order::Fixed }),
                Box::new(WithReplacement { distribution, pairing }),
            ];
            fingerprints
                .extend(samplers.map(|sampler| fingerprint(&sampler.sample(evaluations, 42).unwrap())));
        }
    }
    let expected = [
        4609639707216812893,
        1342648918233642465,
        16725090125044206261,
        1740631764218488599,
        4318023727749821968,
        617944878478011824,
        10050531706064408590,
        16156425142890931137,
        6228696667198827789,
        11054644269449024757,
        2475444671887195272,
        9993632165355786225,
        795162165649873573,
        5503476644229620353,
        14243861903387778601,
        4864779157011069156,
        2897449756439330040,
        3423612857569156073,
    ];
    assert_eq!(fingerprints, expected);
}

#[test]
fn whole_growing_samples_are_fixed() {
    let mut fingerprints = Vec::new();
    for (players, evaluations) in [(10, 300), (100, 1000), (1000, 2000)] {
        let (distribution, pairing) = (SizeDistribution::leverage(players).unwrap(), Pairing::Paired);
        let growing = FixedCounts { distribution: distribution.clone(), pairing, order: Order::Nested }
            .sample(evaluations, 42)
            .unwrap();
        let bernoulli =
            Bernoulli { distribution, pairing, order: Order::Nested }.sample(evaluations, 42).unwrap();
        fingerprints.extend([fingerprint(&growing), fingerprint(&bernoulli)]);
    }
    let expected = [
        17650177534750884281,
        11066259465827784737,
        1037886148048076837,
        14209055584462103365,
        10011896722875219273,
        10083874914092881753,
    ];
    assert_eq!(fingerprints, expected);
}
