"""Leaders that forget at several rates, and the master among them."""

import numpy as np
import pytest

import hannan as hn
from tests.cases import Match
from tests.problems import ALL, FINITE, FUNCTION, PLANTED, PUNISHER, SLATES

CONTRACT = {
    "AdaptiveDiscount": Match(hn.AdaptiveDiscount(FINITE, seed=0), PUNISHER),
    "AdaptiveDiscount, scores": Match(
        hn.AdaptiveDiscount(ALL, discounts=(1.0, 0.9, 0.5), seed=0),
        hn.environments.LeaderPunisher(ALL),
    ),
    "AdaptiveDiscount, own solver": Match(
        hn.AdaptiveDiscount(FUNCTION, range(4), discounts=(1.0, 0.5), seed=0), PLANTED
    ),
    "AdaptiveDiscount, separator": Match(
        hn.AdaptiveDiscount(FINITE, separator=range(4), discounts=(0.9, 1.0), seed=0), PUNISHER
    ),
    "AdaptiveDiscount, any loss": Match(
        hn.AdaptiveDiscount(FINITE, loss_range=(-2.0, 3.0), seed=0), PUNISHER
    ),
    "AdaptiveDiscount, slates": Match(
        hn.AdaptiveDiscount(SLATES, seed=0), hn.environments.SlateClicks(SLATES), no_regret=False
    ),
    "AdaptiveDiscount, open world": Match(
        hn.AdaptiveDiscount(hn.oracles.LinearPolicies(n_actions=3), discounts=(1, 0.9), seed=0),
        hn.environments.CopyPunisher(n_actions=3, n_contexts=5, features=2),
        no_regret=False,
    ),
}
