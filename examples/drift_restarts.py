"""Drift: restart when the tastes of visitors change.

The best offer depends on ten features of a visitor, and this rule changes twice. `Restarting`
detects larger prediction errors and starts a fresh learner. Compare the shares of unwanted offers
in each third of the rounds with and without restarts.
"""

import numpy as np

import hannan as hn

ROUNDS, OFFERS = 6000, 6


def main() -> None:
    rng = np.random.default_rng(0)
    visitors = rng.normal(size=(ROUNDS, 10)) / 3.0
    # The best offer by features, with other weights in each third of the rounds.
    tastes = rng.normal(size=(3, 10, OFFERS))
    third = np.arange(ROUNDS) // (ROUNDS // 3)
    liked = np.einsum("td,tdk->tk", visitors, tastes[third]).argmax(axis=1)

    plain = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=OFFERS),
        predictor=hn.predictors.Ridge(alpha=0.1),
        seed=0,
    )
    restarting = hn.Restarting(plain, max_restarts=5)
    for name, learner in (("without restarts", plain), ("with restarts", restarting)):
        missed = np.empty(ROUNDS)
        for t in range(ROUNDS):
            missed[t] = float(learner.act(visitors[t]) != liked[t])
            learner.update(missed[t])
        shares = ", ".join(f"{part.mean():.1%}" for part in missed.reshape(3, -1))
        print(f"{name}: unwanted offers, by third: {shares}")
    print(f"tastes changed after 2000 and 4000 rounds; restarts after {restarting.restarts}")


if __name__ == "__main__":
    main()
