"""Checks of oracles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.checks._require import require
from hannan.checks.parameters import PARAMETER_CHECKS
from hannan.core import WITHOUT_NOISE, Draw, Menu, Noise, Objective, Oracle, Policy, StorageError
from hannan.core.arrays import Contexts
from hannan.core.oracle import foresee
from hannan.core.policy import loss_of, same_action
from hannan.core.storage import reread, storable
from hannan.core.validation import FloatArray
from hannan.perturbation import seed_key

Rounds = list[tuple[Any, FloatArray]]
_DRAWS = 6
_SCALE = 2.5
_ROUNDING = 1e-4  # projected noise is stored in float32


@dataclass(frozen=True)
class Case:
    """An oracle, contexts, and rounds with small integer losses, so that sums are exact."""

    oracle: Oracle
    contexts: list[Any]
    policies: Sequence[Policy]
    seed: int = 0

    def rounds(self, count: int = 12, salt: int = 0) -> Rounds:
        """Return random rounds."""
        rng = np.random.default_rng([self.seed, salt])
        most = max(map(self.size, self.contexts))
        losses = rng.integers(-2, 3, size=(count, most)).astype(np.float64)
        which = rng.integers(len(self.contexts), size=count)
        found = [(self.contexts[i], row) for i, row in zip(which, losses, strict=True)]
        return [(context, row[: self.size(context)]) for context, row in found]

    def size(self, context: Any) -> int:
        """Return K; with items, the number of items in the context, or 2 without a menu."""
        if not self.oracle.takes_items:
            assert self.oracle.n_actions is not None
            return self.oracle.n_actions
        return len(context) if isinstance(context, Menu) else 2

    def fakes(self, draw: Draw) -> Rounds:
        """Return the fake rounds of a draw."""
        noise, number, scale = draw
        assert noise is not None
        rows = zip(noise.contexts, scale * noise.unit(number), strict=True)
        return [(context, row[: self.size(context)]) for context, row in rows]

    def total(self, rounds: Rounds) -> Objective:
        """Return the objective after these rounds."""
        objective = self.oracle.objective()
        for context, losses in rounds:
            objective.add(context, losses)
        return objective

    def noise(self, memory: int = 2**22) -> Noise:
        """Return fake outcomes on the contexts."""
        own = self.oracle.contexts if self.oracle.stand_ins else None
        return self.oracle.noise(own or self.contexts, seed_key(self.seed), 0, memory)

    def plays(self, policy: Policy) -> list[Any]:
        """Return the actions of a policy on all contexts."""
        return [policy(context) for context in self.contexts]

    @cached_property
    def members(self) -> list[Policy]:
        """Policies of the class: those given, and the leaders of random losses."""
        found, noise = list(self.policies), self.noise()
        for draw in range(100, 120):
            found.append(self.total(self.fakes(Draw(noise, draw, 1.0))).leader())
        found += [self.total(self.rounds(salt=salt)).leader() for salt in range(10, 14)]
        return found

    def __str__(self) -> str:
        return repr(self.oracle)


OracleCheck = Callable[[Case], None]


def check_oracle(
    oracle: Oracle, contexts: Contexts | None = None, policies: Sequence[Policy] = (), seed: int = 0
) -> None:
    """Run all checks of an oracle.

    Parameters
    ----------
    oracle
        Oracle to check. It must know `n_actions`.
    contexts
        Contexts to check it on. Default: all contexts of the oracle.
    policies
        Some policies of the class, if you can list them. The checks compare leaders with these
        policies, and always with each other. Default: none.
    seed
        Seed of the random losses. Default 0.

    Examples
    --------
    >>> import hannan as hn
    >>> def solve(contexts, losses):
    ...     totals = losses.sum(axis=0)
    ...     return lambda x: int(totals.argmin())
    >>> constant = hn.oracles.FunctionOracle(solve, n_actions=3)
    >>> hn.checks.check_oracle(constant, contexts=["rain", "sun"])
    """
    for check_parameters in PARAMETER_CHECKS:
        check_parameters(oracle)
    case = make_case(oracle, contexts, policies, seed)
    for check in ORACLE_CHECKS:
        check(case)


def make_case(
    oracle: Oracle, contexts: Contexts | None = None, policies: Sequence[Policy] = (), seed: int = 0
) -> Case:
    """Return the case that single checks take."""
    given = oracle.contexts if contexts is None else contexts
    known = oracle.n_actions or oracle.takes_items
    require(known, f"{oracle!r} must know n_actions to be checked.")
    require(given is not None, f"{oracle!r} lists no contexts: pass contexts= for the checks.")
    return Case(oracle, oracle.check_contexts(given), policies, seed)


def check_contexts_are_stable(case: Case) -> None:
    """Check that a checked context passes the check again, unchanged."""
    for context in case.contexts:
        again = case.oracle.check_context(context)
        same = case.oracle.key(context) == case.oracle.key(again)
        require(same, f"{case} turns context {context!r} to {again!r}.")


def check_leaders_are_feasible(case: Case) -> None:
    """Check that leaders, also before any loss, choose at most m of the K elements, sorted."""
    m = case.oracle.max_chosen
    for objective in (case.oracle.objective(), case.total(case.rounds())):
        noisy = objective.leaders(Draw(case.noise(), 0, _SCALE), _DRAWS)
        for policy in (objective.leader(), *noisy):
            for context in case.contexts:
                require_feasible(case, policy(context), case.size(context), m, context)


def check_leader_is_optimal(case: Case) -> None:
    """Check that no listed policy does better than the leader on signed losses."""
    if not case.oracle.exact:
        return
    for salt in range(4):
        rounds = case.rounds(salt=salt)
        _require_best(case, case.total(rounds).leader(), rounds, 1e-9)


def check_noisy_leaders_are_optimal(case: Case) -> None:
    """Check that no listed policy does better under a draw than the leader under that draw."""
    if not case.oracle.exact:
        return
    rounds, noise = case.rounds(), case.noise()
    leaders = case.total(rounds).leaders(Draw(noise, 0, _SCALE), _DRAWS)
    for draw, leader in enumerate(leaders):
        rounds_and_fakes = rounds + case.fakes(Draw(noise, draw, _SCALE))
        _require_best(case, leader, rounds_and_fakes, _ROUNDING, f" under draw {draw}")


def check_minima_are_the_leaders_values(case: Case) -> None:
    """Check that minimal values of an exact oracle are its leaders' values, noisy or not."""
    if not case.oracle.exact:
        return
    rounds, noise = case.rounds(), case.noise()
    total = case.total(rounds)
    plain = float(total.minima()[0])
    _require_close(case, plain, _value(total.leader(), rounds))
    values = total.minima(Draw(noise, 0, _SCALE), _DRAWS)
    for draw, leader in enumerate(total.leaders(Draw(noise, 0, _SCALE), _DRAWS)):
        fakes = case.fakes(Draw(noise, draw, _SCALE))
        _require_close(case, float(values[draw]), _value(leader, rounds + fakes))


