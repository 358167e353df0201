"""First guesses of what elements cost."""

import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError
from hannan.predictors import FirstGuess
from tests.for_each import for_each

CONTRACT = {"FirstGuess": FirstGuess([0.1, 0.5, 0.3], weight=2.0)}


@for_each("seed", range(10))
def test_the_guess_is_the_mean_with_the_first_guess_in_it(seed):
    """Against the definition, whatever the contexts are."""
    rng = np.random.default_rng(seed)
    first, weight = rng.normal(size=5), float(rng.uniform(0.1, 4.0))
    guess = FirstGuess(first, weight=weight)
    guess.prepare(n_actions=5)
    seen = [[] for _ in range(5)]
    for _ in range(20):
        chosen = np.flatnonzero(rng.random(5) < 0.5)
        losses = rng.normal(size=len(chosen))
        guess.learn(rng.integers(3), chosen, losses)
        for k, loss in zip(chosen, losses, strict=True):
            seen[k].append(loss)
    expected = [(weight * g + sum(s)) / (weight + len(s)) for g, s in zip(first, seen, strict=True)]
    assert np.allclose(guess.predict("any"), expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FirstGuess("abc"),
        lambda: FirstGuess([]),
        lambda: FirstGuess([[1.0]]),
        lambda: FirstGuess([1.0, np.nan]),
        lambda: FirstGuess([1.0], weight=0.0),
        lambda: hn.ContextFTPL(hn.oracles.Subsets(3, 2), predictor=FirstGuess([1.0, 2.0])),
    ],
)
def test_what_is_no_guess_is_refused(make):
    with pytest.raises(HannanError, match=r"first|weight"):
        make()


@for_each("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_the_first_choice_is_the_best_by_the_guess(kind):
    """No noise is there yet, and nothing is known but the guess."""
    guess = FirstGuess([0.6, 0.1, 0.9, 0.3])
    trust = {} if kind is hn.ContextFTPL else {"trust": "baseline"}
    learner = kind(hn.oracles.Subsets(4, 2), predictor=guess, seed=0, **trust)
    assert learner.act().tolist() == [1, 3]


def test_a_learner_goes_on_from_a_file(tmp_path):
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2),
        predictor=FirstGuess([0.6, 0.1, 0.9, 0.3]),
        trust="baseline",
        seed=0,
    )
    rng = np.random.default_rng(0)
    for _ in range(10):
        learner.update(rng.random(4)[learner.act()])
    learner.save(tmp_path / "guess")
    again = hn.load(tmp_path / "guess")
    for _ in range(10):
        losses = rng.random(4)
        actions = [player.act() for player in (learner, again)]
        assert actions[0].tolist() == actions[1].tolist()
        for player in (learner, again):
            player.update(losses[actions[0]])
