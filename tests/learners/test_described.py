"""Learners of described actions: ids, late feedback, files, refused calls, exploration, logs."""

import copy
import shutil

import examples.worlds.items
import numpy as np
import pytest
from examples.worlds import Items

import hannan as hn
from hannan.core.storage import reread
from tests.cases import Match
from tests.core.test_rounds import delays, in_order_of_arrival, late_actions
from tests.described import RULES, menus, play

ITEMS = Items(4, 10)
SHARED = hn.oracles.SharedLinear()


def base(**options):
    return hn.ContextSemiBanditFTPL(SHARED, seed=0, **options)


CONTRACT = {
    "ContextSemiBanditFTPL, described": Match(base(), ITEMS, no_regret=False),
    "ContextSemiBanditFTPL, hybrid": Match(
        base(predictor=hn.predictors.Hybrid(cosines=10)), ITEMS, no_regret=False
    ),
    "ContextSemiBanditFTPL, rules": Match(
        hn.ContextSemiBanditFTPL(hn.oracles.ListedRules(RULES), seed=0), ITEMS, no_regret=False
    ),
    "Restarting, described": Match(hn.bandit(actions="items", seed=0), ITEMS, no_regret=False),
}
ROWS = {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0], "c": [0.0, 0.0, 1.0]}


def learners():
    return [
        hn.bandit(actions="items", seed=0),
        base(),
        hn.ContextSemiBanditFTPL(hn.oracles.ListedRules(RULES), seed=0),
        hn.off_policy.Recorder(hn.bandit(actions="items", seed=0)),
        hn.baselines.UniformRandom(None, seed=0),
        hn.baselines.ItemLinUCB(),
    ]


@pytest.mark.parametrize("learner", learners(), ids=lambda each: type(each).__name__)
def test_the_answer_is_an_id_where_there_are_ids(learner):
    x = np.zeros(2)
    assert learner.act(x, actions=ROWS) in ROWS
    learner.update(0.3)
    assert learner.act(x, actions=list(ROWS.values()), ids=list(ROWS)) in ROWS
    learner.update(0.3)
    decision = learner.decide(x, actions=ROWS)
    assert decision.action in ROWS
    assert decision.context.ids == tuple(ROWS)
    learner.update(0.5, decision=decision)
    assert set(learner.would_play(x, 5, actions=ROWS)) <= set(ROWS)
    distribution = learner.propensities(x, actions=ROWS).probabilities
    assert distribution.shape == (3,)
    assert distribution.sum() == pytest.approx(1.0)
    made = learner.decide_many([x, x], actions=[ROWS, ROWS])
    assert all(each.action in ROWS for each in made)
    for each in made:
        learner.update(0.1, decision=each)


