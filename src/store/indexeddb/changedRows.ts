import type { Key, Span, Table, Tables } from '../layout.ts';
import type { Records } from '../rows.ts';
import type { Change } from '../store.ts';
import type { Damage } from './damage.ts';

/**
 * Rows that tell the number of their last change themselves.
 *
 * A turn changes three things: a message, its branch, its chat. With a row in `changes` for each, half of what an append
 * puts would say only that the other half was put, and a strict append costs what it puts. So the number lies in the row
 * that was changed, as `changed`, and an index finds it. `changes` keeps what has no row any more, and what an earlier
 * version wrote: that counts as long as no row tells of a later change of the same thing.
 *
 * Nobody above sees the number in a row. Who asks for `changes` by their numbers gets them from all tables. Puts wait for
 * their change, which may come after them, until the end of the transaction; deletions don't. No transaction puts a row
 * and deletes it, or puts one twice.
 */
export class ChangedRows implements Records {
  readonly #rows: Records;
  readonly #puts: Put[] = [];
  readonly #changes = new Map<string, Change>();

  constructor(rows: Records) {
    this.#rows = rows;
  }

  get damage(): readonly Damage[] {
    return this.#rows.damage;
  }

  get assume(): Records['assume'] {
    return this.#rows.assume;
  }

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    const row = await this.#rows.get(table, key, index);
    return row !== undefined && isTelling(table) ? withoutNumber(row) : row;
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    if (table === 'changes' && span && index)
      return (await this.#changesIn(span, index, limit)) as Tables[T][];
    const rows = await this.#rows.list(table, span, index, limit);
    return isTelling(table) ? rows.map(withoutNumber) : rows;
  }

  async lastChats(span: Span, many: number): Promise<Tables['chats'][]> {
    return (await this.#rows.lastChats(span, many)).map(withoutNumber);
  }

  keys(table: Table, span?: Span, index?: string): Promise<Key[]> {
    return this.#rows.keys(table, span, index);
  }

  /** Changes by their number, within a chat or everywhere; with a limit, no table is read further than that. */
  async #changesIn(span: Span, index: string, limit: number = Infinity): Promise<Change[]> {
    const most = limit === Infinity ? undefined : limit;
    const [others, ...told] = await Promise.all([
      this.#rows.list('changes', span, index, most),
      ...TELLING.map((table) => this.#toldBy(table, span, index, most)),
    ]);
    const later = new Map(told.flat().map((change) => [nameOf(change), change]));
    const isLast = async (change: Change): Promise<boolean> =>
      (later.get(nameOf(change))?.seq ?? -1) < change.seq && !(most && (await this.#isOld(change)));
    const last = await Promise.all(others.map(isLast));
    const changes = [...later.values(), ...others.filter((_, i) => last[i])];
    // Behind the end of a table that was not read to its end, others may lie between.
    const end = Math.min(
      ...[others, ...told].map((some) => (some.length < limit ? Infinity : (some.at(-1)?.seq ?? Infinity))),
    );
    const sure = changes.filter(({ seq }) => seq <= end).toSorted((a, b) => a.seq - b.seq);
    const isEnough = end === Infinity || sure.length >= limit;
    return isEnough ? sure.slice(0, limit) : (await this.#changesIn(span, index, limit * 2)).slice(0, limit);
  }

  /** Whether a row that lies beyond what was read tells of a later change. */
  async #isOld({ kind, chatId, id, seq }: Change): Promise<boolean> {
    const row: (TellingRow & Numbered) | undefined =
      kind === 'chat'
        ? await this.#rows.get('chats', id)
        : kind === 'node'
          ? await this.#rows.get('nodes', [chatId, id], 'id')
          : await this.#rows.get(kind === 'branch' ? 'branches' : 'checkpoints', [chatId, id]);
    return (row?.changed ?? -1) > seq;
  }

  async #toldBy(table: Telling, span: Span, index: string, most?: number): Promise<Change[]> {
    if (table !== 'chats' || index === 'seq') {
      const rows = await this.#rows.list(table, span, index === 'seq' ? 'changed' : index, most);
      return rows.flatMap((row) => changeOf(table, row));
    }
    const [[id, from], [, to]] = [span.from, span.to] as [[string, number], [string, number]];
    const chat = await this.#rows.get('chats', id);
    return chat ? changeOf(table, chat).filter(({ seq }) => seq >= from && seq <= to) : [];
  }

  send(): void {
    this.#rows.send();
  }

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    if (isTelling(table)) this.#putTelling({ table, row } as Put);
    else if (table === 'changes') this.#changes.set(nameOf(row as Change), row as Change);
    else this.#rows.put(table, row, key);
  }

  delete(table: Table, span?: Span): void {
    this.#rows.delete(table, span);
  }

  #putTelling(put: Put): void {
    const { table, row } = put;
    const name = nameOf({ kind: TOLD[table], chatId: chatOf(row), id: row.id });
    const change = this.#changes.get(name);
    if (change?.op !== 'put') return void this.#puts.push(put);
    this.#changes.delete(name);
    const numbered: TellingRow & Numbered = { ...row, changed: change.seq };
    this.#rows.put(table, numbered);
  }

  /** Puts what was collected, each row with its number. Comes last in a transaction. */
  flush(): void {
    for (const put of this.#puts.splice(0)) this.#putTelling(put);
    // Those that nobody has numbered stay as they are.
    for (const { table, row } of this.#puts) this.#rows.put(table, row);
    for (const change of this.#changes.values()) this.#rows.put('changes', change);
  }
}

/** The tables whose rows tell of their changes, and what these are changes of. */
const TOLD = { chats: 'chat', nodes: 'node', branches: 'branch', checkpoints: 'checkpoint' } as const;
const TELLING = Object.keys(TOLD) as Telling[];

type Telling = keyof typeof TOLD;
type TellingRow = Tables[Telling];

/** The number of the last change of a row; older ones do not have it. */
export interface Numbered {
  readonly changed?: number;
}

interface Put {
  readonly table: Telling;
  readonly row: TellingRow;
}

/** The tables in which the changes of things are found. */
export const CHANGES: readonly Table[] = ['changes', ...TELLING];

function isTelling(table: Table): table is Telling {
  return table in TOLD;
}

/** A row as everybody knows it. */
export function withoutNumber<T>(row: T): T {
  const { changed, ...known } = row as T & Numbered;
  return changed === undefined ? row : (known as T);
}

function changeOf(table: Telling, row: TellingRow & Numbered): Change[] {
  const { changed: seq, id, rev } = row;
  return seq === undefined ? [] : [{ seq, kind: TOLD[table], op: 'put', chatId: chatOf(row), id, rev }];
}

function chatOf(row: TellingRow): string {
  return 'chatId' in row ? row.chatId : row.id;
}

function nameOf({ kind, chatId, id }: Pick<Change, 'kind' | 'chatId' | 'id'>): string {
  return `${kind} ${chatId.length}:${chatId}${id}`;
}
