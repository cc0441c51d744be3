import type * as Apply from '../../src/store/apply.ts';
import type * as Channels from '../../src/store/channel.ts';
import type { Numbered } from '../../src/store/indexeddb/changedRows.ts';
import type * as Damages from '../../src/store/indexeddb/damage.ts';
import type * as Marking from '../../src/store/indexeddb/marks.ts';
import type * as Transactions from '../../src/store/indexeddb/transaction.ts';
import type { Database } from '../../src/store/indexeddb/connection.ts';
import { between, type MarkRecord, type Table } from '../../src/store/layout.ts';
import type * as Reads from '../../src/store/reads.ts';
import type { Records, Rows } from '../../src/store/rows.ts';
import type * as Salvages from '../../src/store/salvage.ts';
import type { Change, StoreNotice } from '../../src/store/store.ts';
import { sumOf } from '../../src/store/sum.ts';

/**
 * Bugs, planted on purpose.
 *
 * A net that has never caught anything may have a hole. So here are the mistakes that stores are lost by, each in the
 * place where somebody would make it, and one at a time. The functions stand in for those of the store (`vi.mock`), and
 * are them as long as nothing is planted. Who moves that code and forgets this gets a bug that is not found, and is told
 * so.
 */
export type Bug =
  /** Somebody else writes between what was read and what is written. */
  | 'reads in one transaction, writes in another'
  /** A fault between the two leaves the one without the other. */
  | 'writes in two transactions'
  /** Success is told when all is asked, and the disk says no afterwards. */
  | 'tells success before the transaction is complete'
  /** Or it said no, and nobody listened. */
  | 'takes an abort for success'
  /** A put that throws leaves those before it to be committed. */
  | 'does not abort when something throws'
  /** Or it said no, and whoever asked is never told. */
  | 'says nothing when it is refused'
  /** What was read or written once is not read again, although other tabs write. */
  | 'reads what it remembers'
  /** What was taken for true is never looked at. */
  | 'believes what it remembers'
  /** The head is moved from wherever it is by now. */
  | 'moves a head without comparing it'
  /** Other tabs hear of what may still be undone. */
  | 'tells the other tabs before the transaction is complete'
  /** Who asks what changed is not told where the branches end by now. */
  | 'reads what changed without the branches'
  /** A record is what it was, whatever the disk did to it. */
  | 'trusts every record'
  /** What no mark leads to is new. */
  | 'believes that every block is marked'
  /** Marks are those of the chat, and of all that was sealed, whatever the disk did to them. */
  | 'takes every mark for true'
  /** A chain goes where it went when somebody last looked. */
  | 'believes where a chain went'
  /** Of what can still be read, nothing is looked for. */
  | 'repairs what it knows of';

let bug: Bug | undefined;

/** Plants a bug in place of the one before; undefined: none. */
export function plant(next: Bug | undefined): void {
  bug = next;
}

