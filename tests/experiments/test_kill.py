"""SIGKILL at random moments: the results lose at most the record under way, and go on.

Run as a script this file is the killer: a process without threads that forks writers one after the
other, so that a hundred of them need not import anything.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

from hannan.experiments.results import Results, read_results

KILLS = 64
RECORDS = 16
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need POSIX processes"),
]


@cache
def record(number):
    """Every third one is long, because a kill can tear only writes of many pages."""
    rng = random.Random(number)
    filler = "hannan" * (3 if number % 3 else 2**16)
    return {"key": f"{number:04d}", "result": {"curve": [rng.random(), rng.random(), filler]}}


def append_all(folder, done, seed):
    with Results.writing(folder) as results:
        for number in range(RECORDS):
            if f"{number:04d}" not in results:
                results.append(record(number), {"seconds": 1.0})
                os.write(done, b"%04d" % number)


def settle_for_ever(folder, done, seed):
    rng = random.Random(seed)
    with Results.writing(folder) as results:
        while True:
            results.settle(rng.sample(sorted(results.keys), 3))
            os.write(done, b"....")


def killed_after(seconds, write, folder, seed=0):
    """What a writer said it had done before it was killed; None if it reached its end."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            write(folder, theirs, seed)
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    os.close(theirs)
    start = os.read(ours, 4)  # what opening takes is not waited for blindly
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as pipe:
        said = start + pipe.read()
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        return None
    return said


def check(folder):
    """All records are whole; their keys in the order of the file."""
    results = read_results(folder)
    for found in results.records():
        assert found == record(int(found["key"]))
    assert set(results.keys) <= set(results.times())
    return list(results.keys)


def kill_while_appending(folder, rng):
    kills, torn, before = 0, 0, []
    while kills < KILLS:
        said = killed_after(rng.uniform(0.0, 0.03), append_all, folder)
        torn += not (folder / "results.jsonl").read_bytes().endswith(b"\n")
        keys = check(folder)
        if said is None:
            assert keys == [f"{number:04d}" for number in range(RECORDS)]
            for path in (folder / "results.jsonl", folder / "times.jsonl"):
                path.unlink()
            before = []
            continue
        told = [said[i : i + 4].decode() for i in range(0, len(said), 4)]
        assert keys[: len(before) + len(told)] == before + told
        assert len(keys) <= len(before) + len(told) + 1
        kills, before = kills + 1, keys
    return kills, torn


def kill_while_settling(folder, rng):
    with Results.writing(folder) as results:  # the last kill may have left hardly any records
        for number in range(3):
            if f"{number:04d}" not in results:
                results.append(record(number), {"seconds": 1.0})
    keys = check(folder)
    orders = set()
    for seed in range(KILLS // 2):
        assert killed_after(rng.uniform(0.0, 0.02), settle_for_ever, folder, seed) is not None
        now = check(folder)
        assert sorted(now) == sorted(keys)
        orders.add(tuple(now))
    with Results.writing(folder) as results:
        results.settle(sorted(keys))
    assert check(folder) == sorted(keys)
    assert sorted(os.listdir(folder)) == [".lock", "results.jsonl", "times.jsonl"]
    return len(orders)


def test_killed_writers_never_spoil_the_results(tmp_path):
    # In memory if possible: writers then spend their time in more places than on the disk.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as at:
        done = subprocess.run(
            [sys.executable, __file__, at], capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == KILLS
    assert report["orders"] > 1


if __name__ == "__main__":
    folder, rng = Path(sys.argv[1]), random.Random(16)
    start = time.perf_counter()
    kills, torn = kill_while_appending(folder, rng)
    orders = kill_while_settling(folder, rng)
    seconds = time.perf_counter() - start
    print(json.dumps({"kills": kills, "torn": torn, "orders": orders, "seconds": seconds}))
