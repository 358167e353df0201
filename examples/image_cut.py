"""Cut losses: segment an image from labelled pixels.

The loss (a cut function) comes from labels of a few pixels per round, a fifth of them wrong. After
a third of the rounds the letter changes. Give a file name to draw the sets (needs matplotlib).
"""

import sys

import numpy as np
from worlds import ImageCut

import hannan as hn

T = ["..........", ".########.", ".########.", *["....##...."] * 8, ".........."]
H = ["..........", *[".##....##."] * 4, *[".########."] * 2, *[".##....##."] * 4, ".........."]
letters = np.array([[list(row) for row in letter] for letter in (T, H, H)]) == "#"
environment = ImageCut(letters, seeds=8, error=0.2, smoothness=0.03)
learner = hn.ContextFTPL(hn.oracles.Submodular(environment.n_actions), seed=0)
trace = hn.play(learner, environment, horizon=900, seed=0)


def share(chosen):
    """Return the share of rounds in which each pixel was chosen."""
    return np.mean([np.isin(np.arange(120), A) for A in chosen], axis=0).reshape(12, 10)


first, second = share(trace.actions[200:300]), share(trace.actions[800:])
for rows in zip(first, second, strict=True):
    print(*("".join(" .:+#"[int(4.99 * x)] for x in row) for row in rows), sep="   |   ")
before, after = ((first > 0.5) == letters[0]).mean(), ((second > 0.5) == letters[2]).mean()
print(f"pixels right: {before:.0%} before the change, {after:.0%} at the end")
print(f"loss per round {trace.losses.mean():.3f}, regret against the best set {trace.regret():.1f}")
if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(6, 4))
    for axis, shares, title in zip(axes, (first, second), ("before", "at the end"), strict=True):
        axis.imshow(shares, cmap="Greys", vmin=0.0, vmax=1.0)
        axis.set(title=f"share of rounds, {title}", xticks=[], yticks=[])
    figure.savefig(sys.argv[1], dpi=150)
