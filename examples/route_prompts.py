"""Choose a language model for each prompt.

A router sends each prompt to one of three models. Users rate the answer some requests later, or
never; the reward is the rating (0 or 1) minus the price of the call. `exploration` is the minimum
probability of each model, so that the log can evaluate other routers. Compare the true mean rewards
and look at the probabilities per task.
"""

import numpy as np

import hannan as hn

PRICES = {"small": 0.01, "medium": 0.05, "large": 0.25}  # per request, in units of a rating
QUALITY = {"chat": (0.80, 0.76, 0.82), "code": (0.3, 0.55, 0.9), "summary": (0.55, 0.8, 0.84)}
rng = np.random.default_rng(0)


def liked(prompt, model):
    """Return the probability of a good rating; the small model fails on long prompts."""
    long = model == "small" and prompt["tokens"] > 2000
    return QUALITY[prompt["task"]][list(PRICES).index(model)] - 0.3 * long


router = hn.Decider(list(PRICES), rewards=(-0.25, 1.0), baseline="large", exploration=0.02, seed=0)
pending, earned, best = [], 0.0, 0.0
for number in range(6000):
    prompt = {"task": str(rng.choice(list(QUALITY))), "tokens": int(rng.lognormal(6.5, 1.2))}
    decision = router.decide(prompt, id=f"request-{number}")
    net = {model: liked(prompt, model) - price for model, price in PRICES.items()}
    earned, best = earned + net[decision.action] / 6000, best + max(net.values()) / 6000
    rating = float(rng.random() < liked(prompt, decision.action))
    pending.append((decision.id, rating - PRICES[decision.action]))
    if len(pending) > 100:
        key, reward = pending.pop(int(rng.integers(100)))
        if rng.random() < 0.5:  # half of the users do not rate
            router.report(key, reward=reward)
print(f"{router}\ntrue mean reward: {earned:.3f}; with the best router: {best:.3f}")
for task in QUALITY:
    shares = router.probabilities({"task": task, "tokens": 800})
    print(task, {model: round(share, 2) for model, share in shares.items()})
