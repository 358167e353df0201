"""Logs of Vowpal Wabbit, read and written without VW itself."""
