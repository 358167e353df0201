import numpy as np
import pytest

import hannan as hn
from hannan.perturbation import seed_key
from tests import naive, problems

KINDS = problems.KINDS


def hard_rounds(d, K, T, seed=0):
    """Rounds in which leads change often: one element a round costs, in turns."""
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(d)), np.eye(K)[(t + rng.integers(2)) % K]) for t in range(T)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_self_tuned_play_equals_its_slow_twin(kind, seed):
    oracle, rows = problems.make(kind, seed=seed)
    learner = hn.ContextFTPL(oracle, range(3), seed=seed)
    unit = oracle.noise(range(3), seed_key(seed), 0, 2**20).unit
    rounds = hard_rounds(3, 3, 120, seed)
    expected, D = naive.self_tuned(rows, range(3), rounds, unit, learner.complexity.value)
    found, seen = [], []
    for context, losses in rounds:
        found.append(learner.act(context))
        learner.update(losses)
        seen.append(learner.step.D)
    assert found == expected
    assert seen == pytest.approx(D)
    assert D[-1] > 3


@pytest.mark.parametrize("kind", KINDS)
def test_self_tuning_with_fresh_noise_for_the_second_leader_would_be_noticed(kind):
    # The twin with another draw for the foreseeing leader measures something else.
    oracle, rows = problems.make(kind)
    learner = hn.ContextFTPL(oracle, range(3), seed=0)
    rounds = hard_rounds(3, 3, 120)
    problems.play(learner, rounds)
    unit = oracle.noise(range(3), seed_key(0), 0, 2**20).unit
    G, D, history, negative = learner.complexity.value, 0.0, [], 0
    for t, (context, losses) in enumerate(rounds):
        now = naive.fakes_of(range(3), unit(t), D / G)
        other = naive.fakes_of(range(3), unit(10_000 + t), D / G)
        action = rows[naive.leader(rows, now + history)][context]
        history.append((context, losses))
        increment = losses[action] - losses[rows[naive.leader(rows, other + history)][context]]
        negative += increment < 0
        D += increment
    assert negative > 0
    assert pytest.approx(D) != learner.step.D


@pytest.mark.parametrize("kind", KINDS)
def test_what_instability_costs_is_never_negative(kind):
    oracle, _ = problems.make(kind, d=4, K=3, N=12, seed=5)
    learner = hn.ContextFTPL(oracle, range(4), seed=0, loss_range=(-1, 1))
    before = 0.0
    for context, losses in problems.rounds(4, 3, 300, seed=1, low=-1):
        learner.act(context)
        learner.update(losses)
        assert before <= learner.step.D
        before = learner.step.D
    assert before > 0


def test_before_anything_was_lost_the_plain_leader_is_played():
    oracle, rows = problems.make("FinitePolicies")
    learner = hn.ContextFTPL(oracle, seed=0)
    assert learner.act(2) == rows[0][2]
    assert learner.step.D == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["adaptive", 0.3])
