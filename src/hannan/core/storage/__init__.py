"""Save learners to files and load them; loading executes no code from a file."""

from hannan.core.storage.files import load, reread, save, storable

__all__ = ["load", "reread", "save", "storable"]
