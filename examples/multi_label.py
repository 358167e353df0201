"""Multi-label decisions: choose the moods of a song.

A song has a tempo and a loudness, and each of four moods fits it or not. A mood that fits earns 1,
another one costs 1. The policy has one stump per mood: yes on one side of a cut in one feature.
Compare the total rewards and look at the moods of three songs.
"""

import numpy as np

import hannan as hn

MOODS = ["calm", "sad", "happy", "angry"]
rng = np.random.default_rng(0)
T = 1500
songs = np.column_stack([rng.integers(6, 19, size=T) * 10.0, -rng.integers(3, 25, size=T)])
tempo, loudness = songs.T
fits = np.column_stack([loudness < -15, tempo < 90, tempo > 120, loudness > -8])
fits ^= rng.random(fits.shape) < 0.15  # listeners disagree
losses = np.where(fits, -1.0, 1.0)

oracle = hn.oracles.MultiLabel(hn.oracles.Stumps(n_actions=2), n_labels=len(MOODS))
known = np.unique(songs, axis=0)[::8]
learner = hn.ContextFTPL(oracle, hn.Pool(known), epsilon=1.0, loss_range=(-1.0, 1.0), seed=0)
trace = hn.play(learner, hn.environments.FromArrays(songs, losses))

best = trace.losses.sum() - trace.regret()
print(f"reward of naming every mood    {-losses.sum():8,.0f}")
print(f"reward of the learner          {-trace.losses.sum():8,.0f}")
print(f"reward of the best stumps      {-best:8,.0f}")
policy = learner.best_policy()
for song in ([70.0, -20.0], [150.0, -10.0], [140.0, -5.0]):
    print(f"tempo {song[0]:.0f}, loudness {song[1]:.0f}:", [MOODS[j] for j in policy(song)])
