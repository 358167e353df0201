"""Random calls of a learner, against a twin that received the accepted ones only.

`python -m tests.learners.call_sequences 100000` plays that many sequences; a number after it is
where to begin. Each is a function of its number alone.
"""

import contextlib
import functools
import itertools
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import hannan as hn
from hannan.checks.availability import restricted_rounds, takes_available
from hannan.core import OpenRound
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from tests import naive
from tests.cases import Match, Tried, declared
from tests.learners.cases import fakes
from tests.problems import FINITE, PLANTED

STEPS = 14
FURTHER = 3
ROWS = [[0, 1], [1, 1], [2, 0], [0, 2], [1, 0]]


class Failure(Exception):
    """What a part of the learner raises when it is told to."""


class Fuse:
    """Fails at the n-th call from now."""

    left = None

    def burn(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Failure


class Guessing(hn.Predictor):
    """Means of all losses, with a fuse."""

    def __init__(self, fuse=None):
        self.fuse = fuse
        self.sums, self.counts = np.zeros(3), np.zeros(3)

    def predict(self, context):
        self.fuse.burn()
        return (self.sums + 0.5) / (self.counts + 1.0)

    def learn(self, context, action, loss):
        self.fuse.burn()
        self.sums[action] += loss
        self.counts[action] += 1.0


# What is played -----------------------------------------------------------------------------


class Setting:
    """A learner, contexts, and losses of all its actions."""

    def __init__(self, make, contexts, losses, fails=False):
        self.make, self.contexts, self.losses, self.fails = make, contexts, losses, fails
        one = make(Fuse())
        self.restricts = losses[0].size > 1 and takes_available(one, contexts[0])


def of_match(match):
    rounds = restricted_rounds(match.environment, 12)
    return Setting(
        lambda fuse: match.learner.clone(), [row[0] for row in rounds], [row[1] for row in rounds]
    )


def of_oracle(kind, case, options):
    oracle, contexts, _ = Tried(*case) if isinstance(case, tuple) else Tried(case)
    contexts = list(oracle.contexts if contexts is None else contexts)
    given = None if oracle.contexts is not None else contexts
    K = oracle.n_actions or (max(map(len, contexts)) if oracle.takes_items else 3)
    losses = list(
        np.random.default_rng(3).random((12, K)).round(2) / (K if oracle.takes_functions else 1)
    )

    def make(fuse):
        return kind(oracle, given, seed=2, **options)

    return Setting(make, contexts, losses)


def of_failing(kind, options, predicts):
    """A solver that fails, or a predictor."""
    losses = list(np.random.default_rng(3).random((12, 3)).round(2))

    def make(fuse):
        def solve(contexts, losses):
            fuse.burn()
            return naive.solver(ROWS)(contexts, losses)

        if predicts:
            oracle, more = (
                hn.oracles.FinitePolicies(ROWS, n_actions=3),
                {"predictor": Guessing(fuse)},
            )
        else:
            oracle, more = hn.oracles.FunctionOracle(solve, n_actions=3), {}
        return kind(oracle, range(2), seed=4, **options, **more)

    return Setting(make, [0, 1], losses, fails=True)


FULL, BANDIT = hn.ContextFTPL, hn.ContextSemiBanditFTPL
OPTIONS = [(FULL, {}), (FULL, {"epsilon": "anytime"}), (BANDIT, {}), (BANDIT, {"epsilon": 0.4})]
SLOW = ("SklearnPolicies", "VowpalWabbit", "Switching", "LinearProgram")


@functools.cache
def settings():
    """All of them, by name."""
    found = {
        name: functools.partial(of_match, match) for name, match in declared(hn.Learner).items()
    }
    for (name, case), (kind, options) in itertools.product(declared(hn.Oracle).items(), OPTIONS):
        found[f"{kind.__name__} {options}, {name}"] = functools.partial(
            of_oracle, kind, case, options
        )
    found["Restarting, watched"] = functools.partial(
        of_match,
        Match(
            hn.Restarting(hn.FTPL(FINITE, fakes, seed=0), predictor=hn.predictors.Mean()), PLANTED
        ),
    )
    for (kind, options), predicts in itertools.product(OPTIONS, (False, True)):
        what = "a predictor" if predicts else "a solver"
        found[f"{kind.__name__} {options}, {what} that fails"] = functools.partial(
            of_failing, kind, options, predicts
        )
    return {name: make for name, make in found.items() if not any(word in name for word in SLOW)}


@functools.cache
def setting(name):
    try:
        return settings()[name]()
    except hn.HannanError:  # a class that this learner does not take
        return None


# One sequence -------------------------------------------------------------------------------

ODD_CONTEXTS = [float("nan"), (0, float("nan")), object, {}, [[]], "x" * 50, -7, 10**400]
ODD_LOSSES = [
    None,
    "a",
    [],
    float("nan"),
    10**400,
    [np.inf] * 3,
    np.full((2, 2), 0.5),
    1e308,
    object(),
]
ODD_DECISIONS = [True, float("nan"), "0", -1, 10**9, 0.0]


class Sequence:
    """A learner, its twin, and what they are asked."""

    def __init__(self, name, seed, folder):
        self.name, self.seed, self.folder = name, seed, folder
        self.setting = setting(name)
        self.rng = np.random.default_rng([7, seed])
        self.fuse = Fuse()
        self.learner, self.twin = self.setting.make(self.fuse), self.setting.make(Fuse())
        self.foreign = self.setting.make(Fuse())
        self.action, self.seen = None, None  # of the round that `act` opened
        self.open = {}  # losses by decision
        self.said, self.asked = [], []
        self.refused = self.failed = 0
        self.looked = False  # what was computed for an answer may be kept: plays are then compared

    def pick(self, things):
        return things[int(self.rng.integers(len(things)))]

    def play(self):
        kinds = ["act"] * 4 + ["update"] * 5 + ["decide", "answer", "answer", "forget"]
        kinds += ["bad_context", "bad_loss", "bad_decision", "out_of_turn", "reload"]
        kinds += ["look"] * (self.seed % 4 == 0)
        for _ in range(STEPS):
            kind = self.pick(kinds)
            self.said.append(kind)
            getattr(self, kind)()
        for _ in range(FURTHER):
            self.act()
            self.update()
        self.compare()

    # Accepted by both, or by neither

    def both(self, call):
        """Make a call on the learner, perhaps disturbed; then on the twin, if it was made."""
        if self.setting.fails and self.rng.random() < 0.3:
            return self.fail(call)
        mine = call(self.learner)
        self.same(mine, call(self.twin))
        return mine

    def fail(self, call):
        self.fuse.left = int(self.rng.integers(6))
        self.said[-1] += f" fails at {self.fuse.left}"
        made = self.learner._ledger.made
        try:
            mine = call(self.learner)
        except Failure:
            self.failed += 1
            self.forgotten(self.learner._ledger.made - made)
            return None
        finally:
            self.fuse.left = None
        self.same(mine, call(self.twin))
        return mine

    def forgotten(self, count):
        """Decisions of `decide_many` before the one that failed were made, and forgotten."""
        for context in self.asked[:count]:
            self.twin.forget(self.twin.decide(context).id)

    def act(self):
        i = int(self.rng.integers(len(self.setting.contexts)))
        context, there = self.setting.contexts[i], None
        if self.setting.restricts and self.rng.random() < 0.2:
            there = [int(self.rng.integers(self.setting.losses[0].size))]
        asked = () if there is None else (there,)
        found = self.both(lambda learner: learner.act(context, *asked))
        if found is not None:
            self.action, self.seen = found, there

    def update(self):
        if self.action is None:
            return
        loss = self.reveal(self.action, self.seen)
        if self.both(lambda learner: learner.update(loss) or True):
            self.action = None

    def reveal(self, action, there):
        losses = self.pick(self.setting.losses)
        seen = hn.Round(None, losses.copy(), available=there)
        return seen.reveal(action, self.learner.feedback)

    def decide(self):
        if self.learner.late is not None:
            return
        some = [self.pick(self.setting.contexts) for _ in range(self.rng.integers(1, 3))]
        self.asked = some
        if len(some) == 1:
            found = self.both(lambda learner: [learner.decide(some[0])])
        else:
            found = self.both(lambda learner: learner.decide_many(some))
        for decision in found or ():
            self.open[decision.id] = decision

    def answer(self):
        if self.open:
            number = self.pick(sorted(self.open))
            loss = self.reveal(self.open[number].action, None)
            if self.both(lambda learner: learner.update(loss, number) or True):
                del self.open[number]

    def forget(self):
        if self.open:
            number = self.pick(sorted(self.open))
            if self.both(lambda learner: learner.forget(number) or True):
                del self.open[number]

    # Refused

    def refuse(self, call):
        try:
            call()
        except hn.HannanError:
            self.refused += 1
            self.compare(0.3)
            return
        raise AssertionError("accepted")

    def bad_context(self):
        place = int(self.rng.integers(len(ODD_CONTEXTS)))
        context = ODD_CONTEXTS[place]
        if accepts(self.name, place):
            return
        if self.learner.late is None and self.rng.random() < 0.5:
            self.refuse(lambda: self.learner.decide_many([self.setting.contexts[0], context]))
        else:
            self.refuse(lambda: self.learner.act(context))

    def bad_loss(self):
        loss = self.pick(ODD_LOSSES)
        empty = (
            not isinstance(self.action, int) and self.action is not None and not len(self.action)
        )
        if self.action is None or (empty and np.size(loss) == 0):
            return
        self.refuse(lambda: self.learner.update(loss))

    def bad_decision(self):
        if self.learner.late is not None:
            return
        foreign = self.foreign.decide(self.setting.contexts[0])
        # Who made the decisions before it was loaded no learner knows.
        known = any(said.startswith("reload") for said in self.said)
        odd = self.pick([*ODD_DECISIONS, *(() if known else (foreign,))])
        if self.rng.random() < 0.5:
            self.refuse(lambda: self.learner.forget(odd))
        else:
            self.refuse(lambda: self.learner.update(self.reveal(0, None), odd))

    def out_of_turn(self):
        if self.action is None:
            self.refuse(lambda: self.learner.update(self.setting.losses[0]))

    # Asked

    def look(self):
        context = self.pick(self.setting.contexts)
        self.looked = True
        for ask in (
            lambda: self.learner.propensities(context, 4),
            lambda: self.learner.would_play(context, 2),
            lambda: self.learner.regret_bound(),
            lambda: self.learner.certificate(),
        ):
            try:
                ask()
            except (hn.HannanError, AttributeError):
                continue

    def reload(self):
        if not self.setting.fails:
            path = self.folder / "learner.hannan"
            with contextlib.suppress(hn.StorageError):  # some hold functions of these tests
                self.learner.save(path)
                self.learner = hn.load(path)

    # Compared

    def compare(self, probability=1.0):
        if self.rng.random() < probability and not self.looked:
            assert self.content(self.learner) == self.content(self.twin), "another state"

    def content(self, learner):
        """All that a file would hold."""
        if self.setting.fails:
            # G is a fact about the class, and rows without losses are facts about X: both are kept
            # from a call that failed after finding them.
            _ = learner.complexity
            learner.would_play(self.setting.contexts[0])
            return repr(plain(learner._state(), set()))
        try:
            return b"".join(packed(learner, Encoder()))
        except hn.StorageError:
            return None

    def same(self, mine, theirs):
        assert repr(shown(mine)) == repr(shown(theirs)), f"{mine} is not {theirs}"


@functools.cache
def accepts(name, place):
    """Whether a fresh learner takes an odd context."""
    try:
        setting(name).make(Fuse()).act(ODD_CONTEXTS[place])
    except hn.HannanError:
        return False
    return True


def shown(found):
    if isinstance(found, list):
        return [shown(each) for each in found]
    if isinstance(found, hn.Decision):
        return found.id, found.action, found.weights, found.propensity
    return found


def plain(thing, seen):
    """What an object holds, for comparison."""
    if isinstance(thing, dict):
        return [(str(key), plain(value, seen)) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [plain(value, seen) for value in thing]
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if callable(getattr(thing, "_state", None)):
        # A call that fails may leave notes in its round, which the next call makes anew.
        left_out = isinstance(thing, hn.Oracle | OpenRound)
        return [] if left_out else plain(thing._state(), seen)
    if isinstance(thing, Guessing):
        return thing.sums.tolist()
    return repr(thing) if isinstance(thing, int | float | str | None) else type(thing).__name__


def run(numbers, folder):
    """Play these sequences; how many there were, how many calls were refused, and failed."""
    names = sorted(settings())
    played = refused = failed = 0
    for number in numbers:
        name = names[number % len(names)]
        if setting(name) is None:
            continue
        sequence = Sequence(name, number, folder)
        try:
            sequence.play()
        except Exception as error:
            error.add_note(f"in sequence {number} of {name}: {sequence.said}")
            raise
        played += 1
        refused += sequence.refused
        failed += sequence.failed
    return played, refused, failed


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    count, start = (int(word) for word in (*sys.argv[1:], "0")[:2])
    begun, failed, told = time.process_time(), 0, np.zeros(3, int)
    with tempfile.TemporaryDirectory() as made:
        for n in range(start, start + count):
            try:
                told += run([n], Path(made))
            except Exception as error:
                failed += 1
                print(
                    n,
                    type(error).__name__,
                    str(error)[:200],
                    getattr(error, "__notes__", ""),
                    flush=True,
                )
            if n % 1000 == 999:
                print(f"{n + 1 - start} done, {failed} went wrong", flush=True)
    spent = time.process_time() - begun
    print(
        f"{told} sequences, refused, failed calls; {failed} went wrong, {spent:.0f} s of CPU time"
    )
