"""river, both ways: our learners as its bandit policies, its models and detectors inside ours."""
