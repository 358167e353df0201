"""A compiled kernel goes when a file that it is made from has changed."""

import os

from tests.stale_kernels import drop_stale


def test_kernels_with_old_code_of_another_file_are_compiled_again(tmp_path):
    texts = {
        "inner": "",
        "middle": "from hannan.kernels.inner import add\n",
        "outer": "from hannan.kernels import middle\nimport numpy as np\n",
        "apart": "import numpy as np\n",
    }
    (tmp_path / "__pycache__").mkdir()
    for name, text in texts.items():
        source = tmp_path / f"{name}.py"
        compiled = tmp_path / "__pycache__" / f"{name}.act-3.py311.nbi"
        source.write_text(text)
        compiled.touch()
        os.utime(source, (100, 100))
        os.utime(compiled, (200, 200))
    assert drop_stale(tmp_path) == []
    os.utime(tmp_path / "inner.py", (300, 300))
    assert drop_stale(tmp_path) == [
        f"{name}.act-3.py311.nbi" for name in ("inner", "middle", "outer")
    ]
    assert [path.name for path in tmp_path.glob("__pycache__/*")] == ["apart.act-3.py311.nbi"]
