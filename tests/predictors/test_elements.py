"""Predictors of element losses equal their definitions, from the raw history."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.predictors import ElementMeans, ElementRidge
from tests.for_each import for_each

K, P = 4, 3
ROWS = np.random.default_rng(5).normal(size=(K, P))
GUESS = [0.1, 0.5, 0.3, 0.9]

CONTRACT = {
    "ElementMeans": ElementMeans(),
    "ElementMeans, sampled": ElementMeans(0.4, False, [0.1, 0.5, 0.3], explore="sample", seed=3),
    "ElementRidge": ElementRidge(ROWS[:3]),
    "ElementRidge, sampled": ElementRidge(ROWS[:3], guess=[0.1, 0.5, 0.3], explore="sample"),
    "ElementRidge, one for each": ElementRidge(each=True, loss_range=(-2.0, 1.0)),
}
KINDS = {
    "means": lambda **more: ElementMeans(**more),
    "shared": lambda **more: ElementRidge(ROWS, **more),
    "each": lambda **more: ElementRidge(each=True, **more),
}


def ready(predictor, n_actions=K):
    predictor.prepare(n_actions)
    return predictor


def history(seed, rounds=25, low=0.0, high=1.0):
    """Rounds (context, elements, their losses); one in five losses was not observed."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        chosen = np.flatnonzero(rng.random(K) < 0.6)
        losses = rng.uniform(low, high, len(chosen))
        losses[rng.random(len(chosen)) < 0.2] = np.nan
        yield rng.normal(size=P).round(1), chosen, losses


def taught(predictor, rounds):
    for x, chosen, losses in rounds:
        predictor.learn(x, chosen, losses)
    return predictor


def is_positive(x):
    return bool(x[0] > 0.0)


def means_twin(rounds, key, context, guess, scale, alpha):
    """Estimates and predictions of `ElementMeans`, by two passes over the losses."""
    seen = {}
    for x, chosen, losses in rounds:
        for k, loss in zip(chosen, losses, strict=True):
            if not np.isnan(loss):
                seen.setdefault((key(x), k), []).append(loss)
    squares = {at: float(np.square(np.array(own) - np.mean(own)).sum()) for at, own in seen.items()}
    repeats = sum(len(own) - 1 for own in seen.values())
    pooled = (scale**2 / 4.0 + sum(squares.values())) / (1.0 + repeats)
    estimates, widths = [], []
    usual = sum(len(seen.get((key(context), k), [])) for k in range(K)) / K
    for k in range(K):
        own = seen.get((key(context), k), [])
        n = len(own)
        sigma = np.sqrt((squares.get((key(context), k), 0.0) + 8.0 * pooled) / (n + 8.0))
        estimates.append((sum(own) + guess[k]) / (n + 1))
        rare = max(0.0, np.log((usual + 1) / (n + 1)))
        widths.append(alpha * sigma * np.sqrt((1 + rare / 3) / (n + 1)))
    return np.array(estimates), np.array(estimates) - widths


@for_each("seed", range(4))
@for_each(
    ("by_context", "key"),
    [(True, tuple), (False, lambda x: None), (is_positive, is_positive)],
)
@for_each(("guess", "low", "high"), [(None, 0.0, 1.0), (GUESS, -1.0, 1.0), (None, -200.0, 0.0)])
def test_means_equal_the_definition(seed, by_context, key, guess, low, high):
    rounds = list(history(seed, low=low, high=high))
    predictor = ElementMeans(0.6, by_context, guess, loss_range=(low, high))
    taught(ready(predictor), rounds)
    first = [low] * K if guess is None else guess
    for context in (rounds[0][0], np.array([0.25, 0.0, 0.0])):
        estimates, lower = means_twin(rounds, key, context, first, high - low, 0.6)
        np.testing.assert_allclose(predictor.estimate(context), estimates, rtol=1e-9)
        np.testing.assert_allclose(predictor.predict(context), lower, rtol=1e-9)
        np.testing.assert_array_equal(predictor.baseline(context), predictor.predict(context))


