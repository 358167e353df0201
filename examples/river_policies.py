"""Policies of river's kind on one of its streams, whose classes change their names half way."""

from itertools import islice

from river import datasets, drift, linear_model, preprocessing

import hannan as hn

ROUNDS = 2000


def main() -> None:
    names = sorted({y for _, y in datasets.ImageSegments()})
    renamed = dict(zip(names, names[1:] + names[:1], strict=True))
    model = linear_model.BayesianLinearRegression()
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=len(names)),
        predictor=hn.adapters.RiverPredictor(model),
        seed=0,
    )
    watching = hn.Restarting(learner, hn.adapters.RiverDetector(drift.ADWIN()))
    for who, player in (("one learner", learner), ("with restarts", watching)):
        policy = hn.adapters.RiverPolicy(player, reward_range=(0, 1))
        scale, right = preprocessing.MinMaxScaler(), []
        for t, (x, y) in enumerate(islice(datasets.ImageSegments(), ROUNDS)):
            scale.learn_one(x)
            context = scale.transform_one(x)
            arm = policy.pull(names, context)
            right.append(arm == (y if t < ROUNDS // 2 else renamed[y]))
            policy.update(arm, context, float(right[-1]))
        halves = [sum(right[t : t + ROUNDS // 2]) / (ROUNDS // 2) for t in (0, ROUNDS // 2)]
        print(f"{who}: {halves[0]:.0%} right, then {halves[1]:.0%}")
    print(
        f"names changed after {ROUNDS // 2} rounds, "
        f"restarts after {policy.current_learner.restarts}"
    )


if __name__ == "__main__":
    main()
