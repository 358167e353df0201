"""Count unclear prose: `python -m tests.prose [--show RULE] [--group GROUP] [--lower] [PATH …]`.

Reads Markdown, docstrings, comments, and other strings of several words (messages). Code in
backticks, fenced blocks and doctests do not count. `tests/test_prose.py` holds the counts under
ceilings.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CEILINGS = Path(__file__).with_name("prose_ceilings.json")
GROUPS = ("README", "docs", "docstrings", "messages", "comments", "tests", "other")

# The replacements of these words are in docs/reference/glossary.md.
GLOSSARY = {
    "law": r"\blaws?\b(?! of large numbers)",
    "odds": r"\bodds\b(?! with)",
    "least probability": r"\bleast probabilit(?:y|ies)\b",
    "there (available)": r"\b(?:that|which|what|who) (?:is|are|was|were) (?:not )?there\b"
    r"|\bnot there\b|\bactions there\b(?! (?:is|are|were))",
    "closed element": r"\b(?:closed|masked) elements?\b|\belements? (?:is|are) closed\b",
    "stands in": r"\bstands? in for\b",
    "described actions": r"\bdescribed (?:actions?|items?)\b|\bactions that come and go\b"
    r"|\bwhat is offered\b",
    "world": r"\bworlds?\b",
    "goes out of date": r"\b(?:goes|go|went) out of date\b",
    "player": r"\bplayers?\b|\bcontenders?\b",
    "told/answered": r"\b(?:told|answered|unanswered|forgotten|given up|never answered)\b",
    "waits": r"\b(?:waits?|waiting) for (?:its|their|the|an?) (?:outcomes?|loss(?:es)?|feedback)\b",
    "overtaken": r"\bovertak\w+\b",
    "decision learned": r"\bdecisions? (?:is|are|was|were) learned\b",
    "kept": r"\bkept\b",
    "goes on": r"\b(?:goes|go|went|going|plays?|played) on\b"
    r"(?! (?:the|an?|rows|contexts|features)\b)|\btaken up\b",
    "advice": r"\b(?:heed(?:s|ed)?|advice|has a say)\b",
    "master": r"\bmasters?\b",
    # Not the parameter `guess`, of which the docstring is a line of its own.
    "guess": r"\bguess(?:es|ed|ing)?\b(?!=)(?<!first guess)(?<!first guesses)(?<!^guess)"
    r"(?<!^shared, guess)",
    "coins": r"\bcoins?\b",
    "shadow": r"\bshadows?\b",
    "instability cost": r"\bwhat (?:its |their |the |our )?(?:own )?instability costs?\b",
    "foreseeing": r"\bforesee\w*\b",
    "promise": r"\bpromis(?:e|es|ed|ing)\b",
    "at all times": r"\bat all times\b|\bhold at once\b|\bat once\b",
    "worth": r"\bworth \d",
    "decisions of others": r"\bdecisions? of others\b|\bmade elsewhere\b",
    "done today": r"\b(?:done|do) (?:today|now)\b|\bpresent way of deciding\b",
    "fares": r"\b(?:fares?|fared)\b|\bstandings?\b",
    "beside": r"\bbeside\b",
    "rows of features": r"\brows? of features\b",
    "plain arms": r"\bplain arms?\b",
    "a round (per round)": r"\b(?:loss(?:es)?|regret|rewards?|calls?|draws?|costs?|rounds|seconds"
    r"|gain|more|less|times?|\d(?:[\d.,]*\d)?) a (?:round|row|decision|second|game)\b",
    "stretch": r"\bstretch(?:es)?\b",
    "panel": r"\bpanels?\b",
    "trail": r"\btrails?\b",
    "refused": r"\brefus(?:e|es|ed|al|als|ing)\b",
    "archaic": r"\b(?:anew|lest|till|hence|foretells?|likewise|wherein|of late|at work|broken off"
    r"|laid over|takes? up|dear)\b",
    "front door": r"\bfront door\b|\bdoors?\b",
}
STYLE = {
    "what-clause": r"\bwhat (?:is|are|was|were|has|had|can|may|they|it|you|we|each|the|an?|others?"
    r"|no|belongs|follows|comes|came|happened|instability)\b(?![^.]*\?)",
    "fragment 'Of …'": r"(?:\A|[.:;] )Of (?:all|the|what|an?|such|its|several|which|sets?|logs?"
    r"|these|those|this|losses|some|means?)\b",
    "whoever": r"\bwh(?:o|om|at)ever\b",
    "nobody": r"\b(?:no|some|any|every)body\b",
    "is none": r"(?<!there )\b(?:is|are|was|were|be) (?:no [a-z]+|none)\b",
    "but for": r"\bbut for\b|\b(?:all|none|nothing|anything) but\b",
    "so many": r"\bso (?:many|much)\b(?! (?:as|that))",
    "of its own": r"\bof (?:its|one's|their|your|our) own\b",
    "by name": r"\bby names?\b",
    "is to be": r"\b(?:is|are|was|were) to be\b",
    "one may": r"\bone (?:may|can|could|likes|sees|wants|looks|says|must)\b",
    "two semicolons": r"[^.!?]*;[^.!?]*;[^.!?]*",
}
LONG = "more than 30 words"
HEADLESS = "docstring begins with What or Of"
NO_VERB = "function docstring begins with no verb"
RULES = (*GLOSSARY, *STYLE, LONG, HEADLESS, NO_VERB)
_PATTERNS = {name: re.compile(pattern, re.I) for name, pattern in {**GLOSSARY, **STYLE}.items()}
_HEADLESS = re.compile(r"\A(?:What|Of|The same|That|Those|Such|Likewise)\b")
# Verbs with which docstrings of functions begin; add one where it says more than these.
VERBS = """
    Abandon Accept Adapt Add Address Advance Allocate Append Apply Approximate Ask Assign Assume
    Average Begin Bound Build Cache Calibrate Call Cancel Change Charge Check Choose Clip Close
    Collect Compare Compile Compute Continue Convert Copy Count Create Decide Declare Decode
    Delete Describe Discard Discount Divide Do Draw Drop Encode Estimate Evaluate Exclude
    Explain Extend Fill Find Fit Fix Flip Format Free Generate Go Group Grow Help Import Improve
    Infer Learn Let List Load Lock Make Mark Measure Move Multiply Name Never Open Partition
    Pass Pivot Play Postpone Predict Prepare Print Process Project Put Raise Read Rebuild
    Receive Record Recreate Release Remove Repeat Replace Replay Report Require Rescale Reserve
    Reset Restore Restrict Return Run Sample Save Say Scale Search Select Set Settle Show Solve
    Sort Split Square Stack Start Store Subtract Suggest Sum Summarise Take Test Turn Update Use
    Watch Widen Write Yield