def ridge_twin(rounds, features, each, context, guess, scale, low, alpha):
    """Estimates and predictions of `ElementRidge`, by solving all equations in every round."""
    models = [0] * K if not each else list(range(K))
    inverse = {m: np.eye(P) / 0.5 for m in models}
    design, moment = {m: 0.5 * np.eye(P) for m in models}, {m: np.zeros(P) for m in models}
    errors = {m: [] for m in models}
    for x, chosen, losses in rounds:
        for k, loss in zip(chosen, losses, strict=True):
            if np.isnan(loss):
                continue
            m, phi = models[k], features(x)[k]
            value = guess[k] + phi @ np.linalg.solve(design[m], moment[m])
            errors[m].append((loss - np.clip(value, low, low + scale)) ** 2)
            design[m] += np.outer(phi, phi)
            moment[m] += phi * (loss - guess[k])
            inverse[m] = np.linalg.inv(design[m])
    counted = {m: own[1:] for m, own in errors.items()}
    number = sum(map(len, counted.values()))
    pooled = (scale**2 / 4.0 + sum(map(sum, counted.values()))) / (1.0 + number)
    means, lower = [], []
    for k, phi in enumerate(features(context)):
        own = counted[models[k]]
        square = (sum(own) + 8.0 * pooled) / (len(own) + 8.0) if each else pooled
        means.append(guess[k] + phi @ inverse[models[k]] @ moment[models[k]])
        lower.append(means[-1] - alpha * np.sqrt(square * (phi @ inverse[models[k]] @ phi)))
    return np.clip(means, low, low + scale), lower


def crossed(x):
    return ROWS * x


@for_each("seed", range(4))
@for_each(
    ("features", "each", "of"),
    [
        (ROWS, False, lambda x: ROWS),
        (crossed, False, crossed),
        (None, True, lambda x: [x] * K),
        (np.cos, True, lambda x: [np.cos(x)] * K),
    ],
)
@for_each(("guess", "low", "high"), [(None, 0.0, 1.0), (GUESS, -1.0, 1.0), (None, -200.0, 0.0)])
def test_the_ridge_equals_the_definition(seed, features, each, of, guess, low, high):
    rounds = list(history(seed, low=low, high=high))
    predictor = ElementRidge(features, 0.5, 0.6, each, guess, loss_range=(low, high))
    taught(ready(predictor), rounds)
    first = [low] * K if guess is None else guess
    for context in (rounds[0][0], np.array([0.25, 0.0, 0.0])):
        expected = ridge_twin(rounds, of, each, context, first, high - low, low, 0.6)
        np.testing.assert_allclose(predictor.estimate(context), expected[0], rtol=1e-8)
        np.testing.assert_allclose(predictor.predict(context), expected[1], rtol=1e-8)


def test_features_that_are_the_context_are_those_of_an_array():
    array, context = ready(ElementRidge(ROWS)), ready(ElementRidge())
    for _, chosen, losses in history(2):
        array.learn(None, chosen, losses)
        context.learn(ROWS, chosen, losses)
    assert array.predict("any").tolist() == context.predict(ROWS.tolist()).tolist()