def test_memory_for_noise_never_changes_the_play(kind, epsilon, monkeypatch):
    oracle, _ = problems.make(kind, d=5, K=3, N=40)
    rounds = hard_rounds(5, 3, 150)
    plays = []
    for memory in (1, 2000, 2**26):
        monkeypatch.setattr(hn.ContextFTPL, "noise_memory", memory)
        learner = hn.ContextFTPL(oracle, range(5), epsilon=epsilon, seed=6)
        plays.append(problems.play(learner, rounds))
    assert plays[0] == plays[1] == plays[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_fixes_the_play_and_another_seed_changes_it(kind):
    oracle, _ = problems.make(kind)
    rounds = hard_rounds(3, 3, 100)
    one, same, other = (
        problems.play(hn.ContextFTPL(oracle, range(3), epsilon=0.2, seed=s), rounds)
        for s in (1, 1, 2)
    )
    assert one == same != other


def test_without_a_seed_every_learner_plays_differently():
    oracle = hn.oracles.AllPolicies(1, 5)
    rounds = [(0, np.zeros(5))] * 60
    plays = [problems.play(hn.ContextFTPL(oracle, epsilon=1.0), rounds) for _ in range(2)]
    assert plays[0] != plays[1]


@pytest.mark.parametrize("kind", KINDS)
def test_noise_drawn_once_is_the_same_in_every_round(kind):
    oracle, rows = problems.make(kind, seed=4)
    learner = hn.ContextFTPL(oracle, range(3), epsilon=0.4, noise="once", seed=2)
    zeta = oracle.noise(range(3), seed_key(2), 0, 2**16).unit(0)
    fakes = naive.fakes_of(range(3), zeta, 1 / 0.4)
    history = []
    for context, losses in problems.rounds(3, 3, 60, seed=9):
        assert learner.act(context) == rows[naive.leader(rows, fakes + history)][context]
        learner.update(losses)
        history.append((context, losses))


@pytest.mark.parametrize("kind", KINDS)
def test_fresh_noise_is_another_draw_in_every_round(kind):
    oracle, rows = problems.make(kind, seed=4)
    learner = hn.ContextFTPL(oracle, range(3), epsilon=0.4, seed=2)
    unit = oracle.noise(range(3), seed_key(2), 0, 2**16).unit
    history = []
    for t, (context, losses) in enumerate(problems.rounds(3, 3, 60, seed=9)):
        fakes = naive.fakes_of(range(3), unit(t), 1 / 0.4)
        assert learner.act(context) == rows[naive.leader(rows, fakes + history)][context]
        learner.update(losses)
        history.append((context, losses))


def test_play_without_loss_is_constant_with_noise_once_and_varies_with_fresh_noise():
    oracle = hn.oracles.AllPolicies(1, 4)
    rounds = [(0, np.zeros(4))] * 50
    once = problems.play(hn.ContextFTPL(oracle, epsilon=1.0, noise="once", seed=0), rounds)
    fresh = problems.play(hn.ContextFTPL(oracle, epsilon=1.0, seed=0), rounds)
    assert len(set(once)) == 1
    assert len(set(fresh)) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_that_replaces_another_takes_the_next_draw(kind):
    oracle, rows = problems.make(kind, seed=4)
    learner = hn.ContextFTPL(oracle, range(3), epsilon=0.2, seed=2)
    unit = oracle.noise(range(3), seed_key(2), 0, 2**16).unit
    history, draw = [], 0
    for t, (context, losses) in enumerate(problems.rounds(3, 3, 40)):
        for _ in range(1 + t % 3):
            fakes = naive.fakes_of(range(3), unit(draw), 1 / 0.2)
            assert learner.act(context) == rows[naive.leader(rows, fakes + history)][context]
            draw += 1
        learner.update(losses)
        history.append((context, losses))
    assert learner.leader.number == draw == 79


def test_losses_are_learned_for_the_last_context_acted_on():
    oracle = hn.oracles.AllPolicies(2, 2)
    learner = hn.ContextFTPL(oracle, seed=0)
    learner.act(0)
    learner.act(1)
    learner.update([1.0, 0.0])
    assert [learner.best_policy()(x) for x in (0, 1)] == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_current_round_is_not_in_the_history_when_acting(kind):
    # Two games that differ in the losses of round t only: the action of round t is the same.
    oracle, _ = problems.make(kind)
    rounds = problems.rounds(3, 3, 30)
    for t in range(30):
        learners = [hn.ContextFTPL(oracle, range(3), epsilon=0.5, seed=1) for _ in range(2)]
        for learner in learners:
            problems.play(learner, rounds[:t])
        context, losses = rounds[t]
        actions = []
        for learner, shown in zip(learners, (losses, 1 - losses), strict=True):
            actions.append(learner.act(context))
            learner.update(shown)
        assert actions[0] == actions[1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_policy_is_the_unperturbed_leader(kind):
    oracle, rows = problems.make(kind)
    learner = hn.ContextFTPL(oracle, range(3), epsilon=0.1, seed=0)
    history = problems.rounds(3, 3, 40)
    problems.play(learner, history)
    best = learner.best_policy()
    assert [best(x) for x in range(3)] == rows[naive.leader(rows, history)]


def test_theorem_epsilon_is_that_of_the_bound():
    oracle, _ = problems.make("FinitePolicies", d=4, K=3, N=6)
    size = oracle.log_size(range(4))
    expected = hn.bounds.complete_information(500, d=4, n_actions=3, log_size=size).epsilon
    learner = hn.ContextFTPL(oracle, epsilon="theorem", horizon=500, seed=0)
    fixed = hn.ContextFTPL(oracle, epsilon=expected, seed=0)
    rounds = hard_rounds(4, 3, 100)
    assert problems.play(learner, rounds) == problems.play(fixed, rounds)


@pytest.mark.parametrize(
    ("setting", "loss_range", "nonnegative"),
    [("contexts", (-1.0, 1.0), False), ("separator", (0.0, 1.0), True)],
)
def test_theorem_epsilon_follows_the_setting(setting, loss_range, nonnegative):
    oracle, _ = problems.make("FinitePolicies", d=4, K=3, N=6)
    expected = hn.bounds.complete_information(
        500,
        d=4,
        n_actions=3,
        log_size=oracle.log_size(range(4)),
        setting="separator" if setting == "separator" else "transductive",
        nonnegative=nonnegative,
    ).epsilon
    same = {setting: range(4), "loss_range": loss_range, "seed": 0}
    learner = hn.ContextFTPL(oracle, epsilon="theorem", horizon=500, **same)
    fixed = hn.ContextFTPL(oracle, epsilon=expected, **same)
    rounds = hard_rounds(4, 3, 100)
    assert problems.play(learner, rounds) == problems.play(fixed, rounds)


def test_any_context_may_arrive_with_a_separator():
    oracle = hn.oracles.FinitePolicies([[0, 1, 1], [1, 0, 1]])
    learner = hn.ContextFTPL(oracle, separator=[0], seed=0)
    assert problems.play(learner, [(2, np.array([0.5, 0.5])), (1, np.array([0.0, 1.0]))])[0] == 1


def test_one_policy_is_always_played():
    oracle = hn.oracles.FinitePolicies([[1, 0]])
    learner = hn.ContextFTPL(oracle, seed=0)
    rounds = hard_rounds(2, 2, 30)
    assert problems.play(learner, rounds) == [[1, 0][x] for x, _ in rounds]
    assert float(learner.certificate()) == 0.0


def test_a_single_action_leaves_no_choice():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(3, 1), seed=0)
    assert problems.play(learner, [(x % 3, np.array([0.7])) for x in range(10)]) == [0] * 10


def test_repeated_contexts_carry_noise_once():
    oracle = hn.oracles.AllPolicies(2, 3)
    rounds = hard_rounds(2, 3, 80)
    plain = hn.ContextFTPL(oracle, [0, 1], epsilon=0.5, seed=0)
    repeated = hn.ContextFTPL(oracle, [0, 1, 0], epsilon=0.5, seed=0)
    assert problems.play(plain, rounds) == problems.play(repeated, rounds)


@pytest.mark.parametrize(("epsilon", "calls"), [("adaptive", 2), (0.5, 1)])
def test_oracle_calls_are_one_or_two_a_round(epsilon, calls):
    oracle, _ = problems.make("FunctionOracle")
    asked = [0]

    def counting(contexts, losses):
        asked[0] += 1
        return oracle.solve(contexts, losses)

    learner = hn.ContextFTPL(oracle.clone(solve=counting), range(3), epsilon=epsilon, seed=0)
    problems.play(learner, hard_rounds(3, 3, 50))
    estimate = 0 if epsilon == 0.5 else learner.complexity.oracle_calls
    assert learner.oracle_calls == asked[0] == 50 * calls + estimate