@pytest.mark.parametrize(
    "learner", [each for each in learners() if not isinstance(each, hn.baselines.ItemLinUCB)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_the_answer_is_a_number_where_there_are_none(learner):
    x, rows = np.zeros(2), list(ROWS.values())
    assert learner.act(x, actions=rows) in range(3)
    learner.update(0.3)
    assert learner.act(hn.Menu(x, rows, ["a", "b", "c"])) in range(3)  # as environments ask
    learner.update(0.3)
    assert learner.decide(x, actions=np.array(rows)).action in range(3)


def test_actions_menus_and_ids_are_the_same_play():
    plays = []
    for form in range(3):
        learner, found = hn.bandit(actions="items", seed=3), []
        rng = np.random.default_rng(0)
        for menu in menus(80, 2, ids=True):
            if form == 0:
                action = learner.act(menu)
            elif form == 1:
                action = menu.index(learner.act(menu.context, actions=menu.rows, ids=menu.ids))
            else:
                rows = dict(zip(menu.ids, menu.rows.tolist(), strict=True))
                action = menu.index(learner.act(menu.context.tolist(), actions=rows))
            learner.update(float(rng.random() < 0.5))
            found.append(action)
        plays.append(found)
    assert plays[0] == plays[1] == plays[2]


BAD = [
    ({"actions": []}, hn.ContextError),
    ({"actions": [[1.0, 2.0]]}, hn.ContextError),
    ({"actions": [[1.0, 2.0, np.nan]]}, hn.ContextError),
    ({"actions": [[1.0, 2.0, 3.0]], "ids": ["a", "b"]}, hn.ParameterError),
    ({"actions": [[1.0, 2.0, 3.0]] * 2, "ids": ["a", "a"]}, hn.ParameterError),
    ({"ids": ["a"]}, hn.ParameterError),
    ({}, hn.ContextError),
    ({"actions": ROWS, "available": [0]}, hn.ParameterError),
    ({"actions": ROWS, "context": np.zeros(5)}, hn.ContextError),
    ({"actions": ROWS, "context": "x"}, hn.ContextError),
    ({"actions": ROWS, "context": hn.Menu(None, [[1.0]])}, hn.ParameterError),
]


@pytest.mark.parametrize(("given", "error"), BAD)
@pytest.mark.parametrize("verb", ["act", "decide", "would_play"])
def test_refused_calls_change_nothing(given, error, verb):
    learner, twin = (hn.bandit(actions="items", seed=0) for _ in range(2))
    play(learner, 30)
    play(twin, 30)
    with pytest.raises(error):
        getattr(learner, verb)(**{"context": np.zeros(2), **given})
    assert play(learner, 40, seed=1) == play(twin, 40, seed=1)
    assert learner.certificate() == twin.certificate()


def test_asking_changes_nothing():
    learner, twin = (hn.bandit(actions="items", seed=0) for _ in range(2))
    for _ in range(3):
        learner.propensities(np.zeros(4), actions=np.ones((2, 7)))  # of any width, before play
        learner.would_play(np.zeros(1), 3, actions=np.ones((5, 2)))
    assert play(learner, 40) == play(twin, 40)


def test_plain_learners_refuse_actions_by_name():
    for learner in (hn.bandit(3, seed=0), hn.bandit(3, n_contexts=1, seed=0)):
        for verb in ("act", "decide", "propensities", "would_play"):
            with pytest.raises(hn.ParameterError, match="same in every round"):
                getattr(learner, verb)(np.zeros(2), actions=[[1.0]])
        with pytest.raises(hn.ParameterError, match="same in every round"):
            learner.decide_many([np.zeros(2)], actions=[[[1.0]]])


@pytest.mark.parametrize("make", range(4))
def test_files_and_copies_go_on_as_before(make):
    learner = learners()[make]
    play(learner, 30, ids=True)
    decision = learner.decide(np.zeros(2), actions=ROWS)
    for twin in (reread(learner), copy.deepcopy(learner)):
        original = copy.deepcopy(learner)
        for one in (original, twin):
            one.update(0.25, decision=decision.id)
        assert play(twin, 40, seed=5, ids=True) == play(original, 40, seed=5, ids=True)


def test_a_named_round_is_answered_after_a_file():
    learner = hn.bandit(actions="items", seed=0)
    chosen = learner.decide(np.zeros(2), actions=ROWS)
    twin = reread(learner)
    twin.update(0.5, decision=chosen)  # its action is an id, in the file too
    assert twin.rounds == 1


def test_feedback_may_be_late_and_sets_of_any_size():
    learner = hn.bandit(actions="items", seed=0)
    open_ = [learner.decide(menu) for menu in menus(40, 3)]
    for decision in open_[::-1]:
        learner.update(0.4, decision=decision)
    assert learner.rounds == 40
    assert all(0.0 < decision.propensity <= 1.0 for decision in open_)


@pytest.mark.parametrize("make", [1, 2, 4, 5])
def test_late_feedback_is_learned_in_the_order_of_arrival(make):
    rng = np.random.default_rng(0)
    rounds = [(menu, rng.random(len(menu))) for menu in menus(60, 6, ids=True)]
    learner, twin = learners()[make], learners()[make]
    found = late_actions(learner, rounds, delays(60, 9))
    if make in (4, 5):  # the others keep weights of the decision besides
        assert found == in_order_of_arrival(twin, rounds, delays(60, 9))
    assert learner.rounds + len(learner.open_decisions) == 60


@pytest.mark.stat
def test_propensities_are_those_of_play():
    learner = hn.bandit(actions="items", seed=0)
    play(learner, 100)
    for menu in menus(3, 9):
        distribution = learner.propensities(menu).probabilities
        drawn = np.bincount(learner.would_play(menu, 4000), minlength=len(menu)) / 4000
        assert np.abs(distribution - drawn).max() < 5 * 0.5 / np.sqrt(4000)  # five standard errors


def test_exploration_is_the_least_probability_of_each():
    learner = hn.bandit(actions="items", seed=0, exploration=0.05)
    for menu in menus(50, 4):
        assert learner.propensities(menu).probabilities.min() >= 0.05 - 1e-12
        learner.act(menu)
        learner.update(0.5)
    with pytest.raises(hn.ParameterError, match="each of 20 actions"):
        learner.act(np.zeros(2), actions=np.ones((20, 3)))
    with pytest.raises(hn.ParameterError, match="exploration"):
        hn.bandit(actions="items", exploration=0.5)


def test_exploration_is_in_the_bound():
    bounds = []
    for exploration in (0.0, 0.02):
        rules = hn.oracles.ListedRules(RULES)
        learner = hn.ContextSemiBanditFTPL(rules, seed=0, exploration=exploration)
        play(learner, 60)
        assert reread(learner).regret_bound() == learner.regret_bound()
        bounds.append(learner.regret_bound())
    assert bounds[0] + 60 * 0.02 * 6 <= bounds[1] < 2.0 * bounds[0]


def test_rewards_and_other_ranges():
    learner = hn.bandit(actions="items", seed=0, loss_range=(0.0, 5.0))
    for menu in menus(60):
        learner.act(menu)
        learner.update(4.5)
    rewards = base(loss_range=(-2.0, 0.0))
    for menu in menus(60):
        rewards.act(menu)
        rewards.update(-1.5)
    assert (learner.rounds, rewards.rounds) == (60, 60)


def test_predictors_must_suit_the_actions():
    with pytest.raises(hn.ParameterError, match="Blend is for fixed actions"):
        base(predictor=hn.predictors.Blend())
    with pytest.raises(hn.ParameterError, match="Hybrid is for actions with features"):
        hn.bandit(3, predictor=hn.predictors.Hybrid())


@pytest.mark.parametrize(
    "given",
    [
        {"actions": "named"},
        {"actions": "items", "n_actions": 3},
        {"actions": "items", "n_contexts": 3},
        {"actions": "items", "policies": hn.oracles.AllPolicies(1, 2)},
        {},
    ],
)
def test_the_recommended_learner_refuses_by_name(given):
    with pytest.raises(hn.ParameterError):
        hn.bandit(**given)


@pytest.mark.parametrize(
    "make",
    [
        hn.ContextFTPL,
        hn.AdaptiveDiscount,
        hn.baselines.FollowTheLeader,
        hn.experts,
        lambda oracle: hn.FTPL(oracle, lambda rng: ([], [])),
        lambda oracle: hn.PlayoutFTPL(oracle, menus(3)),
        lambda oracle: hn.PlayoutBandit(oracle, menus(3)),
    ],
)
@pytest.mark.parametrize("oracle", [SHARED, hn.oracles.ListedRules(RULES)])
def test_learners_that_cannot_deal_with_them_refuse_by_name(make, oracle):
    with pytest.raises(hn.HannanError, match=r"described|actions"):
        make(oracle)


def test_theorems_epsilon_needs_a_number_of_actions():
    with pytest.raises(hn.ParameterError, match="fixed number of actions"):
        base(epsilon="theorem", horizon=100, contexts=menus(2))


def test_it_starts_over_when_the_world_changes():
    learner = hn.bandit(actions="items", seed=0)
    rng = np.random.default_rng(0)
    for t in range(3000):
        rows = rng.normal(size=(5, 2))
        action = learner.act(actions=rows)
        good = rows[action, 0] > 0.0
        learner.update(float(good if t < 1500 else not good))
    assert len(learner.restarts) == 1
    assert 1500 < learner.restarts[0] < 1700


def test_a_recorded_game_is_a_log_of_menus():
    recorder = hn.off_policy.Recorder(hn.bandit(actions="items", seed=0, exploration=0.02))
    play(recorder, 80, ids=True)
    log = recorder.log()
    assert log.takes_items
    assert (len(log), log.n_actions) == (80, 6)
    assert [len(menu) for menu in log.contexts] == [len(menu) for menu in menus(80)]
    estimate = hn.off_policy.evaluate(log, lambda menu: 0, "ips")
    chosen = log.actions == 0
    assert estimate.value == pytest.approx((chosen * log.losses / log.propensities).mean())


def test_experiments_play_items(tmp_path):
    from hannan.experiments.plan import make_plan
    from hannan.experiments.run import run

    shutil.copy(examples.worlds.items.__file__, tmp_path / "mine.py")
    plan = make_plan(
        {
            "title": "items",
            "seeds": [0],
            "horizon": 40,
            "environments": {"items": {"type": "mine:Items", "policies": {"type": "SharedLinear"}}},
            "learners": {
                "ours": {"type": "bandit", "actions": "items"},
                "linucb": {"type": "ItemLinUCB"},
                "uniform": {"type": "UniformRandom"},
            },
        },
        folder=tmp_path,
    )
    done = run(plan, tmp_path)
    assert not done.failures
    assert len(done.records) == 4  # and the best policy in hindsight