def test_many_updates_do_not_add_up_rounding_errors():
    """Nearly equal features and a small penalty: the design has a condition of 1e9."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(K, 1)) + 1e-3 * rng.normal(size=(K, P))
    predictor = ready(ElementRidge(rows, ridge=1e-3, alpha=1.0))
    for _ in range(20_000):
        predictor.learn(None, np.arange(K), rng.random(K))
    design = 1e-3 * np.eye(P) + 20_000 * rows.T @ rows
    widths = np.sqrt(np.einsum("ki,ij,kj->k", rows, np.linalg.inv(design), rows))
    measured = predictor._lower(None, 0.0) - predictor.predict(None)
    np.testing.assert_allclose(measured / measured[0], widths / widths[0], rtol=1e-5)


@for_each("kind", KINDS)
def test_losses_of_any_range_are_predicted_in_their_unit(kind):
    plain = ready(KINDS[kind]())
    rewards = ready(KINDS[kind](loss_range=(-50.0, 0.0)))
    for x, chosen, losses in history(1):
        plain.learn(x, chosen, losses)
        rewards.learn(x, chosen, 50.0 * losses - 50.0)
        for ask in ("predict", "estimate", "baseline"):
            scaled = 50.0 * getattr(plain, ask)(x) - 50.0
            np.testing.assert_allclose(getattr(rewards, ask)(x), scaled, rtol=1e-9, atol=1e-9)
        assert (rewards.estimate(x) >= -50.0).all()
        assert (rewards.estimate(x) <= 0.0).all()


@for_each("kind", KINDS)
@for_each("loss_range", [(0.0, 1.0), (-30.0, 0.0)])
def test_an_unknown_element_is_tried(kind, loss_range):
    predictor = ready(KINDS[kind](loss_range=loss_range))
    x = np.ones(P)
    assert predictor.estimate(x).tolist() == [loss_range[0]] * K
    for _ in range(5):
        predictor.learn(x, [0, 1, 2], [loss_range[1]] * 3)
    if kind != "shared":
        assert predictor.advise(x)[0] == 3


@for_each("kind", KINDS)
def test_a_first_guess_is_the_first_estimate(kind):
    predictor = ready(KINDS[kind](guess=GUESS))
    assert predictor.estimate(np.ones(P)).tolist() == GUESS


@pytest.mark.stat
@for_each("kind", ["means", "each"])
def test_an_element_with_steady_losses_has_a_narrow_width(kind):
    """Widths near α times the element's standard deviation over √n; 200 losses, fixed seed."""
    rng = np.random.default_rng(0)
    predictor = ready(KINDS[kind](loss_range=(0.0, 10.0)), 2)
    for _ in range(200):
        predictor.learn(np.ones(1), [0, 1], [5.0 + 0.1 * rng.normal(), 5.0 + rng.normal()])
    steady, varying = predictor.estimate(np.ones(1)) - predictor.predict(np.ones(1))
    assert varying == pytest.approx(0.7 / np.sqrt(200), rel=0.2)
    assert steady < 0.35 * varying


@for_each("kind", KINDS)
def test_a_sample_stays_until_something_is_learned(kind):
    predictor = ready(KINDS[kind](explore="sample", seed=1))
    twin, other = ready(predictor.clone()), ready(predictor.clone(seed=2))
    x = np.ones(P)
    first = predictor.predict(x).tolist()
    assert predictor.predict(x).tolist() == twin.predict(x).tolist() == first
    assert other.predict(x).tolist() != first
    for _ in range(3):
        predictor.learn(x, [0], [0.5])
    assert predictor.predict(x).tolist() != first
    again = reread(predictor)
    for each in (predictor, again):
        each.learn(x, [1], [0.5])
    assert again.predict(x).tolist() == predictor.predict(x).tolist()


def test_a_sample_is_independent_of_other_generators_with_its_seed():
    predictor = ready(ElementMeans(explore="sample", seed=7))
    normals = predictor.predict(0) / -predictor.baseline(0)
    assert np.abs(normals - np.random.default_rng(7).standard_normal(K)).min() > 1e-3


@pytest.mark.stat
@for_each("kind", KINDS)
def test_samples_have_the_mean_and_the_width_of_the_bound(kind):
    """4,000 samples, fixed seed: means within 5 standard errors, deviations within 6 %."""
    predictor = taught(ready(KINDS[kind](explore="sample")), history(3))
    x = np.array([0.5, -1.0, 2.0])
    means, widths = predictor._lower(x, 0.0), predictor._lower(x, 0.0) - predictor.baseline(x)
    samples = []
    for _ in range(4_000):
        samples.append(predictor.predict(x))
        predictor.learn(x, [], [])
    scores = (np.array(samples) - means) / widths
    assert np.abs(scores.mean(axis=0)).max() < 5.0 / np.sqrt(4_000)
    np.testing.assert_allclose(scores.std(axis=0), 1.0, rtol=0.06)
    if kind == "shared":  # the weights are drawn, so elements with equal features agree
        exact = np.cov(scores.T)
        inverse = predictor._fits[0, 1:] @ predictor._fits[0, 1:].T
        joint = ROWS @ inverse @ ROWS.T
        sizes = np.sqrt(np.diag(joint))
        np.testing.assert_allclose(exact, joint / np.outer(sizes, sizes), atol=0.08)


