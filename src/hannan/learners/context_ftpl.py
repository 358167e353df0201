"""Algorithm 2: contextual follow the perturbed leader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from hannan.bounds import Complexity, complete_information
from hannan.core import Action, Learner, Objective, Oracle, Policy, Predictor
from hannan.core.arrays import Contexts
from hannan.core.oracle import eagerness_of, fixed_actions, loss_spread, losses_alone
from hannan.core.policy import loss_of
from hannan.core.state import Number, Part, State
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_integer,
    check_loss_range,
    check_probability,
    check_seed,
)
from hannan.learners import certificates
from hannan.learners.certificates import Account, Evidence
from hannan.learners.context_set import ContextSet, Pool
from hannan.learners.perturbed_leader import (
    NoisyRound,
    Outlook,
    Past,
    PerturbedLeader,
    distribution_of,
    replay,
    shares,
    starting_total,
)
from hannan.learners.prediction import GUESS, TRUST, Prediction
from hannan.learners.shown_losses import check_full_losses, warn_of_empty_set
from hannan.learners.statements import Certificate
from hannan.learners.step_size import StepSize, step_size
from hannan.perturbation import seed_key


class ContextFTPL(Learner):
    r"""Contextual follow the perturbed leader, full information (Algorithm 2).

    In each round the learner draws a fake loss vector with independent Laplace(ε) coordinates for
    every context of a set X. It plays :math:`a_t = \pi_t(x_t)` with

    .. math:: \pi_t = \arg\min_{\pi \in \Pi} \sum_{s<t} \ell_s(\pi(x_s))
              + \frac1\epsilon \sum_{x \in X} \langle \pi(x), \zeta_x \rangle .

    X is the set of contexts that may arrive (*transductive*, `contexts=`), or any set on which
    all policies differ (*small separator*, `separator=`). With a separator, any context may
    arrive. In twenty lines: `hannan.paper.context_ftpl`.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts
        X in the transductive setting: all contexts that may arrive. Default: the oracle's own
        contexts. `Pool(rows)` is a sample of the contexts that may arrive; no theorem applies to
        it. Classes on feature vectors need neither `contexts` nor `separator`: their X is a
        sample of the contexts seen so far.
    separator
        X in the small-separator setting: contexts on which all policies differ. Default: None.
    epsilon
        Rule for ε; the noise has size 1/ε. "adaptive" (default): self-tuned from the instability
        cost so far, needs nothing else. "anytime": the schedule
        :math:`\epsilon_t \propto 1/\sqrt t`, from `loss_range`. "theorem": the paper's tuning,
        needs `horizon`. Or a positive number, or a rule such as `SelfTuned(eagerness=4)`.
    horizon
        Number of rounds T, for epsilon="theorem".
    predictor
        Model that predicts the losses :math:`Q_t` of each round before the decision.
        `predict(context)` returns K numbers; `learn(context, action, loss)` receives all losses
        afterwards. The leader counts the prediction as one more round. Then
        :math:`\sum_t \|\ell_t - Q_t\|_*^2` replaces the size of the losses in the regret bound.
        Default: None.
    trust
        "earned" (default): predictions count only while they have been closer to the losses than
        the constant 0, so a bad predictor costs little. "always": as in the paper.
    seed
        Seed of all randomness. None (default) takes fresh entropy.
    loss_range
        Range (low, high) of each element's loss, or None to accept any finite loss.
    noise
        "fresh" (default) draws new noise in every round. "once" uses one noise draw for the whole
        run: it has the same expected loss against an *oblivious* adversary, but no guarantee
        against an adaptive adversary.

    Guarantee
    ---------
    With epsilon="adaptive", fresh noise and an exact oracle, against adaptive adversaries:
    expected regret at most :math:`2\,E[D_T] \le 2\sqrt{2\kappa G V} + 2R`. The learner measures
    D_T during the run, and `certificate` reports it. With a predictor V sums the squared ranges of
    :math:`\ell_t - Q_t` (Theorem 5). With epsilon="theorem": `bounds.complete_information`.
    [syrgkanis2016, Theorems 2 and 5]
    If some actions are unavailable, these bounds hold against policies whose unavailable actions
    are replaced by the learner's substitutes. For classes that score actions (`AllPolicies`) the
    sets of available actions must then depend on the context alone. [kanade2014]

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.ContextFTPL(oracle, seed=0)
    >>> for t in range(100):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1])
    >>> learner.act(0), learner.best_policy()(0)
    (1, 1)

    Each loss is close to the previous one, so the predictor is `Last`:

    >>> predictor = hn.predictors.Last()
    >>> optimist = hn.ContextFTPL(oracle, predictor=predictor, seed=0)
    >>> for t in range(100):
    ...     action = optimist.act(0)
    ...     optimist.update([0.01 * t, 1.0 - 0.01 * t])
    >>> round(optimist.certificate().prediction_error, 2)
    1.01

    References
    ----------
    [syrgkanis2016], [kanade2014]
    """

    oracle: Oracle
    restricts_sets = True
    noise_memory: ClassVar[int] = 2**27  # bytes of noise generated in advance; actions stay equal

    stored = State(step=Part(), leader=Part(), _prediction=Part(), _account=Part())

    class Round(NoisyRound):
        guess: Any = None  # Q_t, the prediction in use
        offered: Any = None  # the predictor's prediction, whether or not it is trusted
        variance: float = 0.0  # variance of the round in the anytime schedule
        ranges: float = 0.0  # sum of the loss ranges of the rounds with feedback before it

        stored = State(guess=GUESS, offered=GUESS, variance=Number(low=0.0), ranges=Number(low=0.0))

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | Pool | None = None,
        separator: Contexts | None = None,
        *,
        epsilon: float | str | StepSize = "adaptive",
        horizon: int | None = None,
        predictor: Predictor | None = None,
        trust: str = "earned",
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        noise: str = "fresh",
    ) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        self.contexts = contexts
        self.separator = separator
        self.epsilon = epsilon
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.predictor = predictor
        self.trust = check_choice(self, "trust", trust, TRUST)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self.noise = check_choice(self, "noise", noise, ("fresh", "once"))

        self._range = check_loss_range(self, loss_range)
        warn_of_empty_set(self, oracle, self._range)
        linear = not oracle.takes_functions and predictor is None
        nonnegative = linear and self._range[0] >= 0.0
        key = seed_key(seed)
        X = ContextSet(self, oracle, contexts, separator, key)
        self.step = step_size(
            self, epsilon, self.horizon, lambda: self._theorem(X, nonnegative), eagerness_of(oracle)
        )
        spread = loss_spread(oracle, *self._range) if self.step.measures else None
        total, fresh = starting_total(oracle, X, spread), noise == "fresh"
        given = oracle, X, total, key, seed, self.noise_memory
        self.leader = PerturbedLeader(*given, nonnegative=nonnegative, fresh=fresh)
        self.step.start(self.leader)
        self._prediction = Prediction(predictor, self._range, oracle, trust)
        self._careful = self._may_fail()
        self._account = Account()

    # Algorithm 2 ----------------------------------------------------------------------------

    def _prepare(self, opened: Round) -> None:
        """Set ε_t, {z} and the prediction Q_t: functions of x_t and the past."""
        leader, step = self.leader, self.step
        scale = step.scale
        if step.schedules:
            if not self._ledger.supersedes_open_round(opened):
                pending = self._ledger.pending(opened)
                opened.variance = leader.kappa * self._width**2 * (1 + pending)
            scale = step.before(leader, opened.variance)
        opened.draw = leader.draw(scale)
        if self._prediction.predictor is not None:
            self._prediction.look_ahead(opened)

    def _act(self, opened: Round) -> None:
        """Draw fake outcomes {z} on X; play the action of the leader of {z} and y_1..t-1 on x_t."""
        x, draw, past, plays = opened.context, opened.draw, self.leader.total, opened.plays
        if plays is None or past.scored:  # the choice is available, so it needs no substitute
            opened.chosen = opened.action = past.action(x, draw, opened.guess, plays)
        else:
            opened.play(past.action(x, draw, opened.guess))
        opened.calls += 1
        if opened.late:
            opened.ranges = self._account.ranges
            if self._measures_delays:
                opened.calls += self.leader.draw_hidden_noise(opened, self._past(opened))

    def _played(self, opened: Round) -> None:
        """Advance to fresh noise: every opened round uses its own draw, even without feedback."""
        leader = self.leader
        leader.advance(1)
        if opened.hidden_draw is not None:
            leader.hidden_draws += 1
        if self.step.schedules:
            self.step.played(leader, opened.draw.scale, opened.variance)
        if leader.owed:
            opened.calls += leader.collect()

    def _past(self, opened: Round) -> Past:
        """Return y_1..t-1 with Q_t as one more round (Theorem 5), among the available actions."""
        return self.leader.past(opened, opened.guess)

    def _update(self, opened: Round, loss: Any) -> None:
        """Add y_t = (x_t, f_t); set ε_{t+1} from the instability cost of the round."""
        step, leader, chosen, z = self.step, self.leader, opened.chosen, opened.draw
        f, low, high = check_full_losses(self.oracle, loss, leader.n_actions, self._range)
        suffered = surprise = loss_of(f, chosen)  # f_t(π_t), and (f_t - Q_t)(π_t)
        least, width = low, high - low  # of f_t - Q_t over all actions
        later, keep = leader, not (opened.late or self._careful)
        if self._careful:  # a later step may fail, so the round is added last
            leader = leader if leader.n_actions is not None else leader.sized(len(f))
            later = leader.seeing(opened.context) or leader  # on the renewed X, if it is due
            surprise, least, width = self._beyond_the_guess(opened, f, low, high)
        instability = 0.0
        if not step.measures:
            keep = False
        elif opened.late and self._measures_delays:
            instability = self._moved(opened, leader, f, high - low, width)
        else:
            if surprise > least:
                leader.get_ready()  # for `after`: if the oracle fails, let it fail now
            # The loss of M({z} ∪ y_1..t) on x_t, same {z}; it is never more than that of π_t.
            z = z if z.noise is not None else leader.again(z)
            foreseeing = (leader.settle if keep else leader.foresee)(opened, f, z)
            if foreseeing is not chosen:
                instability = surprise - self._prediction.surprise(opened, f, foreseeing)
            opened.calls += 1
        if self._careful or opened.late:
            step.prepare(later, instability)
            self._prediction.learn(opened, f, low, high)
        if not keep:
            leader.total.add(opened.context, f)
        # From here on nothing can fail.
        scale = z[2]
        moved = self._stability(opened, width) if opened.late else leader.stability(width, scale)
        self._account.learned(suffered, scale, moved, width)
        if instability != 0.0:  # D_t, ε_{t+1} = G / D_t
            step.after(leader, instability, opened.hidden_draw is not None)
        if self._careful:
            self._grow(leader, later, opened.context)
        if leader.owed:
            opened.calls += leader.collect()
        if self.leader.owed:
            opened.calls += self.leader.collect()

    def _grow(self, leader: PerturbedLeader, later: PerturbedLeader, context: Any) -> None:
        """Replace the leader by the one that knows K, or whose X is renewed."""
        if later is leader:
            leader.X.see(context)
        if later is not self.leader:
            later.owed += self.leader.collect()
            self.leader = later
            self.step.start(later)
        self._careful = self._may_fail()

    def _may_fail(self) -> bool:
        """Return whether a predictor learns, X is renewed, or K becomes known after a round."""
        unsized = self.leader.n_actions is None
        return self._prediction.predictor is not None or self.leader.X.takes_new_contexts or unsized

    def _stability(self, opened: Round, width: float) -> float:
        """Return a bound on the instability cost of a round with delayed feedback."""
        account, scale = self._account, opened.draw.scale
        since = account.ranges - opened.ranges
        if since <= 0.0:
            return self.leader.stability(width, scale)
        return self.leader.late_stability(width, since + width, max(account.top, scale), scale)

    # Statements -------------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """Return the leader without noise: the best policy for the losses so far."""
        return losses_alone(self.leader.total).leader()

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """Return the statements on regret so far; `high_probability` has this confidence."""
        check_probability(self, "confidence", confidence)
        return certificates.full_information(self._evidence(), self._prediction, confidence)

    def regret_bound(self) -> float | None:
        return certificates.full_information_bound(self._evidence(), self._prediction)

    def worst_case(
        self, rounds: int, restarts: int, total_delay: int = 0, without_feedback: int = 0
    ) -> float | None:
        """Return the worst case of self-tuning over a run with restarts; None if unknown."""
        given = rounds, restarts, total_delay, without_feedback
        return certificates.full_information_worst_case(self._evidence(), self._prediction, *given)

    @property
    def complexity(self) -> Complexity:
        """G of the policy class on X; computing it counts as oracle calls."""
        _ = self.leader.G
        self.oracle_calls += self.leader.collect()
        return self.leader.complexity()

    @property
    def predictor_(self) -> Any:
        """The copy of the predictor that has learned from all losses so far, or None."""
        return self._prediction.predictor

    def outlook(self, context: Any = None) -> Outlook:
        """Return the past and noise draw that a round with this context would use now."""
        opened: Any = self.prepare(context)
        return Outlook(opened.context, self._past(opened), opened.draw)

    def fresh(self, number: int) -> Self:
        twin = super().fresh(number)
        twin.share_complexity(self)
        return twin

    def limit_noise(self, memory: int) -> None:
        """Generate at most `memory` bytes of noise in advance; actions stay the same."""
        self.leader.limit_noise(memory)

    def share_complexity(self, other: ContextFTPL) -> None:
        """Take G from a learner with the same policy class and contexts, if it is known."""
        self.leader.share_complexity(other.leader)

    def inside_discounts(self) -> Self:
        """Return a new learner with these parameters for losses of any size, for `Discounted`."""
        twin = self.clone(loss_range=None)
        twin.share_complexity(self)
        if self._range[0] >= 0.0:
            twin.leader.expect_nonnegative()  # growth keeps the sign, and κ with it
        return twin

    def renew(self, history: Iterable[tuple[Any, FloatArray]], factor: float) -> None:
        """Replace the past by these rounds, and convert all sums to another unit of losses."""
        total = starting_total(self.oracle, self.leader.X)
        for context, losses in history:
            total.add(context, losses)
        self.leader.total = total
        self.step.rescale(factor)
        self._account.rescale(factor)

    def rescale_round(self, opened: Round, factor: float) -> None:
        """Convert an open round to the unit of `renew`."""
        opened.draw = opened.draw._replace(scale=factor * opened.draw.scale)
        opened.ranges *= factor

    # Parts ------------------------------------------------------------------------------------

    def _action_distribution(self, opened: Round) -> FloatArray | None:
        return distribution_of(self._past(opened), opened)

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        return replay(self.leader, self._past(opened), opened, copies, rng)

    def _shares(self, opened: Round, draws: int, rng: np.random.Generator) -> FloatArray:
        return shares(self.leader, self._past(opened), opened, draws, rng)

    def _beyond_the_guess(
        self, opened: Round, f: Any, low: float, high: float
    ) -> tuple[float, float, float]:
        """Return (f_t - Q_t)(π_t), and the range of f_t - Q_t over all actions."""
        Q = self._prediction
        if opened.offered is None:
            return loss_of(f, opened.chosen), low, high - low
        if opened.plays is not None and self.leader.total.scored:
            opened.offered = opened.replaced(opened.offered)
            opened.guess = None if opened.guess is None else opened.replaced(opened.guess)
        least, most = Q.surprises(opened, f, low, high)
        return Q.surprise(opened, f, opened.chosen), least, most - least

    def _moved(
        self, opened: Round, leader: PerturbedLeader, f: Any, spread: float, width: float
    ) -> float:
        """Measure the instability cost of a round with delayed feedback by its hidden noise draw.

        Under this draw, it is (f_t - Q_t)(π) of the leader at the decision, minus the same of the
        leader now, whose past includes f_t. It may be negative. Q_t counts with the leader now.
        """
        Q = opened.guess
        if opened.hidden_draw is None:  # another decision came later: count the largest cost
            return spread if Q is None else spread + width
        top = max(self._account.top, opened.draw.scale)
        z = leader.hidden_draw(opened.hidden_draw, top)
        b = leader.foresee(opened, f, z)
        opened.calls += 1
        found = loss_of(f, opened.hidden_choice) - loss_of(f, b)
        if Q is not None:
            c = self._past(opened).action(opened.context, z)
            opened.calls += 1
            found += loss_of(Q, b) - loss_of(Q, c)
        return found

    def _total(self) -> Objective:
        return self.leader.total

    @property
    def _measures_delays(self) -> bool:
        """Whether hidden noise draws measure the instability cost of delayed feedback.

        With noise="once" there is no guarantee, and these rounds are measured as all others.
        """
        return self.step.measures and self.noise == "fresh"

    @property
    def _scores_actions(self) -> bool:
        return self.leader.total.scored

    @property
    def action_count(self) -> int | None:
        return self.leader.oracle.n_actions

    @property
    def _width(self) -> float:
        """Largest difference, between two actions in a round, of loss minus prediction."""
        spread = loss_spread(self.oracle, *self._range)
        return spread if self.predictor is None else 2.0 * spread

    def _evidence(self) -> Evidence:
        parts = self._account, self.leader, self.step, self._ledger, self._availability
        largest = loss_spread(self.oracle, *self._range)
        return Evidence(self.rounds, *parts, self._width, largest, self.noise == "fresh")

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        X = self.leader.X
        if type(context) is int and context in X.numbers:
            return context
        return X.admit(context, self.clock + ahead if X.timed else 0)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        losses = check_full_losses(self.oracle, loss, self.action_count, self._range)[0]
        return loss_of(losses, action)

    def _theorem(self, X: ContextSet, nonnegative: bool) -> float:
        assert self.horizon is not None
        low, high = self._range
        m = self.oracle.max_chosen
        largest = max(abs(low), abs(high)) if self.predictor is None else high - low
        return complete_information(
            self.horizon,
            d=len(X.points),
            n_actions=self.oracle.n_actions or 1,
            log_size=X.log_size(),
            m=m,
            loss_bound=largest / (m if self.oracle.takes_functions else 1),
            setting=X.setting,
            nonnegative=nonnegative,
        ).epsilon

    def _restored(self) -> None:
        self.step.restore(self.leader)
        self._careful = self._may_fail()
