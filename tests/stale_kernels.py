"""Compiled kernels that hold old code of another file.

numba compiles a kernel again when its own file has changed, not when the file of a kernel inside it
has. Whoever changes a kernel would measure and test the old one.
"""

import ast
from pathlib import Path


def _imported(path: Path) -> set[Path]:
    """Return the files of kernels that a file of kernels imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hannan.kernels"):
            names |= {str(node.module).rpartition(".")[2], *(each.name for each in node.names)}
    return {path.with_name(f"{name}.py") for name in names}


def drop_stale(folder: Path) -> list[str]:
    """Delete compiled kernels older than a file that they are made from; return their names."""
    direct = {path: _imported(path) for path in folder.glob("*.py")}
    dropped = []
    for path in direct:
        sources, new = {path}, {path}
        while new:
            new = {other for each in new for other in direct[each] if other in direct} - sources
            sources |= new
        changed = max(source.stat().st_mtime for source in sources)
        for compiled in folder.glob(f"__pycache__/{path.stem}.*.nb[ic]"):
            if compiled.stat().st_mtime < changed:
                compiled.unlink()
                dropped.append(compiled.name)
    return sorted(dropped)
