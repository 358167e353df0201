"""Files of Vowpal Wabbit as environments."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path

from hannan.adapters.vw.dsjson import rounds_of_dsjson
from hannan.adapters.vw.lines import Lines
from hannan.adapters.vw.logs import Columns, read_log
from hannan.adapters.vw.rounds import UNSUPPORTED, CbAdfRound, Round
from hannan.adapters.vw.text import FORMATS, SLOTTED, check_format, rounds_of_text
from hannan.core import LossError, Oracle, ParameterError
from hannan.core.validation import LossRange, check_choice, check_loss_range
from hannan.environments._scaling import RunningStandard
from hannan.off_policy import LogReplay

ENDINGS = (".vw", ".dsjson", ".json")

_LOOK = 1000  # lines, or rounds
_LABEL = re.compile(r"[0-9]+(:[^: ]*)*$")


def is_vw(path: str | PathLike[str]) -> bool:
    """Return whether the name of a file is that of a VW log."""
    return Path(path).name.lower().removesuffix(".gz").endswith(ENDINGS)


def format_of(
    path: str | PathLike[str],
    given: str | None = None,
    option: str = "format=",
    *,
    max_round: int | None = None,
    max_unpacked: int | None = None,
) -> str:
    """Return the format of a file: the given one, or detected from its name or first lines."""
    if given is not None:
        return check_format("FromVW", given, (*FORMATS, "dsjson"))
    if {suffix.lower() for suffix in Path(path).suffixes} & {".dsjson", ".json"}:
        return "dsjson"
    parts: set[int] = set()  # numbers of colons in labels
    lines = Lines(path, max_round, max_unpacked)
    for line in islice(lines, _LOOK):
        first = line.partition("|")[0].split(" ")[0]
        if first in SLOTTED:
            raise ParameterError(f"The file {str(path)!r} cannot be read: {UNSUPPORTED}.")
        if first.startswith("{"):
            return "dsjson"
        if first == "shared" or not line:
            return "cb_adf"
        parts |= {first.count(":")} if _LABEL.match(first) else set()
    if parts in ({2}, {0, 2}):
        return "cb"
    if not lines.number:
        raise ParameterError(f"The file {str(path)!r} is empty.")
    raise ParameterError(
        f"Cannot detect the format of {str(path)!r} from its first lines. Pass {option}, one of "
        f"{', '.join((*FORMATS, 'dsjson'))}."
    )


def offers_change(path: str | PathLike[str], format: str, max_unpacked: int | None = None) -> bool:
    """Return whether the first thousand rounds of a file differ in the offered actions."""
    rounds = rounds_in(Lines(path, None, max_unpacked), format)
    offers = (each.actions for each in islice(rounds, _LOOK) if isinstance(each, CbAdfRound))
    first = next(offers, ())
    return any(offer != first for offer in offers)


def rounds_in(lines: Lines, format: str) -> Iterator[Round]:
    """Yield the rounds in these lines, in any of the three formats."""
    return rounds_of_dsjson(lines) if format == "dsjson" else rounds_of_text(lines, format)


class FromVW(LogReplay):
    r"""Replay the decisions of a VW log (`cb`, `cb_adf` or dsjson), as `LogReplay` does.

    The log is held in memory.

    Parameters
    ----------
    path
        Path of a text file or a dsjson file, also .gz.
    format
        "cb", "cb_adf" or "dsjson". None (default) detects the format from the name (.dsjson, .json)
        or the first lines.
    columns, action_columns, n_actions
        As in `log_from_vw`.
    items
        Whether the offered actions of a round are a `Menu`, for a learner of actions with features.
        If False (default), actions are identified by their position, from 0.
    value_range
        Range (low, high) of the costs. Default (0, 1).
    method, baseline, floor, oracle
        As in `LogReplay`.
    scale
        "running" (default) scales the features of contexts to mean 0 and variance 1 by the rows so
        far; None leaves them unchanged. Menus are never scaled.
    max_round, max_unpacked
        As in `read_vw`.

    Attributes
    ----------
    actions
        The actions 0, …, K - 1; empty for actions with features.
    features
        Name of each entry of a context, as in VW's audit.

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
    >>> hn.adapters.FromVW(file).features
    ['user^age']
    >>> world = hn.adapters.FromVW(file, items=True)
    >>> world.horizon, [len(menu) for menu in world.contexts]
    (2, [2, 3])
    >>> hn.play(hn.bandit(actions="items", seed=0), world, seed=0)
    <trace of 2 rounds, mean loss ...>
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        columns: Columns = None,
        items: bool = False,
        action_columns: Columns = None,
        n_actions: int | None = None,
        value_range: tuple[float, float] = (0.0, 1.0),
        method: str = "rejection",
        baseline: float | str = "running",
        floor: float | None = None,
        scale: str | None = "running",
        oracle: Oracle | None = None,
        max_round: int | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self.path = path
        self.format = format_of(path, format, max_round=max_round, max_unpacked=max_unpacked)
        self.columns = columns
        self.items = items
        self.action_columns = action_columns
        self.value_range = value_range
        self.scale = scale
        self.max_round = max_round
        self.max_unpacked = max_unpacked
        if scale is not None:
            check_choice(self, "scale", scale, ("running",))
        bounds = check_loss_range(self, value_range, "value_range")
        kind, rounds = "items" if items else "position", self._rounds(bounds)
        log, self.features = read_log(rounds, columns, kind, action_columns, n_actions, bounds)
        self.actions = [] if items else list(range(log.n_actions))
        if scale is not None and log.features is not None:
            log = replace(log, contexts=RunningStandard()(log.features))
        super().__init__(log, method=method, baseline=baseline, floor=floor, oracle=oracle)

    def _rounds(self, bounds: LossRange) -> Iterator[Round]:
        """Yield the rounds; raise `LossError`, with the line, for a cost outside its range."""
        lines = Lines(self.path, self.max_round, self.max_unpacked)
        for this_round in rounds_in(lines, self.format):
            cost = None if getattr(this_round, "skip_learn", False) else this_round.cost
            if cost is not None and not bounds[0] <= cost <= bounds[1]:
                where = "The round that ends in line" if self.format == "cb_adf" else "Line"
                raise LossError(
                    f"{where} {lines.number} of the file {str(self.path)!r}: the cost {cost:g} is "
                    f"outside value_range={bounds}."
                )
            yield this_round
