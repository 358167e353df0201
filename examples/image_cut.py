"""Cutting a letter out of a picture, from labels of a few pixels a round, a fifth of them wrong.

The loss of a round is a cut function: labels contradicted, and neighbours torn apart. After a
third of the rounds the letter changes. Give a file name to draw the picture (needs matplotlib).
"""

import sys

import numpy as np
from worlds import ImageCut

import hannan as hn

T = ["..........", ".########.", ".########.", *["....##...."] * 8, ".........."]
H = ["..........", *[".##....##."] * 4, *[".########."] * 2, *[".##....##."] * 4, ".........."]
letters = np.array([[list(row) for row in letter] for letter in (T, H, H)]) == "#"
world = ImageCut(letters, seeds=8, error=0.2, smoothness=0.03)
learner = hn.ContextFTPL(hn.oracles.Submodular(world.n_actions), seed=0)
trace = hn.play(learner, world, horizon=900, seed=0)


def share(chosen):
    """How often each pixel was chosen."""
    return np.mean([np.isin(np.arange(120), A) for A in chosen], axis=0).reshape(12, 10)


first, second = share(trace.actions[200:300]), share(trace.actions[800:])
for rows in zip(first, second, strict=True):
    print(*("".join(" .:+#"[int(4.99 * x)] for x in row) for row in rows), sep="   |   ")
before, after = ((first > 0.5) == letters[0]).mean(), ((second > 0.5) == letters[2]).mean()
print(f"pixels right: {before:.0%} before the change, {after:.0%} in the end")
print(f"loss a round {trace.losses.mean():.3f}, regret to the best fixed set {trace.regret():.1f}")
if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(6, 4))
    for axis, seen, title in zip(axes, (first, second), ("before", "in the end"), strict=True):
        axis.imshow(seen, cmap="Greys", vmin=0.0, vmax=1.0)
        axis.set(title=f"how often chosen, {title}", xticks=[], yticks=[])
    figure.savefig(sys.argv[1], dpi=150)
