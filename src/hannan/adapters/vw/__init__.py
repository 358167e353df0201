"""Logs of Vowpal Wabbit; nothing here needs VW itself."""
