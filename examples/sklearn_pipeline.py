"""Use a learner as a scikit-learn classifier.

`OnlinePolicyClassifier` works in a pipeline, in cross-validation and on a stream. Each row is
classified before its label is observed; in the second half of the stream the labels are permuted.
Compare the shares of mistakes with and without restarts.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hannan as hn

rows, labels = load_digits(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), hn.adapters.OnlinePolicyClassifier(random_state=0))
print(f"accuracy in cross-validation: {100 * cross_val_score(pipeline, rows, labels).mean():.1f} %")


def restarting(oracle, seed, loss_range):
    return hn.Restarting(hn.ContextFTPL(oracle, seed=seed, loss_range=loss_range))


rows, labels = np.tile(rows, (2, 1)), np.concatenate([labels, (labels + 3) % 10])
scaler = StandardScaler()
plain = hn.adapters.OnlinePolicyClassifier(random_state=0)
with_restarts = hn.adapters.OnlinePolicyClassifier(learner=restarting, random_state=0)
for first in range(0, len(rows), 100):
    batch = scaler.partial_fit(rows[first : first + 100]).transform(rows[first : first + 100])
    for classifier in (plain, with_restarts):
        classifier.partial_fit(batch, labels[first : first + 100], classes=range(10))

print(f"mistakes on the stream without restarts: {100 * plain.mean_loss_:.1f} %")
print(f"mistakes on the stream with restarts: {100 * with_restarts.mean_loss_:.1f} %")
print(f"restarts after rounds {with_restarts.learner_.restarts} of {with_restarts.n_rounds_}")