/** `indexeddb/transaction.ts`, with the bug that is planted. */
export function brokenTransactions(original: typeof Transactions): typeof Transactions {
  const { read, write: right } = original;
  const write: typeof right = async (db, tables, durability, work) => {
    const rightly = <T>(act: (rows: Records) => Promise<T>): Promise<T> => right(db, tables, durability, act);
    switch (bug) {
      case 'reads in one transaction, writes in another': {
        const later = new Later();
        const result = await read(db, tables, (rows) => work(later.before(rows)));
        await rightly(async (rows) => later.put(rows));
        return result;
      }
      case 'writes in two transactions': {
        const later = new Later();
        const result = await rightly(async (rows) => {
          const told = await work(later.before(rows));
          later.put(rows, Math.ceil(later.count / 2));
          return told;
        });
        if (later.count > 0) await rightly(async (rows) => later.put(rows));
        return result;
      }
      case 'tells success before the transaction is complete':
        return new Promise((resolve, reject) => {
          rightly(async (rows) => resolve(await work(rows))).catch(reject);
        });
      case 'takes an abort for success': {
        const results: Awaited<ReturnType<typeof work>>[] = [];
        await rightly(async (rows) => void results.push(await work(rows))).catch((error: unknown) => {
          if (results.length === 0) throw error;
        });
        return results.at(-1) as (typeof results)[number];
      }
      case 'says nothing when it is refused':
        return rightly(work).catch(() => new Promise<never>(() => {}));
      case 'does not abort when something throws': {
        const errors: unknown[] = [];
        const throwing = async (rows: Records): Promise<unknown> => {
          const told = await work(rows);
          rows.send();
          return told;
        };
        const result = await rightly((rows) =>
          throwing(rows).catch((error: unknown) => void errors.push(error)),
        );
        if (errors.length > 0) throw errors[0];
        return result as Awaited<ReturnType<typeof work>>;
      }
      case 'reads what it remembers':
        return rightly((rows) => work(remembering(db, rows)));
      case 'believes what it remembers':
        return rightly((rows) =>
          work(standIn(rows, { assume: rows.assume && ((check) => void check.catch(() => undefined)) })),
        );
      case 'tells the other tabs before the transaction is complete':
        return rightly(async (rows) => {
          const changes: Pick<Change, 'chatId' | 'seq'>[] = [];
          const result = await work(noting(rows, changes));
          const last = changes.at(-1);
          if (last)
            channels.get(db.name)?.tell({ kind: 'change', chatId: last.chatId, seq: last.seq, remote: true });
          return result;
        });
      default:
        return rightly(work);
    }
  };
  return { ...original, write };
}

/** `apply.ts`, with the bug that is planted. */
export function brokenApply(original: typeof Apply): typeof Apply {
  return {
    ...original,
    applyOps: async (tx, ops, options, now) => {
      if (bug !== 'moves a head without comparing it') return original.applyOps(tx, ops, options, now);
      const blind = ops.map(async (op) => {
        if (op.op !== 'head') return op;
        const there = await tx.branch(op.branchId);
        return there ? { ...op, expected: there.headMessageId } : op;
      });
      return original.applyOps(tx, await Promise.all(blind), options, now);
    },
  };
}

/** `reads.ts`, with the bug that is planted. */
export function brokenReads(original: typeof Reads): typeof Reads {
  return {
    ...original,
    load: async (rows, chatId, since, meta) => {
      const records = await original.load(rows, chatId, since, meta);
      const isStale = bug === 'reads what changed without the branches' && since !== undefined;
      return isStale ? { ...records, branches: [] } : records;
    },
    getChain: async (rows, chatId, headId, limit) => {
      if (bug !== 'believes where a chain went' || headId === undefined)
        return original.getChain(rows, chatId, headId, limit);
      const seqs = rows.chainOf?.(chatId, headId, limit) ?? [];
      const places = seqs.toReversed().map((seq) => rows.list('nodes', between(chatId, seq, seq)));
      const infos = (await Promise.all(places)).flat();
      const ids = infos.map(({ id }) => id);
      const isWhole = infos[0]?.parentId === null;
      return isWhole ? original.getNodes(rows, chatId, ids) : original.getChain(rows, chatId, headId, limit);
    },
  };
}

/** `indexeddb/damage.ts`, with the bug that is planted. */
export function brokenDamage(original: typeof Damages): typeof Damages {
  const trusting: typeof original.readRecord = (table, record) =>
    typeof record === 'string' && original.isText(table) ? JSON.parse(record) : record;
  return {
    ...original,
    readRecord: (table, record) =>
      bug === 'trusts every record' ? trusting(table, record) : original.readRecord(table, record),
  };
}

