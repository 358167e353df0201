"""Plays of a few small games as JSON, for comparison between processes."""

import json

import numpy as np

import hannan as hn
from hannan.kernels import finite


def games():
    """Actions, and certificates or guesses to the last bit, of one game for each part."""
    rng = np.random.default_rng(0)
    oracles = {
        "finite": hn.oracles.FinitePolicies(rng.integers(0, 3, size=(20, 3)), n_actions=3),
        "all": hn.oracles.AllPolicies(3, 3),
    }
    found = {}
    for name, oracle in oracles.items():
        for epsilon in ("adaptive", 0.5):
            learner = hn.ContextFTPL(oracle, epsilon=epsilon, seed=1)
            world = hn.environments.LeaderPunisher(oracle)
            trace = hn.play(learner, world, 40, seed=2)
            certificate = learner.certificate()
            bits = [float(x).hex() for x in (certificate.loss, certificate.a_priori)]
            found[f"{name}, {epsilon}"] = [trace.actions.tolist(), bits]
    predictors = {"blend": hn.predictors.Blend(), "diagonal": hn.predictors.Blend(memory=1)}
    for name, predictor in predictors.items():
        predictor.prepare(3)
        actions, bits = [], []
        for row in rng.normal(size=(20, 5)):
            actions.append(predictor.advise(row)[0])
            predictor.learn(row, actions[-1], float(rng.random()))
            bits += [float(x).hex() for x in predictor.lower(row)]
        found[name] = [actions, bits]
    return found


if __name__ == "__main__":
    print(json.dumps({"compiled": hasattr(finite.leader, "py_func"), "games": games()}))
