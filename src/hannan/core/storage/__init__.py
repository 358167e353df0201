"""Files that hold a learner: nothing in them is ever executed."""

from hannan.core.storage.files import load, reread, save, storable

__all__ = ["load", "reread", "save", "storable"]