def check_fast_paths_agree(case: Case) -> None:
    """Check that `action`, `chosen` and `settle` agree with `leaders`, `copy` and `add`."""
    rounds, noise = case.rounds(), case.noise()
    total = case.total(rounds)
    leaders = total.leaders(Draw(noise, 0, _SCALE), _DRAWS)
    for context, losses in case.rounds(salt=1):
        chosen = total.chosen(context, Draw(noise, 0, _SCALE), _DRAWS)
        more = total.chosen(context, Draw(noise, 0, _SCALE), _DRAWS, losses)
        for number in range(_DRAWS):
            draw, expected = Draw(noise, number, _SCALE), leaders[number](context)
            _require_same(case, total.action(context, draw), expected)
            _require_chosen(case, chosen[number], expected)
            after = total.copy()
            settled = after.settle(context, losses, draw)
            if not case.oracle.counts_rounds:  # otherwise the round itself counts, too
                _require_chosen(case, more[number], settled)
            _require_same(case, settled, after.action(context, draw))


def _require_chosen(case: Case, row: NDArray[np.bool_], expected: Any) -> None:
    said = np.flatnonzero(row)
    if not same_action(said, np.atleast_1d(expected)):
        raise AssertionError(f"{case}: chosen() returns {said}, but leaders() give {expected}.")