"""
_NO_VERB = re.compile(rf"(?!(?:{'|'.join(VERBS.split())})\b)")


@dataclass(frozen=True)
class Unit:
    """A paragraph of prose, where it stands, and whether it begins a docstring (of a function)."""

    group: str
    path: Path
    line: int
    text: str
    function: bool = False
    first: bool = False


def violations(unit: Unit) -> Iterator[str]:
    """Yield the rules that a paragraph breaks, once for each place where it does."""
    plain = re.sub(r"`[^`]*`", "`x`", unit.text)
    for name, pattern in _PATTERNS.items():
        yield from (name for _ in pattern.finditer(plain))
    for sentence in re.findall(r"[^.!?:]+", plain):
        if len(sentence.split()) > 30 and not sentence.lstrip().startswith("|"):
            yield LONG
    if unit.group == "docstrings" and _HEADLESS.match(plain):
        yield HEADLESS
    if unit.group == "docstrings" and unit.function and _NO_VERB.match(plain):
        yield NO_VERB


def docstring_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs and entries of a docstring with their offset, examples left out."""
    found: list[tuple[int, str]] = []
    indent: int | None = None
    example = False
    for offset, line in enumerate(text.splitlines()):
        bare, deep = line.strip(), len(line) - len(line.lstrip())
        if bare.startswith(">>>"):
            example = True
        if not bare:
            example = False
        if not bare or example or re.match(r"[-=]{3,}$", bare):
            indent = None
        elif indent == deep:
            found[-1] = (found[-1][0], f"{found[-1][1]} {bare}")
        else:
            found.append((offset, bare))
            indent = deep
    yield from found


