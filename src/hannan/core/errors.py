"""Errors: each message names the mistake, the value you passed, and the fix."""


class HannanError(Exception):
    """Base class of all errors that Hannan raises deliberately."""


class ParameterError(HannanError, ValueError):
    """Constructor or function argument outside its range."""


class PropensityError(ParameterError):
    """Propensities that cannot be the probabilities with which the logged actions were chosen."""


class InputTypeError(HannanError, TypeError):
    """Argument of an unsupported type."""


class ContextError(HannanError, ValueError):
    """Context that is not part of the policy class or of the declared context set."""


class LossError(HannanError, ValueError):
    """Loss of the wrong shape, not finite, or outside the declared range."""


class OrderError(HannanError, ValueError):
    """Call out of order: feedback for a round that was not played, or reported twice."""


class DecisionError(OrderError):
    """Decision that is unknown, abandoned, or already has feedback."""


class UnknownDecisionError(DecisionError):
    """Id that belongs to no stored decision."""


class OpenDecisionError(DecisionError):
    """Id of an open decision that was made for another request."""


class ClosedDecisionError(DecisionError):
    """Decision that is closed: its outcome was reported, or it has expired."""


class ContradictoryOutcomeError(DecisionError):
    """Outcome that differs from the outcome reported before."""


class MissingPackageError(HannanError, ImportError):
    """Optional feature whose package is not installed."""


class InfeasibleError(HannanError, ValueError):
    """Problem without a feasible action or policy."""


class StorageError(HannanError, ValueError):
    """Learner that cannot be written to a file, or file that cannot be read."""


class TruncatedFileError(StorageError):
    """File whose end is missing."""


class DamagedFileError(StorageError):
    """File that was changed after Hannan wrote it, or that Hannan never wrote."""


class NewerFileError(StorageError):
    """File written by a newer version of Hannan."""


class UntrustedError(StorageError):
    """File that names a class or function outside Hannan that the caller did not trust."""