def check_one_more_round_is_for_the_question(case: Case) -> None:
    """Check that `plus` has the effect of `settle` on a copy, and leaves the total unchanged."""
    noise, total = case.noise(), case.total(case.rounds())
    before = total.copy()
    for number, (context, losses) in enumerate(case.rounds(salt=2)):
        for scale in (0.0, _SCALE):
            draw = Draw(noise if scale else None, number, scale)
            action = foresee(total, context, losses, draw)
            _require_same(case, action, total.copy().settle(context, losses, draw))
            total.action(context, draw, losses)
    _require_equal_totals(case, total, before, noise, "a call with plus= changes the total.")


def check_settling_among_some_adds_the_round(case: Case) -> None:
    """Check that `settle` with restricted actions equals `action` with one more round."""
    noise, total = case.noise(), case.total(case.rounds())
    if not total.scored:
        return
    other = total.copy()
    for number, (context, losses) in enumerate(case.rounds(salt=4)):
        K, draw = case.size(context), Draw(noise, number, _SCALE)
        free = foresee(total, context, losses, draw)
        closed = np.setdiff1d(np.arange(K), free)[:1]  # so that some action stays available
        available = np.arange(K)
        available[closed] = -1
        found = other.action(context, draw, losses, available)
        other.add(context, losses)
        _require_same(case, total.settle(context, losses, draw, available), found)
        said = "settle() with restricted actions does not add the round as add() does."
        _require_equal_totals(case, total, other, noise, said)


def _require_equal_totals(
    case: Case, total: Objective, other: Objective, noise: Noise, otherwise: str
) -> None:
    for several in ((WITHOUT_NOISE, 1), (Draw(noise, 0, _SCALE), _DRAWS)):
        same = np.array_equal(total.minima(*several), other.minima(*several), equal_nan=True)
        for ours, theirs in zip(total.leaders(*several), other.leaders(*several), strict=True):
            same = same and _all_same(case.plays(ours), case.plays(theirs))
        require(same, f"{case}: {otherwise}")


def check_zero_losses_change_nothing(case: Case) -> None:
    """Check that a round without loss does not change the leader of an exact oracle."""
    if not case.oracle.exact:
        return
    total = case.total(case.rounds())
    before = case.plays(total.leader())
    for context in case.contexts:
        total.add(context, np.zeros(case.size(context)))
    _require_same_plays(case, before, total, "rounds of zero loss change the leader")


def check_rescaling_keeps_the_leader(case: Case) -> None:
    """Check that the leader is the same if all losses are multiplied by a positive number."""
    rounds = case.rounds()
    before = case.plays(case.total(rounds).leader())
    for factor in (0.25, 8.0):
        scaled = case.total([(context, factor * losses) for context, losses in rounds])
        _require_same_plays(case, before, scaled, f"losses times {factor} change the leader")


def check_ties_break_the_same_way(case: Case) -> None:
    """Check that the leader is a function of the total alone, for repeated calls and any order."""
    for rounds in ([], case.rounds()):
        total = case.total(rounds)
        before = case.plays(total.leader())
        _require_same_plays(case, before, total, "two calls return two leaders")
        order = np.random.default_rng(case.seed).permutation(len(rounds))
        shuffled = case.total([rounds[i] for i in order])
        _require_same_plays(case, before, shuffled, "the order of the rounds changes the leader")


