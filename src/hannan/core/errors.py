"""Errors: each says what was wrong, what was got and what to do."""


class HannanError(Exception):
    """Base of every error this library raises on purpose."""


class ParameterError(HannanError, ValueError):
    """A constructor or function argument outside its range."""


class PropensityError(ParameterError):
    """Propensities that cannot be the probabilities with which the logged actions were taken."""


class InputTypeError(HannanError, TypeError):
    """An argument of a type that cannot be used."""


class ContextError(HannanError, ValueError):
    """A context that the policy class or the declared context set does not know."""


class LossError(HannanError, ValueError):
    """A loss of the wrong shape, not finite, or outside the declared range."""


class OrderError(HannanError, ValueError):
    """A call out of turn: feedback for a round that was not played, or given twice."""


class DecisionError(OrderError):
    """A decision that is unknown, forgotten or already answered."""


class UnknownDecisionError(DecisionError):
    """An id that no decision has, or none that is remembered."""


class OpenDecisionError(DecisionError):
    """An id that an open decision has already, made for another request."""


class ClosedDecisionError(DecisionError):
    """A decision that does not wait for its outcome any more: it has one, or it has expired."""


class ContradictoryOutcomeError(DecisionError):
    """An outcome other than the one that was reported before."""


class MissingPackageError(HannanError, ImportError):
    """An optional part whose package is not installed."""


class InfeasibleError(HannanError, ValueError):
    """A problem without any feasible action or policy."""


class StorageError(HannanError, ValueError):
    """A learner that cannot be written to a file, or a file that cannot be read."""


class TruncatedFileError(StorageError):
    """A file whose end is missing."""


class DamagedFileError(StorageError):
    """A file that was changed since it was written, or that no version of Hannan wrote."""


class NewerFileError(StorageError):
    """A file of a version of Hannan that came later."""


class UntrustedError(StorageError):
    """A file that names a class or function from outside which the caller did not vouch for."""
