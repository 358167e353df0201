import copy
import importlib
import pickle

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from tests import digits, problems
from tests.cases import Match

COMPLETE = ("--epsilon 0.1", "--squarecb", "--regcb", "--softmax --lambda 3", "--synthcover -l 1")
CONTRACT = {"VowpalWabbit": Match(hn.baselines.VowpalWabbit(3, seed=0), problems.PLANTED)}


def rounds(T, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(3, 4))
    rows = rng.normal(size=(T, 4))
    rows[::3, 1] = 0.0
    return [(row, 1 / (1 + np.exp(weights @ row))) for row in rows]


def play(learner, some):
    actions = []
    for context, losses in some:
        actions.append(learner.act(context))
        learner.update(float(losses[actions[-1]]))
    return actions


@pytest.mark.parametrize("arguments", [*COMPLETE, "--cover 3", "--bag 3"])
def test_laws_equal_those_of_the_text_interface(arguments):
    vw = pytest.importorskip("vowpalwabbit")
    native = vw.Workspace(f"--cb_explore_adf --quiet -q xa {arguments} --random_seed 4")
    learner = hn.baselines.VowpalWabbit(3, arguments, seed=4)
    moved = 0.0
    for row, losses in rounds(400):
        shown = "shared |x " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row.tolist()))
        lines = [shown, "|a 0", "|a 1", "|a 2"]
        distribution = np.array(native.predict(lines))
        np.testing.assert_allclose(learner.probabilities(row), distribution, atol=2e-5)
        action = learner.act(row)
        cost = float(losses[action])
        lines[1 + action] = f"{action}:{cost!r}:{float(distribution[action])!r} |a {action}"
        native.learn(lines)
        learner.update(cost)
        moved = max(moved, distribution.max() - 1 / 3)
    assert moved > 0.1


@pytest.mark.stat
def test_play_follows_the_law():
    # Chi-square at 1e-4, for play and for copies that are asked.
    learner = hn.baselines.VowpalWabbit(3, "--epsilon 0.5", seed=0)
    play(learner, rounds(100))
    context = rounds(1, seed=9)[0][0]
    distribution = learner.probabilities(context)
    assert sorted(distribution.round(4)) == [0.1667, 0.1667, 0.6667]
    for sample in (
        learner.would_play(context, copies=3000, seed=1),
        [learner.act(context) for _ in range(3000)],
    ):
        counts = np.bincount(sample, minlength=3)
        assert stats.chisquare(counts, 3000 * distribution / distribution.sum()).pvalue > 1e-4


def test_asking_changes_nothing():
    some = rounds(60)
    asked, silent = (hn.baselines.VowpalWabbit(3, seed=0) for _ in range(2))
    found = []
    for context, losses in some:
        before = asked.would_play(context, copies=4, seed=len(found))
        assert before == asked.would_play(context, copies=4, seed=len(found))
        found += play(asked, [(context, losses)])
    assert found == play(silent, some)


@pytest.mark.parametrize("arguments", COMPLETE)
def test_copies_play_on_in_the_middle_of_a_round(arguments):
    some = rounds(500)
    learner = hn.baselines.VowpalWabbit(3, arguments, seed=3)
    play(learner, some[:300])
    context, losses = some[300]
    action = learner.act(context)
    twins = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for each in (learner, *twins):
        each.update(float(losses[action]))
    expected = play(learner, some[301:])
    assert len(set(expected)) > 1
    for twin in twins:
        assert play(twin, some[301:]) == expected
        assert twin.rounds == 500
        assert (twin.probabilities(context) == learner.probabilities(context)).all()


def test_contexts_may_be_rows_or_names():
    learner = hn.baselines.VowpalWabbit(2, "--epsilon 0.2", seed=0)
    best = {"sun": 0, "rain": 1, 3: 0, 4: 1, ("a", 1): 1, None: 0}
    for _ in range(60):
        for context, action in best.items():
            learner.update(float(learner.act(context) != action))
    for context, action in [*best.items(), (np.int64(3), 0)]:
        assert learner.probabilities(context).argmax() == action
    for row in rounds(40, seed=1):
        play(learner, [(row[0].tolist(), row[1])])
    with pytest.raises(hn.ContextError, match="finite"):
        learner.act([0.0, np.nan])


@pytest.mark.stat
def test_digits():
    # 0.14 over 10,000 rounds with --synthcover, uniform play 0.9.
    learner = hn.baselines.VowpalWabbit(digits.K, "--synthcover", seed=0)
    assert digits.mean_loss(learner, 2500, seed=0) < 0.45


def test_a_larger_loss_range_only_rescales():
    small = hn.baselines.VowpalWabbit(3, seed=0)
    large = hn.baselines.VowpalWabbit(3, seed=0, loss_range=(-1.0, 3.0))
    some = [(context, losses.round(2)) for context, losses in rounds(100)]
    assert play(small, some) == play(large, [(x, 4 * losses - 1) for x, losses in some])


def test_the_seed_reaches_the_random_numbers_of_vw():
    distributions = []
    for seed in (0, 1):
        learner = hn.baselines.VowpalWabbit(3, "--bag 5", seed=seed)
        for t, (context, losses) in enumerate(rounds(30)):
            opened = learner.begin(context)
            opened.play(t % 3)  # the same lesson, whatever was drawn
            opened.probability = 1 / 3
            learner.close(opened, float(losses[t % 3]), recorded=False)
        distributions.append([learner.probabilities(x).tolist() for x, _ in rounds(30, seed=5)])
    assert distributions[0] != distributions[1]


@pytest.mark.parametrize("bad", ["--nonsense", "--cb_explore 3", "--epsilon much", "'", 3, None])
def test_bad_arguments_are_refused(bad):
    with pytest.raises(hn.ParameterError, match="'arguments' parameter of VowpalWabbit"):
        hn.baselines.VowpalWabbit(3, bad)


def test_bad_losses_change_nothing():
    learner, twin = (hn.baselines.VowpalWabbit(3, seed=0) for _ in range(2))
    some = rounds(40)
    found = []
    for context, losses in some:
        found.append(learner.act(context))
        for bad in (np.nan, 1.5, None, [0.0, 0.1]):
            with pytest.raises(hn.HannanError):
                learner.update(bad)
        learner.update(float(losses[found[-1]]))
    assert found == play(twin, some)


def test_without_the_package_the_extra_is_named(monkeypatch):
    original = importlib.import_module

    def missing(name, *rest):
        if name == "vowpalwabbit":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(hn.MissingPackageError, match=r"pip install 'hannan\[vw\]'"):
        hn.baselines.VowpalWabbit(3)


@pytest.mark.parametrize("options", [
    "-f {}", "--final_regressor {}", "--final_regressor={}", "-f{}", "-p {}", "-r {}", "-c",
    "--cache_file {}", "--readable_model {}", "--invert_hash {}", "--squarecb -d {}", "{}",
    "--squarecb {} {}", "--daemon", "--pid_file {}", "--sendto {}", "--epsilon 0.1 {}",
    "--extra_metrics {}", "-i {}", "--feature_mask {}", "--dictionary x:{}", "--epsilon '0.1",
])  # fmt: skip
def test_no_option_reads_or_writes_a_file(options, tmp_path):
    file = tmp_path / "file"
    with pytest.raises(hn.ParameterError, match="'arguments' parameter of VowpalWabbit"):
        hn.baselines.VowpalWabbit(3, options.format(file, file), seed=0)
    assert list(tmp_path.iterdir()) == []