def check_duplicating_is_doubling(case: Case) -> None:
    """Check that a round played twice counts as doubled losses, if the oracle is exact."""
    if not case.oracle.exact:
        return
    rounds = case.rounds()
    twice = case.total(rounds + rounds)
    doubled = case.total([(context, 2.0 * losses) for context, losses in rounds])
    before = case.plays(twice.leader())
    _require_same_plays(case, before, doubled, "doubled losses and doubled rounds differ")


def check_copies_are_independent(case: Case) -> None:
    """Check that a copy and its original do not share their totals."""
    rounds = case.rounds()
    total = case.total(rounds)
    before = case.plays(total.leader())
    twin = total.copy()
    for context, action in zip(case.contexts, before, strict=True):
        losses = np.zeros(case.size(context))
        losses[action] = 1000.0
        twin.add(context, losses)
    _require_same_plays(case, before, total, "adding to a copy changes the original")
    later = case.plays(twin.leader())
    for context, losses in rounds:
        total.add(context, -3.0 * losses)
    _require_same_plays(case, later, twin, "adding to the original changes its copy")


def check_totals_survive_a_file(case: Case) -> None:
    """Check that a total saved and loaded in the middle of a run continues identically.

    Oracles that no file can hold are skipped.
    """
    if not storable(case.oracle):
        return
    total, noise = case.oracle.objective(), case.noise()
    total.prepare(case.contexts)
    rounds = [(x, 0.1 * losses) for x, losses in case.rounds(16)]
    for t, (context, losses) in enumerate(rounds[:8]):
        total.settle(context, losses, Draw(noise, t, _SCALE))
    try:
        twin, noise_again = reread(total), case.noise(2**10)
    except StorageError as error:
        raise AssertionError(f"{case}: {error}") from error
    for t, (context, losses) in enumerate(rounds[8:], start=8):
        draw, again = Draw(noise, t, _SCALE), Draw(noise_again, t, _SCALE)
        actions = total.settle(context, losses, draw), twin.settle(context, losses, again)
        values = total.minima(draw, 1), twin.minima(again, 1)
        require(
            same_action(*actions) and np.array_equal(*values, equal_nan=True),
            f"{case}: a saved and loaded total continues differently. List the complete state of "
            "its class in `stored`; see docs/reference/saved-files.md.",
        )


def check_draws_are_functions_of_their_number(case: Case) -> None:
    """Check that a draw is the same in any order, for any memory budget of the noise."""
    total = case.total(case.rounds())
    expected = [case.plays(p) for p in total.leaders(Draw(case.noise(), 0, _SCALE), 40)]
    units = [case.noise().unit(draw) for draw in range(40)]
    for memory in (1, 2**12):
        noise = case.noise(memory)
        for draw in (39, 0, 17, 18, 16, 3):
            found = case.plays(total.leaders(Draw(noise, draw, _SCALE), 1)[0])
            require(
                _all_same(found, expected[draw]) and (noise.unit(draw) == units[draw]).all(),
                f"Draw {draw} of {case} depends on memory={memory} or on earlier draws.",
            )


def check_noise_is_fresh(case: Case) -> None:
    """Check that different draws hold different noise."""
    noise = case.noise()
    one, other = noise.unit(0), noise.unit(1)
    if case.oracle.stand_ins:  # the second column, for all other rules, has no noise
        one, other = one[:, :1], other[:, :1]
    most = max(map(case.size, noise.contexts)) if not case.oracle.stand_ins else 1
    require(
        one.shape == (len(noise.contexts), most) and not (one == other).any(),
        f"Two draws of the noise of {case} share a value, or have the wrong shape.",
    )


