"""The README's comparison, from RESULTS.md: `python -m benchmarks.comparison [--write]`.

Every environment of the study `worlds` is a row. A peer that was run with two settings shows the
better of the two in each row. The last column compares `hn.bandit` with the best of all settings of
all peers: "better" or "worse" by more than two standard errors of the difference, else "similar".
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
README = RESULTS.parents[1] / "README.md"

OURS, PLAIN = "hn.bandit", "hn.bandit, no predictor"
PEERS = {
    "LinUCB": ("LinUCB, α 0.1", "LinUCB, α 1"),
    "ε-greedy": ("ε-greedy, ε 0.05",),
    "Vowpal Wabbit": ("Vowpal Wabbit: SquareCB", "Vowpal Wabbit: SynthCover"),
}
LOSSES = {  # mean losses
    "digits": "digits",
    "permuted": "digits, labels permuted three times",
    "S3b": "`LeaderPunisher`, 5 actions, features",
    "pendigits": "pendigits",
    "satimage": "satimage",
    "shuttle": "shuttle",
    "covtype": "covtype, in stream order",
    "weather": "weather, in stream order",
    "emotions": "emotions, 6 labels",
    "xor": "xor: no linear rule fits",
    "digits, delay 100": "digits, feedback 100 rounds late",
    "CopyPunisher, rows": "`CopyPunisher`, 3 actions, features",
    "CopyPunisher": "`CopyPunisher`, 3 actions",
    "Bait": "`Bait`, 3 actions",
    "LeaderPunisher": "`LeaderPunisher`, 5 actions",
}
REGRETS = {  # mean losses are known, so that regret per round is
    "linear": "10 actions, linear losses, features",
    "linear, delay 100": "10 actions, linear losses, features, 100 rounds late",
    "clicks": "10 actions, clicks of 1 to 5 %, features",
    "logistic clicks": "4 actions, clicks of about 15 %, features",
    "3 linear losses": "3 actions, linear losses, features",
    "3 linear losses, lower": "3 actions, linear losses 0.15 lower, features",
    "3 linear losses, higher": "3 actions, linear losses 0.15 higher, features",
    "arms2/0.05": "2 arms, gap 0.05",
    "arms2/0.2": "2 arms, gap 0.2",
    "arms10/0.05": "10 arms, gap 0.05",
    "arms10/0.2": "10 arms, gap 0.2",
    "arms10/0.2, delay 100": "10 arms, gap 0.2, feedback 100 rounds late",
    "arms50/0.2": "50 arms, gap 0.2",
    "sparse arms": "10 arms, clicks of 1 to 5 %",
    "5 arms, 0/1, 0.4 and 0.5": "5 arms, mean losses 0.4 and 0.5",
    "5 arms, 0/1, 0.1 and 0.5": "5 arms, mean losses 0.1 and 0.5",
    "5 arms, Gaussian, 0.45 and 0.5": "5 arms, 0.45 and 0.5, little noise",
    "5 arms, constant, 0.3 and 0.5": "5 arms, 0.3 and 0.5, no noise",
}

Score = tuple[float, float]
"""A mean and its standard error."""


def scores() -> dict[str, dict[str, Score]]:
    """Return the scores of all settings in each environment, as RESULTS.md has them."""
    study = RESULTS.read_text(encoding="utf-8").split("\n## worlds\n")[1].split("\n## ")[0]
    lines = study.split("\n| | ")[1].splitlines()
    environments, *rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in lines
        if line.count("±") or line is lines[0]
    ]
    table: dict[str, dict[str, Score]] = {name: {} for name in environments}
    for setting, *cells in rows:
        for name, cell in zip(environments, cells, strict=True):
            mean, error = cell.split(" ± ")
            table[name][setting] = float(mean), float(error)
    return table


def verdict(settings: dict[str, Score]) -> str:
    """Compare `hn.bandit` with the best of all settings of its peers."""
    mean, error = settings[OURS]
    best, other = min(settings[name] for names in PEERS.values() for name in names)
    if abs(mean - best) <= 2.0 * math.hypot(error, other):
        return "similar"
    return "better" if mean < best else "worse"


def block() -> str:
    """Return the table and the counts, as Markdown."""
    columns = ["mean loss", OURS, "without predictor", *PEERS, "hn.bandit is"]
    between = ["**mean regret per round**", *[""] * (len(columns) - 1)]
    table = scores()
    counts = [verdict(settings) for settings in table.values()]
    shown = ", ".join(f"{counts.count(word)} {word}" for word in ("better", "similar", "worse"))
    return "\n".join([
        _line(columns),
        "|---" + "|---:" * (len(columns) - 2) + "|---|",
        *(_row(title, table[name], 3) for name, title in LOSSES.items()),
        _line(between),
        *(_row(title, table[name], 4) for name, title in REGRETS.items()),
        "",
        f"In all {len(counts)} environments: **{shown}**.",
    ])  # fmt: skip


def _row(title: str, settings: dict[str, Score], digits: int) -> str:
    best = [min(settings[name] for name in names) for names in PEERS.values()]
    shown = [f"{mean:.{digits}f}" for mean, _ in (settings[OURS], settings[PLAIN], *best)]
    return _line([title, *shown, verdict(settings)])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def written(page: str) -> str:
    """Return the page with its comparison renewed: from the head of the table to the counts."""
    return re.sub(
        r"^\| mean loss \|.*?^In all [^*]*\*\*.*?\*\*\.", block(), page, flags=re.M | re.S
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(block())
