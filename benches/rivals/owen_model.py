r"""Creates the model for timing Owen values: 500 trees of depth 8 on 100 features, 1000 rows, one baseline.

    python3 benches/rivals/owen_model.py DIR
    cargo build --release -p apportion-benches
    for value in shapley owen banzhaf-owen quotient-shapley two-step; do
        target/release/tree_explainer DIR/owen_model.json DIR/rows.npy $value 1 5 \
            --background DIR/baseline.npy --groups 5
    done

Needs numpy and xgboost. We know of no other library that computes exact Owen values of such ensembles.
"""

import pathlib
import sys

import numpy
import xgboost

FEATURES, ROWS = 100, 20_000


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(7)
    x = random.normal(size=(ROWS, FEATURES)).astype(numpy.float32)
    y = 0.3 * (x @ random.normal(size=FEATURES)) + numpy.sin(x[:, 0] * x[:, 5]) + x[:, 10] * x[:, 11]
    y += (x[:, 20] > 0) * x[:, 40] + x[:, 50] * x[:, 51] * x[:, 77] + 0.1 * random.normal(size=ROWS)
    parameters = {"tree_method": "hist", "max_depth": 8, "eta": 0.1, "objective": "reg:squarederror",
                  "nthread": 2}
    xgboost.train(parameters, xgboost.DMatrix(x, y), 500).save_model(folder / "owen_model.json")
    numpy.save(folder / "rows.npy", x[:1000])
    numpy.save(folder / "baseline.npy", x.mean(0, keepdims=True))
    numpy.save(folder / "background.npy", x[1000:1100])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
