"""A Decider that is killed again and again while it writes its journal.

`python -m tests.decisions.journalling 200` kills that many processes, each at a random moment of
its work, and compares what is left with a twin that nobody disturbed.
"""

import gc
import os
import random
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

import hannan as hn
from tests.decisions.worlds import ACTIONS, contexts, earned

LATE = 3  # steps between a decision and its outcome
EVERY = 40  # calls between snapshots, so that some are under way when a process is killed
CALLS = 60  # that a process may make before it is killed, however busy the machine is
ROWS = contexts(20_000)


def made():
    return hn.Decider(ACTIONS, rewards=(0, 200), baseline="red", seed=5)


def after(decider, step, actions, told):
    """What comes after the decision of a step; doing it again changes nothing."""
    known = step - LATE
    if known >= 0 and step % 7:
        reward = earned(ROWS[known], actions[known])
        if known in decider.open_decisions:
            decider.report(known, reward=reward)
            told(f"r {known}")
    if step % 50 == 49:
        decider.expire(older_than=0.0, reward=0.0)
        told(f"e {step}")


def work(decider, first, last, actions, told):
    """Steps of the game, each acknowledged as soon as its call has returned."""
    if first:
        after(decider, first - 1, actions, told)
    for step in range(first, last):
        answer = decider.decide(ROWS[step], id=step)
        actions[step] = answer.action
        told(f"d {step} {answer.action}")
        after(decider, step, actions, told)


def missing(decider, actions, reported):
    """What was acknowledged, and is not there."""
    decisions, still_open = decider.summary().decisions, set(decider.open_decisions)
    return [s for s in actions if s >= decisions] + [s for s in reported if s in still_open]


def child(path, actions, reported, pipe):
    """Take up the journal, say what of it was lost, and work until killed."""

    def told(text):
        os.write(pipe, (text + "\n").encode())

    decider = made().journal(path, every=EVERY)
    for step in missing(decider, actions, reported):  # before it is done again
        told(f"lost {step}")
    told("ready")
    first = decider.summary().decisions
    if first and first - 1 not in actions:  # it was decided, and not acknowledged
        actions[first - 1] = decider.decision(first - 1).action
        told(f"d {first - 1} {actions[first - 1]}")
    work(decider, first, len(ROWS), actions, told)


def read_until(pipe, deadline, lines=None):
    """The acknowledgements until a time, or until there are so many."""
    text = b""
    while time.monotonic() < deadline:
        if select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            text += os.read(pipe, 65536)
            if lines is not None and text.count(b"\n") >= lines:
                break
    return text


def attack(path, kills, seed=0):
    """Kill so many processes; acknowledged actions and reports, and what the next one missed."""
    rng = random.Random(seed)
    actions, reported, lost = {}, set(), []
    for n in range(kills):
        inlet, outlet = os.pipe()
        number = os.fork()
        if number == 0:
            os.close(inlet)
            child(path, actions, reported, outlet)
            os._exit(0)
        os.close(outlet)
        text = b""
        if n % 5:  # and others while they take up the journal
            text = read_until(inlet, time.monotonic() + 60.0, rng.randint(1, CALLS))
        text += read_until(inlet, time.monotonic() + rng.uniform(0.0, 0.02 if n % 5 else 0.1))
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
        while rest := os.read(inlet, 65536):
            text += rest
        os.close(inlet)
        lines = text.decode().split("\n")[:-1]
        for line in lines:
            kind, *rest = line.split()
            if kind == "d":
                assert actions.setdefault(int(rest[0]), rest[1]) == rest[1]
            elif kind == "r":
                reported.add(int(rest[0]))
            elif kind == "lost":
                lost.append(int(rest[0]))
    return actions, reported, lost


def rehearse(path):
    """Do all that children do, so that they find it compiled and spend their time at work."""
    for first in (0, 60):
        decider = made().journal(path, every=EVERY)
        work(decider, first, first + 60, dict.fromkeys(range(first), ACTIONS[0]), lambda text: None)
        decider.close()
    gc.collect()
    gc.freeze()  # and not searched for garbage by every one of them


def main(kills):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decider.journal"
        rehearse(Path(folder) / "rehearsal.journal")
        actions, reported, lost = attack(path, kills)
        found = hn.Decider.open(path)
        steps = found.summary().decisions
        lost += missing(found, actions, reported)
        for step in reported:
            if found.report(step, reward=earned(ROWS[step], actions[step])):
                lost.append(step)
        twin, true = made(), {}
        work(twin, 0, steps, true, lambda text: None)
        wrong = [step for step in actions if actions[step] != true[step]]
        after(found, steps - 1, true, lambda text: None)
        same = 0
        for step in range(steps, steps + 100):
            one, other = found.decide(ROWS[step]), twin.decide(ROWS[step])
            same += (one.action, one.propensity) == (other.action, other.propensity)
            for decider, answer in ((found, one), (twin, other)):
                decider.report(answer, reward=earned(ROWS[step], answer.action))
        found.close()
        print(
            f"{kills} kills, {len(actions)} decisions and {len(reported)} outcomes acknowledged: "
            f"{len(lost)} lost, {len(wrong)} changed; of the next 100 decisions {same} equal"
        )
        return len(actions), len(lost) + len(wrong), same


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]))[1:] == (0, 100) else 1)
