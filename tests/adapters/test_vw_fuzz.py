"""Whatever stands in a file is parsed or refused, with no other error, quickly and in little."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import hannan as hn
from tests.adapters.vw_fuzz import JSON, TEXT, try_out
from tests.thinning import more_at_night

A = hn.adapters
ROOT = Path(__file__).parents[2]
MOST = 200.0  # MB


def fuzzed(count):
    command = [sys.executable, "-m", "tests.adapters.vw_fuzz", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=1800)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for kind in ("text", "dsjson"):
        # Both must happen often, or the mutants are not worth much.
        assert min(told[kind]["read"], told[kind]["refused"]) > count / 20
        assert told[kind]["slowest"] < 5.0
    assert told["memory"] < MOST


def test_the_seeds_of_the_mutants_can_be_read():
    assert all(try_out(format, data) for format, corpus in TEXT.items() for data in corpus)
    assert all(try_out("dsjson", data) for data in JSON)


@pytest.mark.slow
@pytest.mark.parametrize("count", more_at_night(10_000, 40_000))
def test_many_mutants_are_read_or_refused(count):
    fuzzed(count)


SIZE = 2**18
LARGE = {
    "cb": [
        b"|a " + b"a " * (SIZE // 2),
        b"|" * SIZE,
        b"|a x:" + b"1" * SIZE,
        b"|a x:1." + b"1" * SIZE + b"x",
        b"|a " + b":1 " * (SIZE // 3),
        b"1" + b":" * SIZE + b" |",
        b" ".join(b"%d" % i for i in range(1, SIZE // 8)) + b" |",
    ],
    "cb_adf": [b"|\n" * (SIZE // 2)],
    "dsjson": [
        b'{"c":{"_multi":[' + b",".join([b"{}"] * (SIZE // 3)) + b"]}}",
        b'{"c":{"x":[' + b",".join([b"1"] * (SIZE // 2)) + b'],"_multi":[{}]}}',
        b'{"c":{"x":' + b"1" * SIZE + b',"_multi":[{}]}}',
        b'{"c":' + b"[" * SIZE,
        b'{"c":' + b'{"a":' * 900 + b"1" + b"}" * 901,
        b'{"c":{"_multi":[{}],"a":' + b'{"a":' * 900 + b"1" + b"}" * 902,
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("format", LARGE)
def test_the_work_for_a_round_grows_with_its_length_alone(format):
    for data in LARGE[format]:
        start = time.process_time()
        source = io.BytesIO(data)
        with suppress(A.VWFormatError):
            list(A.read_dsjson(source) if format == "dsjson" else A.read_vw(source, format))
        assert time.process_time() - start < 5.0  # seconds; what is quadratic takes minutes
