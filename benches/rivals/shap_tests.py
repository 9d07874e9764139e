#!/usr/bin/env python3
"""Checks the command with the cases of shap's tests of trees.

    python3 benches/rivals/shap_tests.py BINARY [--only TEXT] [--cases]

BINARY is the `apportion` command. Each case is named after a test of shap (tests/explainers/test_tree.py,
2026) and checks the same property on a newly trained model, with similar data that are synthetic or ship with
scikit-learn: values against shap's TreeExplainer, sums against the library's predictions, interactions,
errors. The table states for each case `agree`, `differ` with the side confirmed by enumeration of all
coalitions, or `refused` with the reason; refusals are also counted by reason. Tolerances are relative to the
largest value: 1e-6 for libraries that sum in f64, 2e-5 for those that sum in f32. `--cases` lists the cases.
The exit status is 1 if the command is wrong.

The interpreter needs shap, scikit-learn and pandas, and any of xgboost, lightgbm, catboost, ngboost, pyod,
scikit-optimize and gpboost.
"""
import argparse
import collections
import pathlib
import sys
import tempfile
import warnings

from command import Command, Refused, table
from shap_cases import (  # noqa: F401  the cases
    catboost_models,
    lightgbm_models,
    scikit_learn,
    side_by_side,
    synthetic,
    xgboost_models,
)
from shap_cases.bench import CASES, Bench, Differs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="", help="run only cases whose name contains this text")
    parser.add_argument("--cases", action="store_true", help="list the cases")
    given = parser.parse_args()
    order = {name: place for place, name in enumerate(sorted(name for name, _, _ in CASES))}
    cases = sorted((case for case in CASES if given.only in case[0]), key=lambda case: order[case[0]])
    if given.cases or given.binary is None:
        print("\n".join(name for name, _, _ in cases))
        return
    warnings.simplefilter("ignore")
    lines, reasons, wrong, right = [], collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Command(given.binary.resolve(), folder), pathlib.Path(folder))
        for name, function, parameters in cases:
            bench.notes, bench.name = [], name
            try:
                function(bench, *parameters)
                verdict = "agree"
            except Refused as refusal:
                verdict = f"refused: {str(refusal).replace(folder, '…')}"
                reasons[reason_of(verdict)] += 1
            except Differs as difference:
                verdict = f"{'differ' if difference.is_right else '**differ**'}: {difference}"
                wrong += not difference.is_right
                right += difference.is_right
            except Exception as problem:  # a library fails to train or run here
                verdict = f"refused: the case itself fails: {type(problem).__name__}: {problem}"
                reasons["the case itself fails"] += 1
            lines.append([name, "; ".join([verdict, *bench.notes])])
            print(f"{name}: {lines[-1][1]}", file=sys.stderr, flush=True)
    print(table(lines, ["shap's test", "the command"]))
    agree = sum(line[1].startswith("agree") for line in lines)
    print(f"\n{agree} of {len(lines)} agree, {right} differ from shap but agree with enumeration, "
          f"{wrong} differ otherwise, {sum(reasons.values())} refused:\n")
    print("\n".join(f"- {count} × {reason}" for reason, count in reasons.most_common()))
    sys.exit(1 if wrong else 0)


def reason_of(verdict):
    """Returns the reason of a refusal without details of its case."""
    for text in ("not a number", "the header lacks", "--missing", "statistics of categories",
                 "path-dependent", "is not installed", "no reader of",
                 "approximate", "scikit_learn_to_json"):
        if text in verdict:
            return text
    return verdict.removeprefix("refused: ")[:100]


if __name__ == "__main__":
    main()
