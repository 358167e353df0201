"""A no-regret learner as a scikit-learn classifier: in a pipeline, and on a stream.

Handwritten digits. In the second half of the stream all labels have another name. A learner that
starts over when its losses rise is compared with one that does not; each row is predicted before
its label is shown.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hannan as hn

rows, labels = load_digits(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), hn.adapters.OnlinePolicyClassifier(random_state=0))
print(f"accuracy in cross-validation  {100 * cross_val_score(pipeline, rows, labels).mean():.1f} %")


def restarting(oracle, seed, loss_range):
    return hn.Restarting(hn.ContextFTPL(oracle, seed=seed, loss_range=loss_range))


rows, labels = np.tile(rows, (2, 1)), np.concatenate([labels, (labels + 3) % 10])
scaler = StandardScaler()
plain = hn.adapters.OnlinePolicyClassifier(random_state=0)
watchful = hn.adapters.OnlinePolicyClassifier(learner=restarting, random_state=0)
for first in range(0, len(rows), 100):
    batch = scaler.partial_fit(rows[first : first + 100]).transform(rows[first : first + 100])
    for classifier in (plain, watchful):
        classifier.partial_fit(batch, labels[first : first + 100], classes=range(10))

print(f"mistakes of the plain learner on the stream     {100 * plain.mean_loss_:.1f} %")
print(f"mistakes of the one that starts over            {100 * watchful.mean_loss_:.1f} %")
print(f"started over after {watchful.learner_.restarts} of {watchful.n_rounds_} rounds")
