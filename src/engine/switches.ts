import type { Desk, Pending } from './desk.ts';
import type { History } from './history.ts';
import type { Sync } from './sync.ts';
import type { View } from './view.ts';

/**
 * Looking through branches.
 *
 * A switch marks a branch as the one in use. Nobody waits for a mark, which may take long where another tab keeps the
 * database busy: the branch is shown meanwhile, and whoever clicks through versions sees each at once. So a switch is shown
 * before it comes to its turn, where only marks of other switches come first. They read nothing of what is shown, and all
 * of them are written, one after another. A mark that is refused takes the view back to what stands, unless a later switch
 * is shown by then. Behind anything else a switch waits.
 *
 * A branch is shown once all of its words are here, so that a chat which is gone is not shown in parts. Messages that wait
 * for a `save()` are seen until it is certain that they go. What a disk refused before goes first, and may lead elsewhere:
 * the view waits for that.
 */
export class Switches {
  readonly #desk: Desk;
  readonly #history: History;
  readonly #view: View;
  readonly #sync: Sync;
  readonly #drop: (pending: readonly Pending[]) => void;
  #row: Row = { stands: NOWHERE, last: NOWHERE, isShown: false };
  /** How many switches of the row are still to end. */
  #left = 0;

  constructor(
    desk: Desk,
    session: {
      readonly history: History;
      readonly view: View;
      readonly sync: Sync;
      /** Messages wait no longer. */
      readonly drop: (pending: readonly Pending[]) => void;
    },
  ) {
    this.#desk = desk;
    this.#history = session.history;
    this.#view = session.view;
    this.#sync = session.sync;
    this.#drop = session.drop;
  }

  /** The branch that the last switch leads to: the one shown, or about to be. */
  get branchId(): string {
    return this.#left > 0 ? this.#row.last.branchId : this.#view.activeId;
  }

  /** Shows the place that is found. What is `leaving` is dropped once the mark is written. */
  async to(find: () => Place, leaving: readonly Pending[] = []): Promise<void> {
    if (leaving.length > 0 || !this.#sync.mayShow)
      return this.#sync.inTurn(async () => {
        const { branchId, at } = find();
        return this.#end(this.#begin({ branchId: await this.#sync.settleKept(branchId), at }, leaving));
      });
    const begun = this.#begin(find(), leaving);
    return this.#sync.mark(() => this.#end(begun));
  }

  /** Shows a place as soon as it may be. */
  #begin(to: Place, leaving: readonly Pending[]): Switch {
    const start = performance.now();
    const row = this.#rowHere();
    const from = row.last.branchId;
    row.last = to;
    this.#left += 1;
    if (to.branchId !== from) this.#history.use(to.branchId);
    const mayShow = leaving.length === 0 && this.#sync.isUpToDate;
    const showing = mayShow ? this.#showSoon(row, to) : undefined;
    return { row, from, to, leaving, showing, start };
  }

  /** The row of the switches that stand in line; a new one where there is none. */
  #rowHere(): Row {
    const here: Place = { branchId: this.#view.activeId, at: this.#view.at };
    if (this.#left === 0) this.#row = { stands: here, last: here, isShown: false };
    return this.#row;
  }

  async #showSoon(row: Row, to: Place): Promise<void> {
    const isHere = await this.#view.foresee(to.branchId, to.at).catch(() => false);
    if (isHere && row.last === to) await this.#show(row, to);
  }

  async #show(row: Row, { branchId, at }: Place): Promise<void> {
    row.isShown = true;
    // What goes wrong is told when its turn comes.
    await this.#view.open(branchId, at).catch(() => {});
    this.#desk.publish();
  }

  /** Its turn has come: writes the mark. */
  async #end(one: Switch): Promise<void> {
    const { from, to, start } = one;
    const isOther = to.branchId !== from;
    const name = this.#view.branchName(from);
    try {
      if (isOther) await this.#mark(to.branchId);
      await this.#settle(one);
    } catch (error) {
      await this.#goBack(one);
      throw error;
    } finally {
      this.#left -= 1;
    }
    if (isOther)
      this.#desk.emit({ type: 'switch', from: name, to: this.#view.branchName(to.branchId) }, start);
    this.#desk.publish();
  }

  #mark(branchId: string): Promise<void> {
    return this.#sync.commit([{ op: 'use', branchId }], { keep: true, quiet: true, isShown: true });
  }

  async #settle({ row, to, leaving, showing }: Switch): Promise<void> {
    await showing;
    // What can't be read is told before anything goes, and the view stays.
    await this.#view.foresee(to.branchId, to.at);
    this.#drop(leaving);
    if (row.last === to) await this.#view.open(to.branchId, to.at);
    row.stands = to;
  }

  /** It is refused: shows what stands, unless that is what is shown, or a later one is. */
  async #goBack({ row, to, showing }: Switch): Promise<void> {
    const { stands } = row;
    if (row.last === to) row.last = stands;
    await showing;
    if (!row.isShown) return;
    try {
      await this.#view.foresee(stands.branchId, stands.at);
    } catch {
      return;
    }
    if (row.last === stands) await this.#show(row, stands);
  }
}

/** What is shown: a branch, up to its head or to a message before that. */
export interface Place {
  readonly branchId: string;
  readonly at: string | null;
}

/** Switches with nothing between them in line. */
interface Row {
  /** What is shown where all that are left are refused. */
  stands: Place;
  /** Where the last one leads. */
  last: Place;
  /** Whether one was shown before its mark was written. */
  isShown: boolean;
}

/** One that is under way. */
interface Switch {
  readonly row: Row;
  /** The branch that is left. */
  readonly from: string;
  readonly to: Place;
  readonly leaving: readonly Pending[];
  /** Its being shown before its turn; it does not reject. */
  readonly showing: Promise<void> | undefined;
  readonly start: number;
}

const NOWHERE: Place = { branchId: '', at: null };
