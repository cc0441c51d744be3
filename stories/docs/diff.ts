/** A line of a comparison: as it was, taken out, or put in. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** What turns one text into another, line by line, with as few changes as there can be. Cost: lines times lines. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const common = commonLines(a, b);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const kind = nextKind(a, b, common, i, j);
    lines.push({ kind, text: (kind === 'added' ? b[j] : a[i]) ?? '' });
    if (kind !== 'added') i++;
    if (kind !== 'removed') j++;
  }
  return lines;
}

type Table = readonly (readonly number[])[];

/** What comes next: what both have, else what keeps more of the rest in common; a line goes before another comes. */
function nextKind(
  a: readonly string[],
  b: readonly string[],
  common: Table,
  i: number,
  j: number,
): DiffLine['kind'] {
  if (i === a.length) return 'added';
  if (j === b.length) return 'removed';
  if (a[i] === b[j]) return 'same';
  return at(common, i + 1, j) >= at(common, i, j + 1) ? 'removed' : 'added';
}

/** How many lines two texts have in common from (i, j) on, for every i and j. */
function commonLines(a: readonly string[], b: readonly string[]): Table {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = table[i] ?? [];
      row[j] =
        a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  return table;
}

function at(table: Table, i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
