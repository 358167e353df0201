"""Figures that keep the tree one that a stranger can change.

They are lowered as the tree shrinks, and raised only with a feature, by what it needs: lines by
`hn.replay` and its page, checked and estimated propensities, frames, the comparisons and the log
of `Decider`, tables and plots for notebooks, and the commands `demo`, `init`
and `describe`; its round by centred statements, marks of ids,
robust scales and the requests that its log holds. Sets of elements needed lines: hints with their
claims, predictors, baselines, `Decider`, `Watch`, open routes. They needed the member `inclusion`
of objectives. A round also reads missing losses and bounds the cost of truncation.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Objective

ROOT = Path(hn.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

LINES = 74_750
LINES_OF_CODE = 49_150
COMPLEX_FUNCTIONS = 11
VAGUE_NAMES = 624
MEMBERS = {Objective: 20, hn.Oracle: 24, hn.Learner: 48}
# Calls of our own functions in one round, and the files that they are in.
BANDIT_ROUND = (67, 19)
DECIDER_ROUND = (125, 32)

NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


@cache
def trees() -> dict[str, tuple[str, ast.Module]]:
    """The text and the syntax tree of every file, by its path below the package."""
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in FILES}
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Count the lines with code: no docstrings, no lines of comments alone, no blank ones."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in NOT_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            docstring = node.body[0]
            code -= set(range(docstring.lineno, docstring.end_lineno + 1))
    return len(code)


def test_lines_of_code_are_counted_without_docstrings_comments_and_blank_lines():
    head = '"""Head.\n\nMore."""\n\n# Why.\n'
    text = head + 'x = """a\n\nb"""  # three lines\n\n\ndef f():\n    """Do."""\n'
    assert lines_of_code(text, ast.parse(text)) == 4


def test_the_source_is_not_longer_than_its_budget():
    lines = sum(len(text.splitlines()) for text, _ in trees().values())
    code = sum(lines_of_code(*source) for source in trees().values())
    assert (lines <= LINES, code <= LINES_OF_CODE) == (True, True), (lines, code)


def test_few_functions_are_complex():
    complexity = "--select=C901", "--config=lint.mccabe.max-complexity=9"
    command = [sys.executable, "-m", "ruff", "check", *complexity, "--output-format=concise", ROOT]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    offenders = [line for line in printed.splitlines() if " C901 " in line]
    assert printed.rstrip().endswith(("All checks passed!", f"Found {len(offenders)} errors."))
    assert len(offenders) <= COMPLEX_FUNCTIONS, "\n".join(offenders)


def test_names_say_what_things_are():
    vague = {"found", "given", "made", "some", "one"}
    nodes = [node for _, tree in trees().values() for node in ast.walk(tree)]
    names = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    counts = Counter(name for name in names if name in vague)
    assert counts.total() <= VAGUE_NAMES, counts


def members(tree: ast.ClassDef) -> set[str]:
    """Return the names that a class body defines, special methods apart."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("__")}


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.__name__)
def test_a_contract_has_few_members(kind):
    file = kind.__module__.removeprefix("hannan.").replace(".", "/") + ".py"
    (tree,) = (
        node
        for node in ast.walk(trees()[file][1])
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    )
    assert len(members(tree)) <= MEMBERS[kind], sorted(members(tree))


# Internals of other libraries ------------------------------------------------------------------

DOCUMENTED = {"numba", "numba.extending", "numba.types", "numba.typed", "numba.experimental"}


def imports(tree: ast.Module) -> set[str]:
    """Return modules below numba's documented ones, llvmlite, and private names of others."""
    internal = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            pairs = [(each.name, "") for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = [(node.module or "", each.name) for each in node.names]
        else:
            continue
        for module, name in pairs:
            top = module.partition(".")[0]
            if top in ("hannan", "__future__"):
                continue
            below = top == "numba" and module not in DOCUMENTED
            if below or top == "llvmlite" or "._" in f".{module}":
                internal.add(module)
            elif name.startswith("_"):
                internal.add(f"{module}.{name}")
    return internal


def test_nothing_is_imported_from_the_insides_of_other_libraries():
    internal = {f"{file}: {name}" for file, (_, tree) in trees().items() for name in imports(tree)}
    assert internal == {"kernels/lanes.py: llvmlite"}  # it extends numba as documented


def test_imports_of_internals_are_seen():
    text = (
        "import numba\nimport _thread\nimport numpy as np\nfrom numba.core import cgutils\n"
        "from numba.extending import intrinsic\nfrom sys import _getframe, argv\n"
        "from llvmlite import ir\nfrom hannan.core import _version\n"
    )
    assert imports(ast.parse(text)) == {"_thread", "numba.core", "sys._getframe", "llvmlite"}


# One round -------------------------------------------------------------------------------------


def traced(call) -> tuple[int, int]:
    """Count the calls of our functions while `call` runs, and their files."""
    files = []

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), len(set(files))


def test_a_round_of_the_recommended_bandit_is_followed_in_few_files():
    rng = np.random.default_rng(0)
    learner = hn.bandit(4, seed=0)
    for _ in range(200):
        learner.act(rng.normal(size=6))
        learner.update(float(rng.random()))
    row = rng.normal(size=6)
    calls, files = traced(lambda: (learner.act(row), learner.update(0.7)))
    assert (calls <= BANDIT_ROUND[0], files <= BANDIT_ROUND[1]) == (True, True), (calls, files)


def test_a_round_of_a_decider_is_followed_in_few_files():
    decider = hn.Decider(actions=["a", "b", "c"], rewards=(0, 200), baseline="c", seed=0)

    def play(t):
        row = {"age": 20 + t % 50, "city": ["Rome", "Oslo", None][t % 3], "new": t % 2 == 0}
        decider.report(decider.decide(row, id=str(t)).id, reward=float(t % 200))

    for t in range(200):
        play(t)
    calls, files = traced(lambda: play(200))
    assert (calls <= DECIDER_ROUND[0], files <= DECIDER_ROUND[1]) == (True, True), (calls, files)
