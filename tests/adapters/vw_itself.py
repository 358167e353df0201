"""What Vowpal Wabbit makes of a file: in a process of its own, as it writes to the real stderr."""

from __future__ import annotations

import json
import subprocess
import sys

_LEARN = """
import json, sys
import vowpalwabbit
options, path, questions = json.loads(sys.argv[1])
vw = vowpalwabbit.Workspace(arg_list=[*options, "--quiet", "-d", path])
told = dict(loss=vw.get_sum_loss(), weight=vw.get_weighted_examples())
told["answers"] = [vw.predict(question) for question in questions]
print(json.dumps(told))
"""

_PARSE = """
import json, os, sys
import vowpalwabbit
options, lines = json.loads(sys.argv[1])
vw = vowpalwabbit.Workspace(arg_list=[*options, "--quiet", "--noconstant"])
found = []
for line in lines:
    examples = vw.parse(line)
    examples = examples if isinstance(examples, list) else [examples]
    rows = []
    for e in examples:
        rows.append(sorted(
            # Hashes of features without names are cut to the size of the model only later.
            [e.namespace(n), e.feature(n, i) % 2**18, e.feature_weight(n, i)]
            for n in range(e.num_namespaces()) for i in range(e.num_features_in(n))
        ))
    found.append(rows)
print(json.dumps(found), flush=True)
os._exit(0)  # VW does not always survive the end of what it parsed from JSON
"""


def learned(path, *options, ask=()):
    """Sum of losses and of weights of a file, and answers to questions after it."""
    return _run(_LEARN, [options, str(path), list(ask)])


def parsed(lines, *options):
    """Of each text the features of its examples: namespace, hash and value."""
    return _run(_PARSE, [options, list(lines)])


def _run(script, question):
    command = [sys.executable, "-c", script, json.dumps(question)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
