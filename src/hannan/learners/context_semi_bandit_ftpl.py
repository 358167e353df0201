"""Algorithm 3: contextual follow the perturbed leader with semi-bandit feedback."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar, Self

import numpy as np

from hannan.bounds import Bound, Complexity, semi_bandit
from hannan.core import (
    Action,
    Feedback,
    Learner,
    Objective,
    Oracle,
    ParameterError,
    Policy,
    Predictor,
)
from hannan.core.arrays import Contexts
from hannan.core.oracle import Draw, as_policies, losses_alone
from hannan.core.rounds import PropensityRecord, chooses_sets
from hannan.core.state import Array, Count, Number, Part, State, require
from hannan.core.validation import FloatArray, check_integer, check_seed, refuse
from hannan.learners import certificates
from hannan.learners.certificates import Account, Evidence, SemiBanditPlan
from hannan.learners.context_set import ContextSet, Pool
from hannan.learners.floor import Floor
from hannan.learners.hint import Hint, Trust, check_suits, check_trust
from hannan.learners.importance_weights import (
    NOTHING,
    Measured,
    Resampling,
    check_resampling,
    mean_weight,
    measure,
    measure_late,
    no_distribution,
    out_of_order,
    past_of,
    propensity_record_of,
    weigh,
    weigh_and_measure,
)
from hannan.learners.offset import Offset
from hannan.learners.perturbed_leader import (
    NoisyRound,
    Outlook,
    PerturbedLeader,
    distribution_of,
    replay,
    shares,
    starting_total,
)
from hannan.learners.set_hint import SetHint
from hannan.learners.shown_losses import (
    Readings,
    check_known_range,
    check_seen,
    read_losses,
    warn_of_empty_set,
)
from hannan.learners.statements import SemiBanditCertificate
from hannan.learners.step_size import StepSize, step_size
from hannan.perturbation import seed_key

# One weight for each chosen element; a number for a single action.
_WEIGHTS = Number(low=0.0).where(lambda self, _: not chooses_sets(self)) | Array(
    lambda self: np.size(self.action), low=0.0
).where(lambda self, _: chooses_sets(self))


class ContextSemiBanditFTPL(Learner):
    r"""Contextual follow the perturbed leader, semi-bandit feedback (Algorithm 3).

    The learner plays :math:`a_t = \pi_t(x_t)` as `ContextFTPL` does, but observes only the losses
    of the chosen elements; with single actions this is bandit feedback. Geometric resampling
    estimates the importance weights: for a chosen element j, the learner draws fresh noise until
    the perturbed leader chooses j again on :math:`x_t`, at most L times. The number of draws J is
    nearly unbiased for 1/q, where q is the probability of choosing j. The totals add

    .. math:: \hat\ell_t(j) = J_t(j)\, \ell_t(j) \text{ for } j \in a_t, \quad 0 \text{ otherwise.}

    One stream of draws serves all chosen elements. An element with loss zero needs no draws, and
    L - 1 draws are enough. In twenty lines: `hannan.paper.context_semi_bandit_ftpl`.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts, separator
        The perturbed contexts X, as in `ContextFTPL`.
    epsilon
        Rule for ε. "adaptive" (default): self-tuned from the instability cost, measured with an
        independent extra draw. "anytime": the schedule :math:`\epsilon_t \propto 1/\sqrt t`, which
        also takes delayed feedback into account. "theorem": the paper's tuning, needs `horizon`.
        Or a positive number, or a rule such as `SelfTuned(eagerness=4)`. The default eagerness is
        2 without a predictor or for sets with hints, else 1.
    horizon
        Number of rounds T, for epsilon="theorem" and for the cap L. Default: None.
    max_resamples
        Maximum number of draws L. Default: :math:`\lceil\sqrt{KT}\rceil`; without a horizon, the
        number of the round replaces T.
    resampling
        How to compute importance weights. "auto" (default): their mean if the oracle can compute
        q, else draws until two successes, in pairs if the class makes pairs cheap. "exact": the
        mean, or an error. "conditional": draws in pairs. A number r, or `Resampling(r)`: draws
        until r successes. "shared" is r = 1, as in the paper but with one stream for all elements.
        "rao-blackwell" is r = 2, with the same mean and less variance.
    predictor
        Model that predicts the losses before each decision: `predict(context)` returns K numbers,
        and `learn(context, action, loss)` receives the observed losses. Default: None.
    trust
        How far to follow the predictor. "earned" (default): play its recommendation in a share of
        the rounds that grows with the measured savings, within a regret budget. Its estimates are
        subtracted from the losses where the loss estimates stay stable. Guarantee and certificate
        stay valid for any predictor. "baseline": play no recommendation, and subtract the
        prediction everywhere; there is no guarantee. Or a `Trust` with other constants.
    exploration
        Minimum probability of each available action, so that logs support off-policy evaluation.
        Default 0. It costs at most K times this number per round, in units of the largest loss;
        bounds and certificate include this cost. For sets: the probability of playing the set of
        your current rule, which costs at most m times this number per round.
    current_rule
        For sets with exploration: your current rule, a set of elements or a function of the context
        that returns one. Default: None.
    seed
        As in `ContextFTPL`.
    loss_range
        Range (low, high) of each element's loss. Default (0, 1). For rewards in [0, R], pass
        -reward with (-R, 0): the learner then expects the reward R from each element until it has
        tried the element, so it can learn sets of any size. With nonnegative losses the empty set
        is the best action, if it is allowed.
    clip
        Whether to move losses outside of `loss_range` into it. Default False: raise `LossError`.
        The certificate counts clipped losses.

    Guarantee
    ---------
    With an exact oracle, losses in [0, 1] or in [-1, 0] and immediate feedback, against adaptive
    adversaries, pseudo-regret is at most :math:`2 E[D_T] + \sum_t K/(eL_t)` when self-tuned, and
    `bounds.semi_bandit` with epsilon="theorem". If some actions are unavailable, the conditions of
    `ContextFTPL` apply. [syrgkanis2016, Theorem 3]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> for t in range(200):
    ...     action = learner.act(t % 2)
    ...     learner.update(0.1 if action == 2 else 0.9)
    >>> learner.best_policy()(0)
    2

    Rewards up to 2, for any two items at most:

    >>> shop = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.Subsets(4, 2, exactly=False), loss_range=(-2, 0), seed=0
    ... )
    >>> for t in range(300):
    ...     shown = shop.act()
    ...     shop.update(-np.array([0.1, 1.5, 0.2, 1.0])[shown])
    >>> shop.best_policy()()
    array([1, 3])

    Feedback may arrive later, out of order or never:

    >>> first, second = learner.decide_many([0, 1])
    >>> learner.update(0.9, decision=second)
    >>> learner.forget(first)

    References
    ----------
    [syrgkanis2016], [neu2016]
    """

    feedback = Feedback.BANDIT
    restricts_sets = True
    oracle: Oracle
    noise_memory: ClassVar[int] = 2**27
    """Bytes of noise generated in advance; the actions do not depend on this number."""

    stored = State(
        _floor=Part(),
        _resampling=Part(),
        _step=Part(),
        _leader=Part(),
        _account=Part(),
        _decided=Count(),
        _hint=Part(),
        _start=Number(),
    )

    class Round(NoisyRound):
        """A round of Algorithm 3."""

        limit: int = 0  # L
        weights: Any = None  # J, one for each chosen element; a number for a single action
        variance: float = 0.0  # variance of the round in the anytime schedule
        allowance: float = 0.0  # instability cost that this schedule allows in the round
        moment: float = 0.0  # bound on q E[W²]/E[W] of its weights in this schedule

        stored = State(
            limit=Count(low=1),
            weights=_WEIGHTS | None,
            variance=Number(low=0.0),
            allowance=Number(),
            moment=Number(low=0.0),
        )

        @property
        def inverse(self) -> FloatArray:
            """The weights."""
            return np.array(self.weights, dtype=np.float64, ndmin=1)

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | Pool | None = None,
        separator: Contexts | None = None,
        *,
        epsilon: float | str | StepSize = "adaptive",
        horizon: int | None = None,
        max_resamples: int | None = None,
        resampling: str | int | Resampling = "auto",
        predictor: Predictor | None = None,
        trust: str | Trust = "earned",
        exploration: float = 0.0,
        current_rule: Any = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        clip: bool = False,
    ) -> None:
        super().__init__()
        self.oracle = as_policies(self, oracle)
        self.contexts = contexts
        self.separator = separator
        self.epsilon = epsilon
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.max_resamples = (
            None
            if max_resamples is None
            else check_integer(self, "max_resamples", max_resamples, 1)
        )
        self.resampling = resampling
        self.predictor = predictor
        self.trust = trust
        self.exploration = exploration
        self.current_rule = current_rule
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self.clip = clip

        self._range = check_known_range(self, loss_range)
        warn_of_empty_set(self, oracle, self._range)
        if oracle.n_actions is None and not oracle.takes_items:
            raise ParameterError(
                "ContextSemiBanditFTPL needs the number of actions: pass n_actions= to "
                f"{type(oracle).__name__}."
            )
        self._K = 0 if oracle.takes_items else oracle.n_actions or 0  # 0: each round has its own
        self._offset = Offset(self._range, oracle)
        believed = check_trust(self, trust, predictor, oracle)
        self._floor = Floor(self, exploration, self._K, oracle, current_rule)
        self._resampling = check_resampling(self, resampling)
        key = seed_key(seed)
        X = ContextSet(self, oracle, contexts, separator, key)
        self._theorem: Bound | None = None
        hints_for_sets = oracle.chooses_sets and believed.budget is not None
        eagerness = 2.0 if predictor is None or hints_for_sets else 1.0
        self._step = step_size(
            self, epsilon, self.horizon, lambda: self._theorem_epsilon(X), eagerness
        )
        total = starting_total(oracle, X)
        self._leader = PerturbedLeader(
            oracle, X, total, key, seed, self.noise_memory, nonnegative=True
        )
        self._step.start(self._leader)
        if self._resampling.exact and X.points and self._leader.put_noise():
            distribution = total.distribution(X.points[0], Draw(self._leader.noise, 0, 1.0))
            if distribution is None:  # raise before the first round if possible
                raise no_distribution(oracle)
        self._account = Account()
        self._decided = 0
        check_suits(predictor, oracle)
        settings = predictor, believed, self._K, self._range, self._floor.kept
        if not isinstance(clip, bool):
            raise refuse(self, "clip", "True or False", clip)
        self._hint = SetHint(*settings, oracle) if oracle.chooses_sets else Hint(*settings)
        self._start = 0.0  # initial value of D, so that there is noise when hints begin
        if self._hint.mixes and self._step.measures:
            self._start = self._offset.top
            self._step.after(self._leader, self._start)
            self.oracle_calls += self._leader.collect()

    # Algorithm 3 ----------------------------------------------------------------------------

    def _prepare(self, opened: Round) -> None:
        """Set ε_t, L_t, {z}, hint, its share and baseline: functions of x_t and the past."""
        n, leader, step, hint = self._decided + 1, self._leader, self._step, self._hint
        scale = step.scale
        if step.schedules:
            if not self._ledger.supersedes_open_round(opened):
                self._schedule(opened)
            scale = step.before(leader, opened.variance)
        K = self._K or len(opened.context)
        opened.draw, opened.limit = leader.draw(scale), self._limit(n, K)
        # No context with noise is known so far. For sets the budget then excludes a hint.
        untried = hint.mixes and leader.noise is None and not self.oracle.chooses_sets
        if self.exploration or untried:
            self._floor.raise_to(opened, untried)
        if self._offset.low < 0.0:
            opened.baseline = self._offset.guess(K)
        if hint.predictor is None:
            return
        # With `act` the weights, and the distribution with them, are only computed by `update`.
        known = self._resampling.known is True and opened.number is not None
        hint.advise(opened, leader.G, n, known)
        # With delay, missing feedback may depend on the action. Then a baseline would bias the
        # estimates of other actions, so it is only for classes without a theorem.
        covers = not (opened.late and self.oracle.exact)
        if covers and hint.may_cover(scale, leader.kappa):
            assert opened.values is not None
            # The distribution as if all estimates were baselines; if it is unknown, none is.
            given = opened.context, opened.draw, opened.values, opened.plays
            distribution = (
                None if self._resampling.exact is False else leader.total.distribution(*given)
            )
            if distribution is not None:
                hint.cover(opened, distribution, scale, leader.kappa, n)

    def _act(self, opened: Round) -> None:
        """Draw {z}; play the action of the leader of {z} and the estimates ℓ̂_1..t-1 on x_t."""
        opened.draws = 1
        chosen: Action | None = None
        if opened.share or opened.explores:
            K = self._K or len(opened.context)
            chosen = opened.without_base(self._leader.uniform(opened.draw.number), K)
        if chosen is None:
            past, x, draw = self._leader.total, opened.context, opened.draw
            chosen = past.action(x, draw, opened.baseline, opened.plays)
            opened.calls += 1
        opened.action = chosen
        if opened.number is not None:
            # The weights belong to this state, even if the feedback arrives much later.
            opened.weights = weigh(self._leader, self._resampling, opened)

    def _played(self, opened: Round) -> None:
        """Advance to fresh noise: every opened round uses its own draws, even without feedback."""
        leader, account = self._leader, self._account
        leader.number += opened.draws
        if self._hint.mixes:
            self._hint.played(opened)
        if self._step.schedules:
            scale = opened.draw.scale
            self._step.played(leader, scale, opened.variance)
            account.scheduled += opened.allowance / scale if scale else 0.0
        if opened.weights is not None and opened.exact is not self._resampling.known:
            self._resampling.note(opened.exact)
        K = self._K or self._offered(opened)
        account.truncation += self._hint.truncation(opened, K)
        self._decided += 1
        if leader.owed:
            opened.calls += leader.collect()

    def _abandoned(self, opened: Round) -> None:
        self._hint.release(opened)

    def _update(self, opened: Round, loss: Any) -> None:
        """Add ℓ̂_t, which is J_t ℓ_t on a_t and 0 on all others; then set ε_{t+1}."""
        leader, hint, step = self._leader, self._hint, self._step
        readings = read_losses(opened.action, loss, self._range, self.clip)
        losses, opened.draws = readings.losses, 0
        if opened.weights is None:
            opened.exact = None  # an earlier call may have failed after setting this
        others = self._decided_since(opened) if opened.late else []
        surprise, baseline, alike = losses, opened.baseline, opened.action
        if baseline is not None or opened.plays is not None:  # ℓ_t - Q_t, Q_t
            surprise, baseline, alike = self._beyond_the_baseline(opened, losses)
        seen = leader.X.seen  # sample of the contexts so far, if contexts are not declared
        later = leader.seeing(opened.context) if seen is not None and seen.left == 1 else None
        estimate, measured, weights = baseline, NOTHING, opened.weights
        surprised = surprise != 0.0 if type(surprise) is float else bool(np.count_nonzero(surprise))
        # Hints need weights in every round, and a baseline may have moved the leader.
        if surprised or hint.mixes or (opened.late and self._offset.varies):
            added = later is None and hint.predictor is None, surprised
            weights, estimate, measured = self._estimate(opened, surprise, baseline, alike, *added)
        if later is not None:
            step.prepare(later, measured.instability)
        if hint.predictor is not None:
            hint.predictor.learn(opened.context, readings.observed, readings.observations)
        if estimate is None and self.oracle.counts_rounds:
            estimate = np.zeros(self._K or len(opened.context))
        if estimate is not None and not measured.added:
            leader.total.add(opened.context, estimate)
        # From here on nothing can fail.
        for other, seen_before in others:
            vars(other).update(vars(seen_before))
            leader.hidden_draws += 1
        if hint.mixes:
            hint.charge(opened, losses, weights, readings.missing)
        (later or leader).number += opened.draws + measured.draws
        if measured is not NOTHING:  # D_t, ε_{t+1} = G / D_t
            opened.calls += measured.calls
            step.after(leader, measured.instability, opened.late)
        self._note(opened, readings, surprise if surprised else None, weights)
        if later is not None:
            self._renew(later)
        elif seen is not None:
            seen.offer(opened.context)
        if leader.owed:
            opened.calls += leader.collect()

    def _estimate(
        self,
        opened: Round,
        surprise: Any,
        baseline: FloatArray | None,
        alike: Any,
        add: bool,
        surprised: bool,
    ) -> tuple[Any, FloatArray | None, Measured]:
        """Return weights J_t, estimate ℓ̂_t = Q_t + J_t (ℓ_t - Q_t), and instability cost.

        The estimate is None if it is zero. With `add`, nothing can fail after this call, and the
        call may add ℓ̂_t to the totals.
        """
        leader, J, varies = self._leader, self._resampling, self._offset.varies
        weights, found = opened.weights, None
        if weights is None and surprised and baseline is None and opened.plays is None:
            found = weigh_and_measure(leader, J, self._step, opened, surprise)
        if found is not None:
            weights = found[0]
        elif weights is None and (surprised or self._hint.mixes):
            weights = weigh(leader, J, opened, surprise)
        if not (surprised or (opened.late and varies)):
            return weights, baseline, NOTHING
        residual = np.zeros(self._K or len(opened.context))
        if surprised:
            residual[alike] = weights * surprise
        estimate = residual if baseline is None else baseline + residual
        if found is not None:
            return weights, estimate, Measured(found[1])
        if not self._step.measures:
            return weights, estimate, NOTHING
        if opened.late and opened.arrived_before < self._ledger.closed:
            top = max(self._account.top, opened.draw.scale)
            measured = measure_late(leader, opened, top, baseline, residual, varies)
        else:
            draw = leader.draw(self._step.scale, opened.draws)
            changes, signed = (baseline, residual, estimate), self._hint.signed
            measured = measure(leader, J, opened, draw, changes, signed=signed, add=add)
        return weights, estimate, measured

    def _beyond_the_baseline(self, opened: Round, losses: Any) -> tuple[Any, Any, Any]:
        """Return losses minus baseline, the baseline, and all actions with this substitute."""
        surprise, baseline, alike = losses, opened.baseline, opened.action
        if baseline is not None:
            surprise = self._hint.surprise(opened, losses)
        if opened.plays is not None:
            span = self._range if self._scores_actions else None
            baseline, alike = self._availability.shared(opened, baseline, span)
        return surprise, baseline, alike

    def _decided_since(self, opened: Round) -> list[tuple[Any, Any]]:
        """Return earlier open rounds, with weights and hidden choices for their decisions."""
        others = self._ledger.decided_since_last_update(opened)
        given = self._step.measures, self._offset.varies
        return out_of_order(self._leader, self._resampling, opened, others, *given)

    def _renew(self, later: PerturbedLeader) -> None:
        """Replace the leader by the one on the renewed X, if contexts are not declared."""
        self._leader.owed += later.collect()
        self._leader = later
        self._step.start(later)

    def _note(self, opened: Round, readings: Readings, surprise: Any, weights: Any) -> None:
        """Add the round to the account."""
        account, scale, losses = self._account, opened.draw.scale, readings.observations
        if readings.missing is not None:
            account.missing += int(readings.missing.sum())
            account.unseen += self._hint.unseen(opened, readings.missing)
        account.clipped += readings.clipped
        if opened.exact is not self._resampling.known:
            self._resampling.note(opened.exact)
        if surprise is not None and scale == 0.0:
            account.stability += _sum(surprise)
        elif surprise is not None:
            moment = 1.0 if opened.exact else self._resampling.moment(False)
            c = moment / self._floor.kept
            worst = self._leader.kappa * self.oracle.max_chosen
            squares = weights * surprise * surprise
            squares = squares if type(squares) is float else _sum(squares)
            account.stability += c * worst * squares / scale
            if self._step.schedules and c > opened.moment:  # weights were drawn for some contexts
                B, K = self._offset.top, self.actions_on(opened.context)
                account.scheduled += (c - opened.moment) * worst * B**2 * K / scale
        lost = losses if type(losses) is float else _sum(losses)
        account.loss += lost
        if opened.explores:
            self._floor.charge(opened, lost)
        if scale < account.top:
            account.out_of_order = True
        else:
            account.top = scale
        if opened.baseline is not None and self._hint.predictor is not None:
            # Largest bias that `Hint.cover` allows for a good action.
            B = self._offset.top
            account.truncation += B if opened.late else B / math.sqrt(self.rounds + 1.0)

    # Statements -------------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """Return the leader without noise: the best policy for the loss estimates so far.

        For sets with a predictor that has reduced the loss, the best policy for its predictions.
        """
        if isinstance(self._hint, SetHint):
            policy = self._hint.best_policy(self._leader.X.points)
            if policy is not None:
                return policy
        return losses_alone(self._leader.total).leader()

    def certificate(self) -> SemiBanditCertificate:
        """Return estimates of an upper bound on the expected regret so far."""
        given = self._evidence(), self._hint, self._start, self._floor.price
        return certificates.semi_bandit_certificate(*given)

    def regret_bound(self) -> float | None:
        """Return a bound on the pseudo-regret so far, for any adversary; None if unknown."""
        return certificates.semi_bandit_bound(self._evidence(), self._hint, self._plan(self.rounds))

    def worst_case(
        self, rounds: int, restarts: int, total_delay: int = 0, without_feedback: int = 0
    ) -> float | None:
        """Return the worst case of self-tuning over a run with restarts; None if unknown."""
        given = rounds, restarts, total_delay, without_feedback
        plan, evidence = self._plan(rounds + without_feedback), self._evidence()
        return certificates.semi_bandit_worst_case(evidence, self._hint, plan, *given)

    @property
    def complexity(self) -> Complexity:
        """G of the policy class on X; computing it counts as oracle calls."""
        _ = self._leader.G
        self.oracle_calls += self._leader.collect()
        return self._leader.complexity()

    @property
    def predictor_(self) -> Any:
        """The copy of the predictor that has learned from all observed losses, or None."""
        return self._hint.predictor

    def outlook(self, context: Any = None) -> Outlook:
        """Return the past, noise draw and hint that a round with this context would use now."""
        opened: Any = self.prepare(context)
        past = past_of(self._leader, opened)
        return Outlook(opened.context, past, opened.draw, opened.advice, opened.share)

    @property
    def leader(self) -> PerturbedLeader:
        """The perturbed leader: estimated totals and the noise on X."""
        return self._leader

    @property
    def step(self) -> StepSize:
        """The rule behind ε."""
        return self._step

    @property
    def hint(self) -> Hint:
        """The record of hints, with their measured cost."""
        return self._hint

    def fresh(self, number: int) -> Self:
        """Return a new learner with these parameters, G, and whether weights must be drawn."""
        twin = super().fresh(number)
        twin._leader.share_complexity(self._leader)
        if self._resampling.known is False:
            twin._resampling.note(False)
        return twin

    def _extended(self, n_actions: int, changes: dict[str, Any]) -> Self:
        twin = self.clone(**changes)
        twin._leader = self._leader.extended(twin.oracle)
        twin._step = self._step.extended(twin._leader)
        twin.oracle_calls = twin._leader.collect()
        twin._hint = self._hint.extended(n_actions, twin._floor.kept)
        twin._floor.price = self._floor.price
        twin._resampling = copy.copy(self._resampling)
        twin._account = copy.copy(self._account)
        twin._decided, twin._start = self._decided, self._start
        return twin

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """Learn as `_update` does, with the mean of J_t for the given propensity."""
        one, K = check_seen(action, loss, self._range), self.actions_on(context)
        leader = self._leader
        limit = self._limit(self._decided + self._ledger.logged + 1, K)
        estimate = np.full(K, self._offset.low)
        estimate[action] += mean_weight(propensity, limit) * (one - estimate[action])
        later = leader.seeing(context)
        if later is not None:
            self._step.prepare(later, 0.0)
        if self._hint.predictor is not None:
            self._hint.predictor.learn(context, action, one)
        leader.total.add(context, estimate)
        self._hint.with_feedback += 1
        # From here on nothing can fail.
        if later is not None:
            self._renew(later)
        else:
            leader.X.see(context)

    # Parts ------------------------------------------------------------------------------------

    def _action_distribution(self, opened: Round) -> FloatArray | None:
        return distribution_of(past_of(self._leader, opened), opened)

    def _propensity_record(self, opened: Round) -> PropensityRecord:
        return propensity_record_of(self._leader, self._resampling, opened)

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        return replay(self._leader, past_of(self._leader, opened), opened, copies, rng)

    def _shares(self, opened: Round, draws: int, rng: np.random.Generator) -> FloatArray:
        return shares(self._leader, past_of(self._leader, opened), opened, draws, rng)

    def _total(self) -> Objective:
        return self._leader.total

    @property
    def _scores_actions(self) -> bool:
        return self._leader.total.scored

    def _evidence(self) -> Evidence:
        parts = self._account, self._leader, self._step, self._ledger, self._availability
        return Evidence(self.rounds, *parts, self._offset.top, self._offset.without_feedback)

    def _plan(self, rounds: int) -> SemiBanditPlan:
        grows = self.max_resamples is None and self.horizon is None
        assert self._leader.n_actions is not None
        limit = None if grows else self._limit(rounds, self._leader.n_actions)
        moment = self._resampling.second_moment
        given = self._offset.top, moment, limit, self._start, self._floor
        return SemiBanditPlan(*given, proved_late=not self._offset.varies)

    def _schedule(self, opened: Round) -> None:
        """Set variance, allowance and moment of a round for the anytime schedule."""
        m, K = self.oracle.max_chosen, self.actions_on(opened.context)
        c = self._resampling.second_moment / self._floor.kept
        pending = self._ledger.pending(opened)
        worst = self._leader.kappa * m * self._offset.top**2
        opened.variance = worst * (c * K + m * pending)
        opened.allowance = worst * K * (c + pending)
        opened.moment = c

    def _offered(self, opened: Round) -> int:
        """Return the number of items in a round; statements use the largest number so far."""
        K = len(opened.context)
        self._leader.n_actions = max(self._leader.n_actions or 0, K)
        self._floor.see(K)
        return K

    def actions_on(self, context: Any) -> int:
        return self._K or len(context)

    def _limit(self, n: int, K: int) -> int:
        """Return L of the n-th round with K actions."""
        known = self.max_resamples if self._theorem is None else self._theorem.max_resamples
        if known is not None:
            return known
        found = math.ceil(math.sqrt(K * (self.horizon or n)))
        return found if found > 2 else 2

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """Return the checked context; raise `ContextError` if it is not declared."""
        X = self._leader.X
        if X.takes_all:
            return self.oracle.check_context(context)
        if type(context) is int and context in X.numbers:
            return context
        return X.admit(context, self.clock + ahead if X.timed else 0)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        """Return the loss of an action."""
        return _sum(read_losses(action, loss, self._range, self.clip).losses)

    def _theorem_epsilon(self, X: ContextSet) -> float:
        assert self.horizon is not None
        if not self._K:
            raise ParameterError(
                "epsilon='theorem' needs a fixed number of actions; with items it may change in "
                "every round. Use epsilon='adaptive', 'anytime', or a number."
            )
        self._theorem = semi_bandit(
            self.horizon,
            log_size=X.log_size(),
            d=len(X.points),
            n_actions=self._K,
            m=self.oracle.max_chosen,
            loss_bound=self._offset.top,
            max_resamples=self.max_resamples,
            setting=X.setting,
        )
        return self._theorem.epsilon

    def _check_state(self) -> None:
        low = self._offset.low
        for opened in self._ledger.opened:
            assert isinstance(opened, self.Round)
            self._hint.check(opened, weighed=opened.weights is not None)
            Q = opened.baseline
            if Q is None:
                require(opened, baseline=low == 0.0)
            else:
                known = self._hint.predictor is not None or low < 0.0
                require(opened, baseline=known and Q.min() >= low)

    def _restored(self) -> None:
        self._step.restore(self._leader)
        if not self._K:
            self._floor.see(self._leader.n_actions or 0)


def _sum(values: Any) -> float:
    """Return the sum of an array, or a number itself."""
    return values if type(values) is float else float(np.add.reduce(values))
