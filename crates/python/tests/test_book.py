"""Runs the snippets of the book (Python and command line) in the order of each page. They must print the
output that the book shows, and they draw its figures.

Only command lines that begin with `apportion` are run. The lines up to the next command are the expected
standard output, in which `...` matches anything; without such lines, the command only has to succeed.
`UPDATE=1 pytest crates/python/tests/test_book.py` replaces the figures.
"""
import collections
import doctest
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).parents[3] / "docs"
PAGES = sorted(page.stem for page in (DOCS / "book").glob("*.md"))
if not PAGES:
    pytest.skip("the documentation is not beside the tests", allow_module_level=True)
PAPERS = ["leverage-shap", "kernel-banzhaf", "group-explainers", "projected-sgd", "l-c-shapley", "estimators"]
VERDICTS = ["holds", "holds partly", "does not hold"]
OWN = "this project"


def blocks(text):
    """Yields the fenced blocks of a page: language, content, number of the first line."""
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield found[1], found[2], text[: found.start()].count("\n") + 1


def commands(block):
    """Yields the command lines of a terminal block, each with the output below it."""
    for told in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.M)[1:]:
        line, _, output = told.partition("\n")
        yield shlex.split(line, comments=True), output


def run(command, output, where, folder):
    if command[0] != "apportion":
        return
    told = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True,
                          encoding="utf-8")
    assert told.returncode == 0, f"{where}: {shlex.join(command)}\n{told.stderr}"
    same = doctest.OutputChecker().check_output(output, told.stdout, doctest.ELLIPSIS)
    assert not output or same, f"{where}: {shlex.join(command)} writes\n{told.stdout}"


@pytest.mark.parametrize("page", PAGES)
def test_snippets_of_the_book(page, tmp_path, monkeypatch):
    for folder in ("docs", "xtask"):
        (tmp_path / folder).symlink_to(DOCS.parent / folder)
    monkeypatch.chdir(tmp_path)
    runner, names = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), {}
    for language, block, line in blocks((DOCS / "book" / f"{page}.md").read_text(encoding="utf-8")):
        if language == "console":
            for command, output in commands(block):
                run(command, output, f"{page}.md:{line}", tmp_path)
        elif language == "python":
            example = doctest.DocTestParser().get_doctest(block, names, page, f"{page}.md", line)
            assert example.examples, f"{page}.md:{line}: no >>>"
            assert runner.run(example, clear_globs=False).failed == 0
            names = example.globs
    for drawn in tmp_path.glob("*.svg"):
        kept = DOCS / "figures" / drawn.name
        if "UPDATE" in os.environ:
            shutil.copy(drawn, kept)
        assert drawn.read_bytes() == kept.read_bytes(), f"{kept} is not what {page}.md draws"


def test_counts_of_verdicts_are_those_of_the_table_of_claims():
    counts, columns = collections.Counter(), []
    for line in (DOCS / "claims.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" *").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if "verdict" in cells:
            columns = cells
            continue
        row = dict(zip(columns, cells))
        if row.get("paper") in PAPERS and row["verdict"]:
            # Totals never mix this project's claims with those of a paper.
            own = row["source"].startswith("this project") or "of this project" in row["source"]
            verdict = row["verdict"] if row["verdict"] in VERDICTS else "other"
            counts[OWN if own else row["paper"], verdict] += 1
    told = {}
    for line in (DOCS / "book" / "papers.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" `") for cell in line.split("|")[1:-1]]
        if cells and cells[0] in [*PAPERS, OWN]:
            told[cells[0]] = [int(cell) for cell in cells[-5:]]
    for whose in [*[paper for paper in PAPERS if paper != "estimators"], OWN]:
        of_these = [counts[whose, verdict] for verdict in [*VERDICTS, "other"]]
        assert told[whose] == [sum(of_these), *of_these], whose
