"""coba: our learners in its experiments, its environments in ours."""