def check_losses_are_not_changed(case: Case) -> None:
    """Check that an oracle does not modify the loss vectors it receives."""
    context, losses = case.rounds()[0]
    kept = losses.copy()
    total = case.total([(context, losses)])
    total.settle(context, losses, Draw(case.noise(), 0, _SCALE))
    total.action(context, WITHOUT_NOISE, losses)
    total.leader()
    require((kept == losses).all(), f"{case} modified a loss vector from {kept} to {losses}.")


def check_size_is_an_upper_bound(case: Case) -> None:
    """Check that log N is not below the policies seen, and that all contexts separate."""
    seen = {str(case.plays(policy)) for policy in case.members}
    size = case.oracle.log_size(case.contexts)
    require(
        size is None or np.log(len(seen)) <= size + 1e-9,
        f"{case} declares log N = {size}, but {len(seen)} policies differ on the contexts.",
    )
    if case.oracle.contexts is not None:
        require(
            case.oracle.separates(case.oracle.contexts) is not False,
            f"{case} reports that its own contexts do not separate its policies.",
        )


ORACLE_CHECKS: tuple[OracleCheck, ...] = (
    check_contexts_are_stable,
    check_leaders_are_feasible,
    check_leader_is_optimal,
    check_noisy_leaders_are_optimal,
    check_minima_are_the_leaders_values,
    check_fast_paths_agree,
    check_one_more_round_is_for_the_question,
    check_settling_among_some_adds_the_round,
    check_zero_losses_change_nothing,
    check_rescaling_keeps_the_leader,
    check_ties_break_the_same_way,
    check_duplicating_is_doubling,
    check_copies_are_independent,
    check_totals_survive_a_file,
    check_draws_are_functions_of_their_number,
    check_noise_is_fresh,
    check_losses_are_not_changed,
    check_size_is_an_upper_bound,
)


def require_feasible(
    player: object, action: Any, n_actions: int, max_chosen: int, context: Any
) -> None:
    """Require the standard form of an action: an int, or sorted distinct indices."""
    if max_chosen == 1:
        feasible, form = type(action) is int and 0 <= action < n_actions, "an int"
    else:
        chosen, form = np.asarray(action), f"up to {max_chosen} ints, sorted, all"
        feasible = chosen.ndim == 1 and np.issubdtype(chosen.dtype, np.integer)
        feasible = feasible and chosen.size <= max_chosen and bool((np.diff(chosen) > 0).all())
        feasible = feasible and bool(((chosen >= 0) & (chosen < n_actions)).all())
    if not feasible:
        raise AssertionError(
            f"{player} plays {action!r} on {context!r}; an action is {form} below {n_actions}."
        )


def _value(policy: Policy, rounds: Rounds) -> float:
    return float(sum(loss_of(losses, policy(context)) for context, losses in rounds))


def _require_best(case: Case, leader: Policy, rounds: Rounds, slack: float, when: str = "") -> None:
    best = _value(leader, rounds)
    for policy in case.members:
        other = _value(policy, rounds)
        if not best <= other + slack:
            raise AssertionError(
                f"{case} found a leader of value {best:g}{when}, but {policy!r} has {other:g}."
            )


def _require_close(case: Case, found: float, expected: float) -> None:
    if not abs(found - expected) <= _ROUNDING * (1.0 + abs(expected)):
        raise AssertionError(
            f"{case}: minima() returns {found!r}, but the leader has value {expected!r}."
        )


def _require_same(case: Case, found: Any, expected: Any) -> None:
    if not same_action(found, expected):
        raise AssertionError(
            f"{case}: a fast path plays {found!r} where the leader plays {expected!r}."
        )


def _require_same_plays(case: Case, plays: list[Any], total: Objective, message: str) -> None:
    found = case.plays(total.leader())
    if not _all_same(plays, found):
        raise AssertionError(f"{case}: {message}, from {plays} to {found}.")


def _all_same(a: list[Any], b: list[Any]) -> bool:
    return all(same_action(x, y) for x, y in zip(a, b, strict=True))