/** `indexeddb/marks.ts`, with the bug that is planted. */
export function brokenMarks(original: typeof Marking): typeof Marking {
  class Marks extends original.Marks {
    constructor(chatId: string, records: readonly MarkRecord[]) {
      const trusted = records.map(({ group, text }) => {
        return { chatId, group, text, sum: sumOf(text, sumOf(`${chatId} ${group} `)) };
      });
      super(chatId, bug === 'takes every mark for true' ? trusted : records);
    }

    override of(block: number): string {
      const marks = super.of(block);
      return bug === 'believes that every block is marked' && marks.trim() === '' ? 'here' : marks;
    }
  }
  return { ...original, Marks };
}

/** `salvage.ts`, with the bug that is planted. */
export function brokenSalvage(original: typeof Salvages): typeof Salvages {
  return {
    ...original,
    salvage: async (rows, chatId) => {
      const found = await original.salvage(rows, chatId);
      return bug === 'repairs what it knows of' ? { ...found, findings: [], nodes: [], bodies: [] } : found;
    },
  };
}

/** `channel.ts`, which is silent where the bug tells instead. */
export function brokenChannels(original: typeof Channels): typeof Channels {
  return {
    openChannel: (database, hear) => {
      const channel = original.openChannel(database, hear);
      if (bug !== 'tells the other tabs before the transaction is complete' || !channel) return channel;
      channels.set(database, channel);
      const tell = (notice: StoreNotice): void => void (notice.kind === 'change' || channel.tell(notice));
      return { tell, close: () => channel.close() };
    },
  };
}

const channels = new Map<string, Channels.Channel>();

/** Rows whose writes wait. */
class Later {
  readonly #writes: ((rows: Rows) => void)[] = [];

  get count(): number {
    return this.#writes.length;
  }

  before(rows: Records): Records {
    return standIn(rows, {
      put: (...args) => void this.#writes.push((target) => target.put(...args)),
      delete: (...args) => void this.#writes.push((target) => target.delete(...args)),
    });
  }

  /** Does the first so many of them, and forgets them. */
  put(rows: Rows, many = Infinity): void {
    for (const write of this.#writes.splice(0, many)) write(rows);
  }
}

/** Rows of which the counters, the chats and the heads are looked up once for each connection. */
function remembering(db: Database, rows: Records): Records {
  const known = memories.get(db) ?? new Map<string, Promise<unknown>>();
  memories.set(db, known);
  return standIn(rows, {
    get: ((table, key, index) => {
      if (!REMEMBERED.includes(table)) return rows.get(table, key, index);
      const name = `${table} ${String(key)}`;
      const answer = known.get(name) ?? rows.get(table, key, index);
      known.set(name, answer);
      return answer;
    }) as Rows['get'],
    put: (table, row, key) => {
      const { chatId, id } = Object(row) as { chatId?: string; id?: string };
      const own = key ?? (chatId === undefined ? id : [chatId, id]);
      known.set(`${table} ${String(own)}`, Promise.resolve(row));
      rows.put(table, row, key);
    },
  });
}

const REMEMBERED: readonly Table[] = ['meta', 'chats', 'branches'];

const memories = new WeakMap<Database, Map<string, Promise<unknown>>>();

function noting(rows: Records, changes: Pick<Change, 'chatId' | 'seq'>[]): Records {
  return standIn(rows, {
    put: (table, row, key) => {
      const { changed: seq, ...own } = Object(row) as Numbered & { chatId?: string; id?: string };
      if (table === 'changes') changes.push(row as Change);
      else if (seq !== undefined) changes.push({ chatId: own.chatId ?? own.id ?? '', seq });
      rows.put(table, row, key);
    },
  });
}

function standIn(rows: Records, instead: Partial<Rows>): Records {
  return {
    get damage() {
      return rows.damage;
    },
    assume: rows.assume,
    send: () => rows.send(),
    keys: (...args) => rows.keys(...args),
    get: (...args) => rows.get(...args),
    list: (...args) => rows.list(...args),
    lastChats: (...args) => rows.lastChats(...args),
    put: (...args) => rows.put(...args),
    delete: (...args) => rows.delete(...args),
    ...instead,
  };
}
