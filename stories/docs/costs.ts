/** What is promised of the time or the room that something takes, and what the benches measured. */
export interface Cost {
  readonly what: string;
  readonly promise: string;
  readonly measured: readonly Measured[];
}

interface Measured {
  /** Where: in which browser. */
  readonly place: string;
  /** As they were told: one for each run, or the least and the greatest. */
  readonly figures: string;
  /** Whether the promise was kept in all of them. */
  readonly isKept: boolean;
}

/** The table below a heading, row by row, with its cells by their column. */
function tableBelow(text: string, heading: string): Readonly<Record<string, string>>[] {
  const [, section = ''] = text.split(`\n${heading}\n`);
  const table = /(?:^\|.*\n)+/m.exec(section)?.[0] ?? '';
  const [columns = [], , ...rows] = table
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return rows.map((cells) => Object.fromEntries(columns.map((column, i) => [column, cells[i] ?? ''])));
}

const PLACES = ['Chromium', 'Firefox ESR', 'WebKitGTK'];

/** What the store costs, as `test/bench/RESULTS.md` and `test/bench/peers/RESULTS.md` tell it: rows with a promise. */
export function readCosts(own: string, peers: string): Cost[] {
  const alone = tableBelow(own, '## The store').map((row): Cost => {
    const columns = Object.keys(row).filter((column) => /^\d|x/.test(row[column] ?? ''));
    const measured = PLACES.flatMap((place) => {
      const column = columns.find((name) => name.startsWith(place));
      return column === undefined ? [] : [measure(place, row[column] ?? '', row['promise'] ?? '')];
    });
    return { what: row['what'] ?? '', promise: row['promise'] ?? '', measured };
  });
  const beside = tableBelow(`\n${peers}`, '# Stores beside peers').map((row): Cost => {
    const [promise = ''] = (row['promise'] ?? '').split(':');
    const what = `${row['task']}: how many times as long ${row['store']} takes`;
    return { what, promise, measured: [measure('Chromium', row['times ours'] ?? '', promise)] };
  });
  const disk = tableBelow(own, '### Bytes on the disk').map((row): Cost => {
    const { chat = '', promise = '' } = row;
    const what = `bytes on the disk, against the JSON: ${chat}`;
    return { what, promise, measured: [measure('Chromium, at rest', row['at rest'] ?? '', promise)] };
  });
  return [...alone, ...beside, ...disk].filter(({ promise }) => promise !== '');
}

function measure(place: string, figures: string, promise: string): Measured {
  const [, bound = '', limit = ''] = /^at (most|least) ([\d.]+)x$/.exec(promise) ?? [];
  const all = (figures.match(/[\d.]+(?=x|,| to )/g) ?? []).map(Number);
  const isKept =
    all.length > 0 && all.every((one) => (bound === 'most' ? one <= Number(limit) : one >= Number(limit)));
  return { place, figures, isKept };
}
