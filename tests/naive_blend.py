"""`Blend` and `FourierRidge` from their definitions: everything is fitted anew at each question."""

import numpy as np


def scaling(rows):
    """Centres and scales: of the first 8, 16, …, 512 rows, the most that have come."""
    rows = np.array(rows)
    count = 8
    while 2 * count <= min(len(rows), 512):
        count *= 2
    if len(rows) < 8:
        return np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    first = rows[:count]
    spread = np.array([column.std() if np.ptp(column) > 0 else 1.0 for column in first.T])
    return first.mean(axis=0), spread


def cosines(p, features, bandwidths, seed):
    """The map from a row to its random Fourier features."""
    rng = np.random.default_rng(seed)
    each = features // len(bandwidths)
    waves = [rng.normal(0.0, g, size=(p, each)) for g in bandwidths]
    phases = rng.uniform(0.0, 2.0 * np.pi, size=(len(bandwidths), each))
    return lambda z: np.concatenate(
        [np.sqrt(2.0 / each) * np.cos(z @ W + b) for W, b in zip(waves, phases, strict=True)]
    )


def fit(V, losses, ridge, v):
    """<w, v> and √(v'Rv) of one ridge regression; by its dual, as there are few observations."""
    gram = ridge * np.eye(len(V)) + V @ V.T
    left = np.linalg.solve(gram, V @ v)
    return left @ losses, np.sqrt((v @ v - left @ V @ v) / ridge)


class NaiveBlend:
    """Means, widths, shares of the parts and σ after rounds (row, elements, losses)."""

    def __init__(self, rounds, K, *, linear, features, ridge=1.0, standardise=True, seed=0):
        self.K, self.ridge = K, ridge
        p = len(rounds[0][0])
        center, scale = scaling([row for row, *_ in rounds])
        extra = cosines(p, features, (1.0, 2.0), seed) if features else None

        def standard(row):
            z = np.clip((row - center) / scale, -5, 5) / np.sqrt(p) if standardise else row
            return np.append(z, 1.0)

        def curved(row):
            u = standard(row)
            return np.concatenate([u, extra(u[:p])]) if features else u

        self.maps = [standard, curved] if linear and features else [curved]
        self.rounds = []
        self.errors = np.zeros(len(self.maps))
        self.squares, self.count = 0.25, 1.0
        for row, elements, losses in rounds:
            guesses, _ = self.parts(row)
            chosen = guesses[:, elements]
            mixed = self.shares @ chosen
            self.errors = 0.999 * self.errors + np.mean((losses - chosen.clip(0, 1)) ** 2, axis=1)
            self.squares = 0.25 + 0.999 * (self.squares - 0.25)
            self.squares += np.mean((losses - mixed.clip(0, 1)) ** 2)
            self.count = 1.0 + 0.999 * (self.count - 1.0) + 1.0
            self.rounds.append((row, elements, losses))

    @property
    def sigma(self):
        return np.sqrt(self.squares / self.count)

    @property
    def shares(self):
        found = np.exp(-2.0 * (self.errors - self.errors.min()))
        return found / found.sum()

    def parts(self, row):
        """[parts, K]: the mean and the width of each fit."""
        means, widths = np.zeros((2, len(self.maps), self.K))
        for i, change in enumerate(self.maps):
            v = change(row)
            for k in range(self.K):
                seen = [
                    (change(x), losses[np.flatnonzero(elements == k)[0]])
                    for x, elements, losses in self.rounds
                    if k in elements
                ]
                V = np.array([each for each, _ in seen]).reshape(-1, len(v))
                losses = np.array([loss for _, loss in seen])
                means[i, k], widths[i, k] = fit(V, losses, self.ridge, v)
        return means, widths

    def look(self, row):
        """The mixtures; light parts have no width."""
        means, widths = self.parts(row)
        return self.shares @ means, (self.shares * (self.shares >= 0.01)) @ widths
