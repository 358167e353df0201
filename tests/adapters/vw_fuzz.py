"""Mutated files of Vowpal Wabbit: parsed, or refused with an error of ours, quickly and in little.

Run as a script, `python -m tests.adapters.vw_fuzz COUNT`, it prints how many there were of each
kind, the slowest of them in seconds and the peak memory in MB above that of the imports.
"""

from __future__ import annotations

import io
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import hannan as hn

A = hn.adapters

TEXT = {
    "cb": [
        b"2:-1.5:0.25 'who |user:0.5 age:31 city:york | sun",
        b"1 2:2:0.5 4 tag|n a  b\tc|n d|| e :4 :5",
        b"|v :4 :0.5 x:1e-7",
    ],
    "cb_adf": [
        b"shared |u x:2 y\n0:1:0.5 'one |a 1 b:2\n|a 2\n\nshared |u\n|a\n0:0:1 |b",
        b"|a 1\n 7:2:1 |\n\n",
    ],
}

_CONTEXT = {
    "U": {"age": 3, "loc": "new york", "flag": True, "nil": None, "geo": {"lat": 2.5}},
    "v": [1, None, 2], "w": [{"t": "x"}, {"t": "y"}], "_text": "hello big:w",
    "_multi": [{"A": {"id": "a"}, "_tag": "t"}, {"A": {"id": "\u65e5"}}],
}  # fmt: skip
JSON = [
    json.dumps(record).encode()
    for record in (
        {
            "_label_cost": -1, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1,
            "Timestamp": "2020-01-01T00:00:00Z", "Version": "1", "EventId": "e", "a": [2, 1],
            "c": _CONTEXT, "p": [0.8, 0.2], "VWState": {"m": "N/A"}, "pdrop": 0.5,
            "_skipLearn": False,
        },
        {"c": _CONTEXT, "_label_cost": 1, "a": [1, 2], "_p": [0.75, 0.25], "_skipLearn": True},
        {"EventId": "dangling", "_label_cost": 1},
    )
]  # fmt: skip

# What parsers trip over.
_TOKENS = [
    b"nan", b"NaN", b"inf", b"-Infinity", b"1e999", b"-1e999", b"1e-999", b"9" * 30, b"9" * 5000,
    b"1000000000", b"4294967296", b"-1", b"0", b"0x10", b"1_000", b"+", b".", b"e5", b"\x00",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x92\xa9", b"\r", b"\n", b"\t",
    b"\n\n", b"|", b"||", b":", b"::", b"'", b",", b" ", b"shared ", b"ccb ", b"slot", b"[", b"]",
    b"{", b"}", b'"', b"\\", b"\\ud800", b"\\u0000", b"null", b"true", b"[" * 3000, b"{" * 50,
    b'{"a":' * 2000, b"[[1]]", b"{}", b'"_multi":', b'"_slots":[{}]', b'"__aid":1', b"1e400",
    "\u0663".encode(), "\u2028".encode(), b"a " * 2000, b"x:1 " * 500, b"1,2," * 500,
]  # fmt: skip


def mutant(rng: random.Random, corpus: list[bytes]) -> bytes:
    """One of the corpus, changed in one to four places."""
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.randint(1, 4)):
        place = rng.randint(0, len(data))
        end = min(len(data), place + rng.randint(1, 12))
        what = rng.randrange(7)
        if what == 0 and data:  # flip a bit
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif what == 1:  # insert a byte
            data[place:place] = bytes([rng.randrange(256)])
        elif what == 2:  # delete
            del data[place:end]
        elif what == 3:  # duplicate
            data[place:place] = data[place:end] * rng.choice((1, 1, 2, 50))
        elif what == 4:  # splice with another
            other = rng.choice(corpus)
            data[place:] = other[rng.randint(0, len(other)) :]
        elif what == 5:  # something that parsers trip over
            data[place : rng.choice((place, end))] = rng.choice(_TOKENS)
        else:  # swap two pieces
            pieces = bytes(data).split(b" ")
            i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
            pieces[i], pieces[j] = pieces[j], pieces[i]
            data = bytearray(b" ".join(pieces))
    return bytes(data)


def texts(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Mutants of all text formats in turn."""
    rng = random.Random(seed)
    formats = list(TEXT)
    for i in range(count):
        format = formats[i % len(formats)]
        yield format, mutant(rng, TEXT[format])


def records(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Mutants of dsjson."""
    rng = random.Random(seed)
    return (("dsjson", mutant(rng, JSON)) for _ in range(count))


def try_out(format: str, data: bytes) -> bool:
    """Whether a file could be read; what was read can be written, converted or is refused."""
    source = io.BytesIO(data)
    try:
        found = list(A.read_dsjson(source) if format == "dsjson" else A.read_vw(source, format))
    except hn.HannanError:
        return False
    with suppress(hn.HannanError):
        A.log_from_vw(found, cost_range=None, columns=4)
    again, kind, format = io.BytesIO(), format, "cb" if format == "cb" else "cb_adf"
    try:
        A.write_vw(found, again, format)
    except hn.HannanError:
        return True
    back = list(A.read_vw(io.BytesIO(again.getvalue()), format))
    for one, other in zip(found, back, strict=True):
        assert (one.context, one.tag) == (other.context, other.tag)
        assert kind == "dsjson" or one == other  # text leaves out what only dsjson can hold
    return True


def main(count: int) -> None:
    """Both kinds of mutants; prints the counts, the slowest one and the peak memory."""
    try_out("cb", TEXT["cb"][0])  # what is imported late is imported now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = {}
    for name, mutants in (("text", texts(count)), ("dsjson", records(count))):
        read, slowest = 0, 0.0
        for format, data in mutants:
            start = time.perf_counter()
            read += try_out(format, data)
            slowest = max(slowest, time.perf_counter() - start)
        told[name] = {"read": read, "refused": count - read, "slowest": slowest}
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told["memory"] = (after - before) / 1024
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]))
