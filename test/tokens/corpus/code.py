"""Group log lines by day and print a small report."""
from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

LINE = re.compile(r"^(?P<day>\d{4}-\d{2}-\d{2})T\S+ \[(?P<level>\w+)\] (?P<text>.*)$")


@dataclass
class Day:
    levels: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def add(self, level: str, text: str) -> None:
        self.levels[level] += 1
        if level in {"ERROR", "FATAL"}:
            self.errors.append(text)


def read(path: Path) -> dict[str, Day]:
    days: dict[str, Day] = defaultdict(Day)
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if match := LINE.match(line):
                days[match["day"]].add(match["level"], match["text"])
    return dict(days)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path, nargs="+")
    parser.add_argument("--top", type=int, default=5, help="errors to show per day")
    options = parser.parse_args()
    for path in options.log:
        for name, day in sorted(read(path).items()):
            total = sum(day.levels.values())
            print(f"{name}: {total:>6} lines, {len(day.errors)} errors")
            for text, count in Counter(day.errors).most_common(options.top):
                print(f"    {count:>4} x {text[:80]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
