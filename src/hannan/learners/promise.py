"""What theorems promise learners that follow a perturbed leader.

Two kinds of bounds. Some are sums over the rounds of what each may cost, given the past, and
hold at any time a game may stop, chosen by whomever: those of restarted games add up. The worst
case of self-tuning is no such sum, and has a form of its own for restarted games.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hannan.bounds import hinted, predictable, self_tuned, semi_bandit

if TYPE_CHECKING:
    from hannan.learners.context_ftpl import ContextFTPL
    from hannan.learners.context_semi_bandit_ftpl import ContextSemiBanditFTPL
    from hannan.learners.perturbed_leader import PerturbedLeader
    from hannan.learners.speaking_experts import SpeakingExperts


def stands(learner: PerturbedLeader) -> bool:
    """Whether a theorem speaks of this learner at all, whatever the adversary does."""
    covered = learner._covered and not learner._sorted
    return covered and learner.oracle.exact and learner.noise == "fresh"


# Full information ---------------------------------------------------------------------------


def experts(learner: ContextFTPL) -> float | None:
    """A bound on expected regret so far."""
    if not stands(learner) or learner._delayed:
        return None
    if learner._playout is not None:
        # For the whole game, hence for a part of it: all other losses may turn out to be zero.
        return learner._playout_bound()
    if learner.rounds == 0:
        return 0.0
    worst = experts_worst_case(learner, learner.rounds, 0)
    return learner._stability + error(learner) if worst is None else worst


def error(learner: SpeakingExperts) -> float:
    """G/ε of the last round, with three standard errors where G is an estimate."""
    noise = learner._last_scale * learner._estimate().upper if learner._last_scale else 0.0
    return noise + learner._history.preference


def experts_worst_case(learner: ContextFTPL, rounds: int, restarts: int) -> float | None:
    """That of self-tuning, where the range of the losses is known and none is foreseen."""
    known = math.isfinite(learner._width) and learner._forecast is None
    if not (learner._adaptive and known):
        return None
    if learner._sized is None:  # before its first round, it need not know K
        return math.inf
    G = learner._estimate()
    if G.value <= 0.0:
        return 0.0
    eager = learner._eager * G.value
    share = 0.5 * (1.0 + G.upper / eager)  # 1, but for D + G/ε where ε is not G/D exactly
    bound = self_tuned(
        rounds,
        **_sizes(learner),
        loss_range=(0.0, learner._width / learner.oracle.max_chosen),
        nonnegative=learner._nonnegative,
        complexity=eager,
        restarts=restarts,
    )
    return share * bound.value + (restarts + 1) * learner._history.preference


def theorem_5(learner: SpeakingExperts) -> float | None:
    """Theorem 5 as printed, with the errors observed and the best ε for them."""
    if learner._forecast is None or learner._size is None:
        return None
    log_size = learner.oracle.log_size(learner._perturbed)
    if log_size is None or log_size < math.log(2.0):
        return None
    return predictable(
        learner._forecast.squared_error,
        d=len(learner._perturbed),
        n_actions=learner._size,
        log_size=log_size,
        m=learner.oracle.max_chosen,
        setting=learner._setting,
    ).value


# Semi-bandit feedback -----------------------------------------------------------------------


def bandit(learner: ContextSemiBanditFTPL) -> float | None:
    """A bound on pseudo-regret so far."""
    advice = learner._advice
    if not stands(learner) or learner._forgotten or (advice and advice.trust != "strict"):
        return None
    if learner._delayed and not learner._anytime:
        return None
    if learner._playout is not None:
        if not isinstance(learner.epsilon, str):
            return None
        return float(learner._playout_bound(max(learner._log_size(), math.log(2.0))))
    if learner.rounds == 0:
        return 0.0
    if learner._adaptive:
        return bandit_worst_case(learner, learner.rounds, 0)
    if advice is not None:
        return None
    G, scale = learner._estimate(), learner._scale
    if G.value <= 0.0:
        return 0.0
    if learner._anytime:
        return learner._unrest + scale * G.upper + learner._truncation
    terms = semi_bandit(
        learner.rounds,
        **_sizes(learner),
        loss_bound=learner._range[1],
        second_moment=learner._moment,
        complexity=G,
        epsilon=1.0 / scale,
        form="sharp",
    ).terms
    return terms["stability"] + terms["error"] + learner._truncation


def bandit_worst_case(learner: ContextSemiBanditFTPL, rounds: int, restarts: int) -> float | None:
    """That of self-tuning, with hints or without."""
    if not learner._adaptive:
        return None
    G, B = learner._estimate(), learner._range[1]
    if G.value <= 0.0:
        return 0.0
    eager = learner._eager * G.value
    share = 0.5 * (1.0 + G.upper / eager)
    grows = learner.max_resamples is None and learner.horizon is None
    limit = None if grows else learner._limit(rounds)
    sizes = _sizes(learner)
    if learner._advice is None:
        terms = self_tuned(
            rounds,
            **sizes,
            loss_bound=B,
            feedback="semi-bandit",
            second_moment=learner._moment,
            max_resamples=limit,
            complexity=eager,
            restarts=restarts,
        ).terms
        return share * terms["instability"] + terms["truncation"]
    del sizes["m"], sizes["antichain"]
    options: dict[str, Any] = {**sizes, "loss_bound": B, "restarts": restarts}
    budget = hinted(rounds, **options, start=learner._start, complexity=G.value).terms
    unrest = hinted(rounds, **options, complexity=eager).terms["instability"]
    hints, truncation = budget["hints"], budget["truncation"]
    if limit is not None:  # what one hint may cost goes with L
        hints += 2.0 * B * (restarts + 1) * limit
        truncation = B * learner._K * rounds / (math.e * limit)
    most = max(1.0, 2.0 * share - 1.0)
    return max(1.0, share) * hints + share * unrest + most * budget["start"] + truncation


def _sizes(learner: PerturbedLeader) -> dict[str, Any]:
    sized = learner._sized
    assert sized is not None
    assert sized.n_actions is not None
    return {
        "d": len(learner._perturbed),
        "n_actions": max(sized.n_actions, sized.max_chosen),
        "m": sized.max_chosen,
        "setting": learner._setting,
        "antichain": sized.antichain,
    }