@for_each("kind", KINDS)
def test_a_single_loss_and_all_losses_are_learned_as_arrays_are(kind):
    single, arrays = ready(KINDS[kind]()), ready(KINDS[kind]())
    x = np.ones(P)
    for k in (2, 0, 2):
        single.learn(x, k, 0.25)
        arrays.learn(x, np.array([k]), np.array([0.25]))
    single.learn(x, range(K), [0.1, 0.2, None, 0.4])
    arrays.learn(x, np.array([0, 1, 3]), np.array([0.1, 0.2, 0.4]))
    single.learn(x, 1, float("nan"))
    assert single.predict(x).tolist() == arrays.predict(x).tolist()


@for_each("kind", KINDS)
def test_callers_may_change_the_returned_arrays(kind):
    predictor = taught(ready(KINDS[kind](explore="bound")), history(0))
    x = np.ones(P)
    for ask in (predictor.predict, predictor.estimate, predictor.baseline):
        before = ask(x).tolist()
        ask(x)[:] = 7.0
        assert ask(x).tolist() == before


@for_each("kind", KINDS)
@for_each(
    ("action", "loss", "error"),
    [
        (0, np.inf, hn.LossError),
        ([0, 1], [0.5, -np.inf], hn.LossError),
        ([0, 1], [0.5], hn.LossError),
        ([0, 1], "ab", hn.InputTypeError),
        (K, 0.5, hn.ParameterError),
        ([-1, 0], [0.5, 0.5], hn.ParameterError),
        (np.arange(K), hn.losses.Coverage([[0], [1], [0, 1], [1]]), hn.InputTypeError),
    ],
)
def test_a_wrong_observation_raises_and_leaves_no_trace(kind, action, loss, error):
    predictor = taught(ready(KINDS[kind](explore="sample")), history(0))
    before = predictor.predict(np.ones(P)).tolist()
    with pytest.raises(error):
        predictor.learn(np.ones(P), action, loss)
    assert predictor.predict(np.ones(P)).tolist() == before


@for_each("kind", KINDS)
def test_a_predictor_that_was_not_prepared_says_so(kind):
    x = np.ones(P)
    for ask in (
        lambda predictor: predictor.predict(x),
        lambda predictor: predictor.estimate(x),
        lambda predictor: predictor.advise(x),
        lambda predictor: predictor.learn(x, 1, 0.5),
    ):
        with pytest.raises(hn.OrderError, match=r"call prepare\(n_actions\) first"):
            ask(KINDS[kind]())


@for_each(
    "context", [None, [1.0, 2.0], np.full(P, np.nan), np.full(P, 1e200), "rain", np.ones((2, P))]
)
@for_each("features", [None, lambda x: x])
@for_each("each", [True, False])
def test_wrong_features_raise_and_leave_no_trace(context, features, each):
    predictor = ready(ElementRidge(features, each=each))
    good = np.ones(P) if each else ROWS
    predictor.learn(good, [1], [0.5])
    before = predictor.predict(good).tolist()
    for ask in (predictor.predict, lambda x: predictor.learn(x, [1], [0.5])):
        with pytest.raises(hn.ContextError, match="features"):
            ask(context)
    assert predictor.predict(good).tolist() == before


