"""The settings in which the learners are checked; see `tests.cases`."""

from examples.worlds import SlateClicks

import hannan as hn
from tests.cases import Match
from tests.problems import ALL, FINITE, FUNCTION, PLANTED, PUNISHER, SLATES

LINEAR = hn.oracles.LinearPolicies(n_actions=3)
VECTORS = hn.environments.CopyPunisher(n_actions=3, n_contexts=5, features=2)
CLICKS = SlateClicks(SLATES)
PUNISHER_OF_ALL = hn.environments.LeaderPunisher(ALL)
FEW = hn.oracles.FinitePolicies([[0], [1], [2]], n_actions=3)


def experts(oracle=FINITE, contexts=None, **settings):
    return hn.ContextFTPL(oracle, contexts, seed=0, **settings)


def bandit(oracle=FINITE, contexts=None, **settings):
    return hn.ContextSemiBanditFTPL(oracle, contexts, seed=0, **settings)


def fakes(rng):
    """Laplace fake outcomes on all contexts."""
    return [(x, rng.laplace(scale=5.0, size=3)) for x in range(4)]


# A tuned ε does not suit every horizon, and a known sequence has only one: no_regret=False.
# In an open world no theorem holds.
CONTRACT = {
    "PlayoutFTPL": Match(
        hn.PlayoutFTPL(FINITE, hn.Pool(range(4)), horizon=60, seed=0), PLANTED, no_regret=False
    ),
    "PlayoutBandit": Match(
        hn.PlayoutBandit(FINITE, hn.Pool(range(4)), horizon=60, seed=0), PLANTED, no_regret=False
    ),
    "ContextFTPL": Match(experts(), PUNISHER),
    "ContextFTPL, scores": Match(experts(ALL), PUNISHER_OF_ALL),
    "ContextFTPL, own solver": Match(
        experts(FUNCTION, range(4), epsilon=0.3), PLANTED, no_regret=False
    ),
    "ContextFTPL, separator": Match(experts(separator=range(4)), PUNISHER),
    "ContextFTPL, once": Match(experts(epsilon=0.2, noise="once"), PLANTED),
    "ContextFTPL, anytime": Match(experts(epsilon="anytime"), PUNISHER),
    "ContextFTPL, anytime, scores": Match(experts(ALL, epsilon="anytime"), PUNISHER_OF_ALL),
    "ContextFTPL, theorem": Match(
        experts(epsilon="theorem", horizon=60), PUNISHER, no_regret=False
    ),
    "ContextFTPL, any loss": Match(experts(loss_range=(-2.0, 3.0)), PUNISHER),
    "ContextFTPL, slates": Match(experts(SLATES), CLICKS, no_regret=False),
    "ContextFTPL, earned trust": Match(experts(predictor=hn.predictors.Mean()), PUNISHER),
    "ContextFTPL, trusted always": Match(
        experts(ALL, predictor=hn.predictors.Last(), trust="always"), PUNISHER_OF_ALL
    ),
    "ContextFTPL, anytime, earned trust": Match(
        experts(epsilon="anytime", predictor=hn.predictors.Mean()), PLANTED
    ),
    "ContextFTPL, theorem, trusted always": Match(
        experts(epsilon="theorem", horizon=60, predictor=hn.predictors.Last(), trust="always"),
        PLANTED,
        no_regret=False,
    ),
    "ContextFTPL, open world": Match(experts(LINEAR), VECTORS, no_regret=False),
    "ContextFTPL, open world, anytime, earned trust": Match(
        experts(LINEAR, epsilon="anytime", predictor=hn.predictors.Ridge()),
        VECTORS,
        no_regret=False,
    ),
    "ContextFTPL, switching": Match(
        experts(hn.oracles.Switching(FEW, 1, sequence=24)),
        hn.environments.PlantedPolicy(FEW),
        no_regret=False,
        horizon=24,
    ),
    "ContextSemiBanditFTPL": Match(bandit(), PLANTED),
    "ContextSemiBanditFTPL, scores": Match(bandit(ALL), PLANTED),
    "ContextSemiBanditFTPL, exact": Match(bandit(ALL, resampling="exact"), PLANTED),
    "ContextSemiBanditFTPL, few draws": Match(
        bandit(max_resamples=3, epsilon=0.2), PLANTED, no_regret=False
    ),
    "ContextSemiBanditFTPL, anytime": Match(bandit(epsilon="anytime"), PLANTED),
    "ContextSemiBanditFTPL, anytime, scores": Match(bandit(ALL, epsilon="anytime"), PLANTED),
    "ContextSemiBanditFTPL, theorem": Match(
        bandit(epsilon="theorem", horizon=60), PLANTED, no_regret=False
    ),
    "ContextSemiBanditFTPL, slates": Match(bandit(SLATES), CLICKS, no_regret=False),
    "ContextSemiBanditFTPL, earned": Match(bandit(predictor=hn.predictors.Mean()), PLANTED),
    "ContextSemiBanditFTPL, earned, scores": Match(
        bandit(ALL, predictor=hn.predictors.Mean()), PLANTED
    ),
    "ContextSemiBanditFTPL, earned, draws": Match(
        bandit(ALL, predictor=hn.predictors.Mean(), resampling=2), PLANTED
    ),
    "ContextSemiBanditFTPL, baseline": Match(
        bandit(predictor=hn.predictors.Mean(), trust="baseline"), PLANTED
    ),
    "ContextSemiBanditFTPL, baseline, slates": Match(
        bandit(SLATES, predictor=hn.predictors.Mean(), trust="baseline"), CLICKS, no_regret=False
    ),
    "ContextSemiBanditFTPL, anytime, earned": Match(
        bandit(epsilon="anytime", predictor=hn.predictors.Mean()), PLANTED
    ),
    "ContextSemiBanditFTPL, theorem, earned": Match(
        bandit(epsilon="theorem", horizon=60, predictor=hn.predictors.Mean()),
        PLANTED,
        no_regret=False,
    ),
    "ContextSemiBanditFTPL, open world": Match(bandit(LINEAR), VECTORS, no_regret=False),
    "ContextSemiBanditFTPL, open world, earned": Match(
        bandit(LINEAR, predictor=hn.predictors.Ridge()), VECTORS, no_regret=False
    ),
    "ContextSemiBanditFTPL, open world, anytime, earned": Match(
        bandit(LINEAR, epsilon="anytime", predictor=hn.predictors.Ridge()),
        VECTORS,
        no_regret=False,
    ),
    "Restarting, hn.bandit, rows": Match(hn.bandit(3, seed=0), VECTORS, no_regret=False),
    "Restarting, hn.bandit, arms": Match(
        hn.bandit(3, n_contexts=1, seed=0), hn.environments.PlantedPolicy(FEW)
    ),
    "Restarting, hn.bandit, listed": Match(hn.bandit(3, policies=FINITE, seed=0), PLANTED),
    "FTPL": Match(hn.FTPL(FINITE, fakes, seed=0), PLANTED),
    "FTPL, earned trust": Match(
        hn.FTPL(FINITE, fakes, predictor=hn.predictors.Mean(), seed=0), PLANTED
    ),
    "Restarting": Match(hn.Restarting(experts()), PUNISHER),
    "Restarting, bandit": Match(
        hn.Restarting(
            bandit(predictor=hn.predictors.Mean()),
            hn.detectors.Bernstein(delta=0.3, minimum=16),  # so that it does restart
        ),
        PLANTED,
        no_regret=False,
    ),
    "StronglyAdaptive": Match(hn.StronglyAdaptive(experts(), seed=0), PUNISHER),
    "StronglyAdaptive, Hedge": Match(
        hn.StronglyAdaptive(hn.baselines.Hedge(FINITE, seed=0), shortest=4, seed=0), PLANTED
    ),
    "Discounted": Match(
        hn.Discounted(experts(), 0.5),
        PUNISHER,
        no_regret=False,  # it forgets the policy that regret is measured against
    ),
}
