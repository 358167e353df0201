"""Use Hannan as a policy in river.

A learner of Hannan runs on a stream of river, with a predictor and a drift detector of river.
Compare the shares of right classes before and after the classes are renamed.
"""

from itertools import islice

from river import datasets, drift, linear_model, preprocessing

import hannan as hn

ROUNDS = 2000


def main() -> None:
    classes = sorted({y for _, y in datasets.ImageSegments()})
    renamed = dict(zip(classes, classes[1:] + classes[:1], strict=True))
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=len(classes)),
        predictor=hn.adapters.RiverPredictor(linear_model.BayesianLinearRegression()),
        seed=0,
    )
    restarting = hn.Restarting(learner, hn.adapters.RiverDetector(drift.ADWIN()))
    for name, each in (("without restarts", learner), ("with restarts", restarting)):
        policy = hn.adapters.RiverPolicy(each, reward_range=(0, 1))
        scale, right = preprocessing.MinMaxScaler(), []
        for t, (x, y) in enumerate(islice(datasets.ImageSegments(), ROUNDS)):
            scale.learn_one(x)
            context = scale.transform_one(x)
            arm = policy.pull(classes, context)
            right.append(arm == (y if t < ROUNDS // 2 else renamed[y]))
            policy.update(arm, context, float(right[-1]))
        halves = [sum(right[t : t + ROUNDS // 2]) / (ROUNDS // 2) for t in (0, ROUNDS // 2)]
        print(f"{name}: {halves[0]:.0%} right, then {halves[1]:.0%}")
    print(f"classes renamed after {ROUNDS // 2}, restarts after {policy.current_learner.restarts}")


if __name__ == "__main__":
    main()
