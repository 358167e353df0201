"""Files of Vowpal Wabbit whose actions come and go."""

from __future__ import annotations

from itertools import islice
from os import PathLike
from typing import Any

from hannan.adapters.vw.dsjson import read_dsjson
from hannan.adapters.vw.encoding import Columns
from hannan.adapters.vw.files import format_of
from hannan.adapters.vw.lines import MAX_ROUND
from hannan.adapters.vw.logs import log_from_vw
from hannan.adapters.vw.rounds import CbAdfRound
from hannan.adapters.vw.text import read_vw
from hannan.core import Oracle, ParameterError
from hannan.off_policy import LogReplay

_LOOK = 1000  # rounds


class FromVWItems(LogReplay):
    r"""The decisions of a `cb_adf` or dsjson log, for a learner of described actions to play.

    As `FromVW`, but what a round offers is a `Menu`: the features of each action, and its tag, where
    actions have tags, as its id. The log is held in memory.

    Parameters
    ----------
    path, format, columns, max_round, max_unpacked
        As in `FromVW`; `columns` are those of the contexts.
    action_columns
        The same for the rows of the actions.
    value_range
        (low, high) of the costs.
    method, baseline, floor, oracle
        As in `LogReplay`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "ads.vw"
    >>> _ = file.write_text(
    ...     "shared |user age:31\n0:1:0.5 |ad red:1\n |ad blue:1\n\n"
    ...     "shared |user age:18\n |ad green:1\n0:0:0.25 |ad red:1\n |ad blue:2\n\n"
    ... )
    >>> world = hn.adapters.FromVWItems(file)
    >>> world.horizon, [len(menu) for menu in world.contexts]
    (2, [2, 3])
    >>> learner = hn.bandit(actions="described", seed=0)
    >>> hn.play(learner, world, seed=0)
    <trace of 2 rounds, mean loss ...>
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        columns: Columns = None,
        action_columns: Columns = None,
        value_range: tuple[float, float] = (0.0, 1.0),
        method: str = "rejection",
        baseline: float | str = "running",
        floor: float | None = None,
        oracle: Oracle | None = None,
        max_round: int | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self.path = path
        self.format = format_of(path, format, max_round=max_round, max_unpacked=max_unpacked)
        self.columns = columns
        self.action_columns = action_columns
        self.value_range = value_range
        self.max_round = max_round
        self.max_unpacked = max_unpacked
        if self.format == "cb":
            raise ParameterError("Actions of cb have numbers and nothing else: use FromVW.")
        log = log_from_vw(
            _rounds(path, self.format, max_round, max_unpacked),
            columns=columns,
            actions="described",
            action_columns=action_columns,
            cost_range=value_range,
        )
        super().__init__(log, method=method, baseline=baseline, floor=floor, oracle=oracle)

    @property
    def smallest_propensity(self) -> float:
        """The smallest probability in the log."""
        return float(self.log.propensities.min())


def offers_change(
    path: str | PathLike[str],
    format: str,
    max_round: int | None = None,
    max_unpacked: int | None = None,
) -> bool:
    """Whether rounds of a file differ in what they offer, by a look at the first thousand."""
    if format == "cb":
        return False
    first: Any = None
    for this_round in islice(_rounds(path, format, max_round, max_unpacked), _LOOK):
        assert isinstance(this_round, CbAdfRound)
        if first is None:
            first = this_round.actions
        elif this_round.actions != first:
            return True
    return False


def _rounds(path: Any, format: str, max_round: int | None, max_unpacked: int | None) -> Any:
    limits: dict[str, Any] = {"max_round": max_round or MAX_ROUND, "max_unpacked": max_unpacked}
    found: Any = read_dsjson(path, **limits)
    if format != "dsjson":
        found = read_vw(path, format, **limits)
    rounds: Any = found
    return rounds
