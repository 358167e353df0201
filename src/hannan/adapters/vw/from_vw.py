"""Replay of files of Vowpal Wabbit."""

from __future__ import annotations

from os import PathLike

from hannan.adapters.vw.encoding import Columns
from hannan.adapters.vw.files import ACTION, COST, PROBABILITY, VWTable, format_of
from hannan.core import Oracle, ParameterError
from hannan.core.validation import check_integer, check_loss_range
from hannan.environments import FromLog
from hannan.environments._columns import Table
from hannan.environments._tabular import Replay


class FromVW(FromLog):
    r"""The decisions of a VW log, for a learner to play: `FromLog` of a `cb`, `cb_adf` or dsjson.

    The file is read in batches. By *rejection* a learner plays a round for real where it chooses
    the logged action b and a coin with :math:`p_{\min}/p` says yes; by *importance* weighting it
    is told :math:`\hat\ell(a) = c + 1[a = b](\ell - c)/p`, with the loss
    :math:`\ell = (cost - low)/(high - low)`. Actions are known by their position, from 0, and all
    of them must be there in every round; for logs where they change see `log_from_vw`.

    Parameters
    ----------
    path
        A file of text or of dsjson, also .gz.
    format
        "cb", "cb_adf" or "dsjson"; None goes by the name (.dsjson, .json) or the first lines.
    columns
        The entries of the contexts: names as in VW's audit, ``user^age``; or a number of columns
        to hash them to; None for all that occur.
    n_actions
        K; by default as many as occur.
    value_range
        (low, high) of the costs.
    method, baseline, floor, scale, oracle
        As in `FromLog`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "ads.vw"
    >>> _ = file.write_text("1:0:0.5 |user age:31\n2:-1:0.5 |user age:18\n1:-1:0.5 |user age:40\n")
    >>> log = hn.adapters.FromVW(file, value_range=(-1, 0))
    >>> log.horizon, log.n_actions, log.features
    (3, 2, ['user^age'])
    >>> for this_round in log.rounds(3, np.random.default_rng(0)):
    ...     print(this_round.reveal(0, hn.Feedback.SEMI), this_round.weight)
    1.0 1.0
    None 0.0
    0.0 1.0
    >>> folder.cleanup()

    References
    ----------
    [li2011], [dudik2011]
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        columns: Columns = None,
        n_actions: int | None = None,
        value_range: tuple[float, float] = (0.0, 1.0),
        method: str = "rejection",
        baseline: float | str = "running",
        floor: float | None = None,
        scale: str | None = "running",
        oracle: Oracle | None = None,
    ) -> None:
        self.format = format_of(path, format)
        self.columns = columns
        if self.format == "csoaa":
            raise ParameterError("A csoaa file tells all costs: use FromCsoaa.")
        bounds = check_loss_range(self, value_range, "value_range")
        self._vw = VWTable(path, self.format, columns, bounds)
        K = self._vw.n_actions
        if n_actions is not None and check_integer(self, "n_actions", n_actions, 1) < K:
            raise ParameterError(f"n_actions={n_actions} is too few: there is an action {K - 1}.")
        super().__init__(
            path,
            context=self._vw.features or None,
            action=ACTION,
            loss=COST,
            propensity=PROBABILITY,
            actions=range(K if n_actions is None else n_actions),
            method=method,
            value_range=value_range,
            baseline=baseline,
            floor=floor,
            scale=scale,
            oracle=oracle,
        )

    def _table_at(self, path: str | PathLike[str]) -> Table:
        return self._vw


class FromCsoaa(Replay):
    """The lines of a csoaa file, which tell the costs of all actions: `FromFile` of it.

    Parameters
    ----------
    path
        A file of text, also .gz.
    columns
        As in `FromVW`.
    value_range
        (low, high) of the costs, mapped to [0, 1]; None leaves them as they are.
    scale, oracle
        As in `FromFile`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "ads.vw"
    >>> _ = file.write_text("1:0 2:4 |user age:31\\n1:2 2:1 |user age:18\\n")
    >>> world = hn.adapters.FromCsoaa(file, value_range=(0, 4))
    >>> world.horizon, world.n_actions
    (2, 2)
    >>> [(r.reveal(0), r.current) for r in world.rounds(2, np.random.default_rng(0))]
    [(array([0., 1.]), None), (array([0.5 , 0.25]), None)]
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        columns: Columns = None,
        value_range: tuple[float, float] | None = None,
        scale: str | None = "running",
        oracle: Oracle | None = None,
    ) -> None:
        self.path = path
        self.columns = columns
        self.value_range = value_range
        self.scale = scale
        self.oracle = oracle
        bounds = None
        if value_range is not None:
            bounds = check_loss_range(self, value_range, "value_range")
        table = VWTable(path, "csoaa", columns, bounds)
        self.context = table.features or None
        self.losses = table.labels
        self.label = self.labels = self.current = None
        self.categorical = ()
        self._replay(table)
        self.actions = list(range(self.n_actions))
