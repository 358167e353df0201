"""Choose slates of articles from clicks.

Each visitor gets ten of two hundred articles, and you observe the clicks on these ten only. Halfway
through, half of the popular articles lose their readers. Compare the clicks of each eighth with the
best fixed slate. Give a file name to draw the articles over time (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import numpy as np

import hannan as hn

N, SHOWN, VISITORS, PARTS = 200, 10, 16_000, 40
slates = hn.oracles.Subsets(N, SHOWN)
learner = hn.bandit(policies=slates, seed=0)
rng = np.random.default_rng(0)
popular = rng.choice(N, 15, replace=False)
shown, clicks, liked = np.zeros((PARTS, N)), np.zeros(PARTS), np.zeros(N)

for t in range(VISITORS):
    chance = np.full(N, 0.05)
    chance[popular[:10] if t < VISITORS // 2 else popular[5:]] = 0.5
    slate = learner.act()
    would_click = rng.random(N) < chance
    learner.update(1.0 - would_click[slate])
    shown[t * PARTS // VISITORS, slate] += 1
    clicks[t * PARTS // VISITORS] += would_click[slate].sum()
    liked += would_click
print(f"random slates       {liked.mean() * SHOWN / VISITORS:.2f} clicks per visitor")
print(f"best fixed slate    {np.sort(liked)[-SHOWN:].sum() / VISITORS:.2f}")
for part, mean in enumerate(clicks.reshape(8, -1).sum(axis=1) * 8 / VISITORS):
    print(f"learner, eighth {part + 1}   {mean:.2f} {'#' * round(10 * mean)}")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    pyplot.imshow(shown.T, aspect="auto", cmap="Greys")
    pyplot.gca().set(title="Items shown", xlabel="fortieth of the visitors", ylabel="item")
    pyplot.savefig(sys.argv[1])
