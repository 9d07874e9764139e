"""Estimators of shapiq, as programs of the laboratory.

    cargo xtask measure frontier --estimator-program \\
        'shapiq OddSHAP=python3 benches/rivals/shapiq_estimator.py OddSHAP'

The names are the keys of ESTIMATORS; those of BANZHAF estimate Banzhaf values (`--value banzhaf --reference
kernel-banzhaf-without-replacement`). Needs shapiq, and xgboost or lightgbm for the estimators that fit trees.
"""
from estimator_program import Refused, run

import math
import sys

import shapiq.approximator as theirs


def poly(order):
    """Returns PolySHAP of this order, with at most half as many terms as the budget and at most 600."""
    def make(n, budget, seed):
        all_terms = sum(math.comb(n, size) for size in range(order + 1))
        terms = min(all_terms, max(n + 2, min(budget // 2, 600)))
        return theirs.PolySHAP(n, max_order=order, max_terms=terms, pairing_trick=True, random_state=seed)
    return make


def up_to(most, make):
    """Returns an estimator that refuses more than `most` players, for which it takes too long."""
    def limited(n, budget, seed):
        if n > most:
            raise Refused(f"more than {most} players take too long")
        return make(n, budget, seed)
    return limited


def simple(name, *arguments, **options):
    return lambda n, budget, seed: getattr(theirs, name)(n, *arguments, **options, random_state=seed)


ESTIMATORS = {
    "LeverageSHAP": simple("LeverageSHAP"),
    "OddSHAP": simple("OddSHAP"),
    "ProxySHAP": simple("ProxySHAP", max_order=1, index="SV"),
    "ProxySHAP-adjusted": simple("ProxySHAP", max_order=1, index="SV", adjustment=True),
    "RegressionMSR": simple("RegressionMSR", "SV"),
    "RegressionMSR-linear": simple("RegressionMSR", "SV", proxy_model="linear"),
    "PolySHAP-2": poly(2),
    "PolySHAP-3": up_to(20, poly(3)),
    "KernelSHAP-paired": simple("KernelSHAP", pairing_trick=True),
    "kADDSHAP-2": up_to(20, simple("kADDSHAP", max_order=2, pairing_trick=True)),
    "PermutationSamplingSV": simple("PermutationSamplingSV"),
}
BANZHAF = {
    "RegressionMSR-BV": simple("RegressionMSR", "BV"),
    "ProxySHAP-BV": simple("ProxySHAP", max_order=1, index="BV"),
    "ProxySHAP-BV-adjusted": simple("ProxySHAP", max_order=1, index="BV", adjustment=True),
    "RegressionFBII-1": simple("RegressionFBII", max_order=1, pairing_trick=True),
    "SVARM-BV": simple("SVARM", "BV"),
}


def estimate(game):
    make = (ESTIMATORS | BANZHAF)[sys.argv[1]]
    found = make(game.players, game.budget, game.seed).approximate(game.budget, game)
    places = found.interaction_lookup
    return [found.values[places[player,]] if (player,) in places else 0.0 for player in range(game.players)]


if __name__ == "__main__":
    run(estimate)
