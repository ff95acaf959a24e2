"""The digest by which a finding is recognised in the next version of a file, where its line has moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

from raidplan.base.findings import dotted
from raidplan.render.files import relative
from raidplan.render.snippet import lines_of
from raidplan.review.located import Located


def fingerprints(findings: Iterable[Located], sources: Mapping[str, str]) -> list[str]:
    """A digest for each: of its rule, file and path, and of how many of the same came before.

    What is no thing with a name (a comment, an entry of `allow:`) is recognised by the text of its line.
    """
    lines = {file: lines_of(text) for file, text in sources.items()}
    seen: Counter[tuple[str, ...]] = Counter()
    digests = []
    for item in findings:
        span, path = item.span, item.finding.path
        what = dotted(path)
        if path[:1] in ((), ("allow",)) and 1 <= span.line <= len(lines.get(span.file, ())):
            what = lines[span.file][span.line - 1].strip()
        key = (item.finding.rule, relative(span.file), what)
        seen[key] += 1
        text = "\0".join((*key, str(seen[key])))
        digests.append(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return digests
