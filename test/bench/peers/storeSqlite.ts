/**
 * SQLite on the origin's private files, in a worker, because only there a file can be read and written without waiting.
 * It answers what `storePage.ts` asks, one question after the other.
 */
interface Row {
  readonly id: string;
  readonly parentId: string | null;
  readonly data: object;
}

/** What it can be asked. */
export type Question = Partial<{ open: true; fill: Row[]; chain: string; all: true; append: Row }>;

interface Database {
  exec(options: { sql: string; bind?: readonly unknown[]; rowMode?: 'array'; resultRows?: unknown[] }): void;
  prepare(sql: string): { bind(values: readonly unknown[]): { stepReset(): void }; finalize(): void };
  transaction(work: () => void): void;
}

let db: Database | undefined;

async function open(): Promise<number> {
  // Named by a variable: the worker is built where the peer may not be installed.
  const module: string = '/sqlite/sqlite3.mjs';
  const { default: init } = (await import(module)) as {
    default: () => Promise<{
      opfs?: unknown;
      oo1: { OpfsDb?: new (name: string, mode: string) => Database };
    }>;
  };
  const { oo1 } = await init();
  if (!oo1.OpfsDb) return 0;
  db = new oo1.OpfsDb('/peers.sqlite3', 'c');
  exec('PRAGMA synchronous = FULL');
  exec('CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, parent TEXT, data TEXT)');
  return 1;
}

function exec(sql: string, bind: readonly unknown[] = []): unknown[] {
  const resultRows: unknown[] = [];
  db?.exec({ sql, ...(bind.length > 0 ? { bind } : {}), rowMode: 'array', resultRows });
  return resultRows;
}

function insert(rows: readonly Row[]): number {
  db?.transaction(() => {
    const statement = db?.prepare('INSERT INTO messages VALUES (?, ?, ?)');
    for (const { id, parentId, data } of rows)
      statement?.bind([id, parentId, JSON.stringify(data)]).stepReset();
    statement?.finalize();
  });
  return rows.length;
}

const CHAIN = `WITH RECURSIVE chain(id, parent, data) AS (
  SELECT id, parent, data FROM messages WHERE id = ?
  UNION ALL SELECT m.id, m.parent, m.data FROM messages m JOIN chain ON m.id = chain.parent
) SELECT data FROM chain`;

/** As objects: nobody shows a text of JSON. */
function parsed(rows: readonly unknown[]): number {
  return rows.map((row) => JSON.parse((row as [string])[0]) as object).length;
}

async function answer({ open: isFirst, fill, chain, all, append }: Question): Promise<number> {
  if (isFirst) return open();
  if (fill) {
    exec('DELETE FROM messages');
    return insert(fill);
  }
  if (append) return insert([append]);
  if (all) return parsed(exec('SELECT data FROM messages'));
  return parsed(exec(CHAIN, [chain]));
}

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  answer(data).then(
    (value) => postMessage({ value }),
    (error: unknown) => postMessage({ error: String(error) }),
  );
});