def string(node: ast.AST) -> str:
    """Return the text of a string, with braces for the values in an f-string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return ""


def markdown(path: Path, group: str) -> Iterator[Unit]:
    """Yield the paragraphs, entries, headings and rows of a page."""
    paragraph: list[str] = []
    begin, fence = 0, ""
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        bare = line.strip()
        opens = re.match(r"(`{3,}|~{3,}|:{3,})(.*)", bare)
        code = bool(fence) or (opens is not None and opens[1][0] != ":")
        alone = re.match(r"(#|\||[-*] |\d+\. |:{3,})", bare)
        if code or alone or not bare:
            if paragraph:
                yield Unit(group, path, begin, " ".join(paragraph))
            paragraph = []
        if opens is not None and opens[1][0] != ":":
            if not fence:
                fence = opens[1]
            elif bare == fence:
                fence = ""
        elif not code and bare:
            begin = begin if paragraph else number
            paragraph.append(bare)


def messages(path: Path, node: ast.AST) -> Iterator[Unit]:
    """Yield the strings of several words that are not docstrings: errors, help texts, output."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    text = string(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""
    if len(re.findall(r"[^\W\d_]{2,}", text)) > 2 and " " in text.strip():
        yield Unit("messages", path, node.lineno, text)
    elif not text:
        for child in ast.iter_child_nodes(node):
            yield from messages(path, child)


def python(path: Path, group: str) -> Iterator[Unit]:
    """Yield the docstrings, messages and comments of a file."""
    source = path.read_text(encoding="utf-8")
    own = not group
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            text = ast.get_docstring(node) or ""
            start = node.body[0].lineno
            plain = isinstance(node, ast.FunctionDef) and not states_facts(node)
            for offset, block in docstring_blocks(text):
                first = offset == 0
                yield Unit(
                    group or "docstrings", path, start + offset, block, plain and first, first
                )
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Unit("tests", path, node.lineno, node.name.replace("_", " "))
    if own:
        yield from messages(path, ast.parse(source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        comment = token.type == tokenize.COMMENT
        if comment and not re.match(r"# ?(type:|noqa|fmt:|pragma)", token.string):
            yield Unit(group or "comments", path, token.start[0], token.string.lstrip("# "))


def states_facts(node: ast.FunctionDef) -> bool:
    """Return whether a docstring begins with a noun or a statement: a property or a claim."""
    made = [getattr(d, "func", d) for d in node.decorator_list]
    names = {getattr(d, "attr", getattr(d, "id", "")) for d in made}
    return bool(names & {"property", "cached_property", "setter", "claim"})


def units(paths: tuple[Path, ...] = ()) -> Iterator[Unit]:
    """Yield all prose of the repository, or of some files and folders in it."""

    def wanted(path: Path) -> bool:
        return not paths or any(path == top or top in path.parents for top in paths)

    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for path in sorted(filter(wanted, pages)):
        group = "docs" if path.parent != ROOT else "README" if path.stem == "README" else "other"
        yield from markdown(path, group)
    folders = {"src": "", "tests": "tests", "benchmarks": "other", "examples": "other"}
    for folder, group in folders.items():
        for path in sorted(filter(wanted, (ROOT / folder).rglob("*.py"))):
            yield from python(path, group)


def count(found: Iterator[Unit]) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """Count the violations of every rule, and the words, by group."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in RULES}
    words: Counter[str] = Counter()
    for unit in found:
        words[unit.group] += len(unit.text.split())
        for name in violations(unit):
            counts[name][unit.group] += 1
    return counts, words


def nonzero(counts: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    """Return the counts that are not zero, by group and rule."""
    return {g: {rule: row[g] for rule, row in counts.items() if row[g]} for g in GROUPS}


def lower() -> None:
    """Write the present counts as ceilings where they are lower; a higher one stays as it is."""
    now = nonzero(count(units())[0])
    old = json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.exists() else now
    new = {g: {r: min(n, now[g][r]) for r, n in old[g].items() if r in now[g]} for g in GROUPS}
    CEILINGS.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Print the places that break a rule, or a table of all counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="Files and folders. [default: all]")
    parser.add_argument("--show", metavar="RULE", help="Print the places; 'all' for all rules.")
    parser.add_argument("--group", action="append", choices=GROUPS, help="Only these groups.")
    parser.add_argument("--lower", action="store_true", help="Lower the ceilings of the tests.")
    chosen = parser.parse_args()
    if chosen.lower:
        lower()
        return
    found = [
        unit
        for unit in units(tuple(path.resolve() for path in chosen.paths))
        if not chosen.group or unit.group in chosen.group
    ]
    if chosen.show:
        for unit in found:
            for name in dict.fromkeys(violations(unit)):
                if chosen.show in (name, "all"):
                    print(f"{unit.path.relative_to(ROOT)}:{unit.line}: [{name}] {unit.text[:220]}")
        return
    counts, words = count(iter(found))
    print(f"{'':42}" + "".join(f"{group:>11}" for group in GROUPS))
    for name, row in {**counts, "words": words}.items():
        print(f"{name:42}" + "".join(f"{row[group]:11}" for group in GROUPS))


if __name__ == "__main__":
    main()
