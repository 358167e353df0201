"""Estimated propensities as a column of a file, which a replay reads several times."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from hannan.environments import FromLog
from hannan.environments._columns import Labels, Numbers, Part, listed, read
from hannan.environments._files import open_table
from hannan.replays.frames import DIALECT

ESTIMATED = "estimated propensity"
"""Name of the column with the estimates."""
_SMALL = 0.02  # share of the rows whose estimates may be below `floor`


def with_estimates(log: FromLog, path: Path) -> FromLog:
    """Write the usable rows of a log to a file, with estimated propensities.

    Returns the log of the new file. By default its `floor` is a quantile of the estimates, so
    learners get rows with small estimates a little too rarely. Without this floor, a single
    estimate close to 0 would leave learners almost no rows.
    """
    p = log.propensities
    outcome = str(log.loss or log.reward)
    parts: list[Part] = [
        Labels(log.action, log.actions, holes=True),
        Numbers([outcome], holes=True),
    ]
    table = open_table(log.path, log.max_columns, log.max_unpacked, log.dialect)
    context = [str(pair[0]) for pair in log.context or ()]
    names = list(dict.fromkeys([*context, log.action, outcome]))
    done = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, ESTIMATED])
        for first, batch in table.batches(names):
            places, values = read(table.source, parts, batch, first)
            usable = np.flatnonzero((places >= 0) & ~np.isnan(values[:, 0]))
            columns = [listed(batch[name]) for name in names]
            chances = p[done : done + len(usable)].tolist()
            done += len(usable)
            for i, chance in zip(usable.tolist(), chances, strict=True):
                cells = [column[i] for column in columns]
                writer.writerow([*("" if cell is None else cell for cell in cells), repr(chance)])
    floor = float(np.quantile(p, _SMALL)) if log.floor is None else log.floor
    return log.clone(
        path=str(path), propensity=ESTIMATED, floor=floor, dialect=DIALECT, check=False
    )