@for_each(
    ("make", "name"),
    [
        (lambda: ElementMeans(alpha=-1.0), "alpha"),
        (lambda: ElementMeans(by_context="no"), "by_context"),
        (lambda: ElementMeans(guess="abc"), "guess"),
        (lambda: ElementMeans(guess=[0.5, np.nan]), "guess"),
        (lambda: ElementMeans(guess=[0.5, 1.5]), "guess"),
        (lambda: ready(ElementMeans(guess=[0.5, 0.5])), "guess"),
        (lambda: ElementMeans(loss_range=None), "loss_range"),
        (lambda: ElementMeans(explore="both"), "explore"),
        (lambda: ElementMeans(seed=-1), "seed"),
        (lambda: ElementRidge(ROWS, ridge=0.0), "ridge"),
        (lambda: ElementRidge(ROWS, each=1), "each"),
        (lambda: ElementRidge(ROWS, each=True), "features"),
        (lambda: ElementRidge("abc"), "features"),
        (lambda: ElementRidge([1.0, 2.0]), "features"),
        (lambda: ready(ElementRidge(ROWS[:2])), "features"),
    ],
)
def test_bad_parameters_raise(make, name):
    with pytest.raises(hn.ParameterError, match=name):
        make()


@for_each(
    "make",
    [
        ElementMeans,
        lambda: ElementMeans(by_context=False, explore="sample"),
        lambda: ElementRidge(lambda x: np.ones((5, P))),
        lambda: ElementRidge(each=True),
    ],
)
def test_more_elements_begin_without_observations(make):
    predictor = taught(ready(make(), 5), history(0))
    twin, x = predictor.extended(5), np.ones(P)
    assert twin.predict(x).tolist() == predictor.predict(x).tolist()
    if callable(getattr(predictor, "features", None)):
        return
    more = predictor.extended(6)
    assert more.estimate(x)[:5].tolist() == predictor.estimate(x).tolist()
    assert more.estimate(x)[5] == 0.0
    more.learn(x, [5], [1.0])
    assert more.estimate(x)[5] > 0.0
    assert more.estimate(x)[:5].tolist() == predictor.estimate(x).tolist()
    assert twin.predict(x).tolist() == predictor.predict(x).tolist()


@for_each("predictor", [ElementMeans(guess=GUESS), ElementRidge(ROWS), ElementRidge(guess=GUESS)])
def test_numbers_for_each_element_cannot_be_extended(predictor):
    with pytest.raises(hn.ParameterError, match=r"cannot take more elements. Pass"):
        ready(predictor.clone()).extended(K + 1)


@for_each("kind", KINDS)
def test_a_file_with_another_number_of_elements_is_damaged(kind):
    predictor = ready(KINDS[kind](guess=GUESS))
    predictor._n_actions = K + 1
    with pytest.raises(hn.DamagedFileError, match="_n_actions"):
        reread(predictor)


@for_each(
    "predictor",
    [
        ElementMeans(by_context=is_positive, loss_range=(0.0, 9.0)),
        ElementRidge(crossed, loss_range=(0.0, 9.0), explore="sample"),
        ElementRidge(each=True, loss_range=(0.0, 9.0)),
    ],
)
def test_a_learner_on_sets_continues_from_a_file(tmp_path, predictor):
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.PerContext(hn.oracles.Subsets(K, 2), [(1.0, 2.0, 0.5), (-1.0, 0.5, 2.0)]),
        predictor=predictor,
        trust="baseline",
        loss_range=(0.0, 9.0),
        seed=0,
    )
    rng = np.random.default_rng(0)
    contexts = learner.oracle.contexts
    for t in range(10):
        learner.update(9.0 * rng.random(K)[learner.act(contexts[t % 2])])
    learner.save(tmp_path / "elements")
    again = hn.load(tmp_path / "elements", trusted=[is_positive, crossed])
    for t in range(10):
        losses = 9.0 * rng.random(K)
        actions = [player.act(contexts[t % 2]) for player in (learner, again)]
        assert actions[0].tolist() == actions[1].tolist()
        for player in (learner, again):
            player.update(losses[actions[0]])
