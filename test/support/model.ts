import type { MessageStatus } from '../../src/graph/graph.ts';

/**
 * A chat on paper: what must be true of a chat and of the tabs that work on it, told without engines and stores.
 *
 * Pages hang on pages, lines are names for pages, marks are names that stay. Each person at a desk (one tab) looks at
 * one line, sees of each line what is settled, and has a pile of pages not yet handed in. The rules are those of the
 * contract, written as plainly as they can be: everything happens at once, nothing is cached, nobody waits.
 */

/** A message. Words and status change; its place never does. */
export interface Page {
  /** Its order of writing: siblings stand in it. */
  readonly n: number;
  /** Known once the engine has told it. */
  id: string;
  readonly parent: Page | null;
  readonly role: 'user' | 'assistant';
  /** '' while an answer is only reserved. */
  words: string;
  status: MessageStatus;
  /** Who writes on it right now, and on which line. */
  pen: { readonly desk: Desk; readonly line: Line } | undefined;
  /** Words that the disk refused while they were drafts. */
  isUndrafted: boolean;
  /** Taken back: it was reserved and nothing was ever written on it. */
  gone: boolean;
}

/** A branch. */
export interface Line {
  name: string;
  head: Page | null;
  isDeleted: boolean;
  /** Who deleted it: an answer that somebody else was writing on it brings it back. */
  deletedBy?: Desk;
  /** The larger, the later it was used. */
  used: number;
}

/** A checkpoint. */
export interface Mark {
  name: string;
  page: Page;
}

/** A message that waits: one with an id, or new words for the last answer. */
export interface Waiting {
  /** undefined for `lastAssistantMessage()`. */
  readonly id: string | undefined;
  readonly role: 'user' | 'assistant';
  readonly words: string;
}

interface Settled extends Waiting {
  /** Whether it replaces the answer that is there. */
  readonly overwrites?: boolean;
}

export class Paper {
  readonly pages: Page[] = [];
  readonly lines: Line[] = [];
  marks: Mark[] = [];
  readonly desks: Set<Desk> = new Set();
  /** The line used last at any desk: where a new one opens. */
  active: Line | undefined;
  #clock = 0;

  write(parent: Page | null, role: Page['role'], words: string, id = '', pen?: Page['pen']): Page {
    const status = pen ? 'streaming' : 'complete';
    const page: Page = {
      n: this.pages.length,
      id,
      parent,
      role,
      words,
      status,
      pen,
      isUndrafted: false,
      gone: false,
    };
    this.pages.push(page);
    return page;
  }

  find(id: string): Page | undefined {
    return this.pages.find((page) => page.id === id && !page.gone);
  }

  get live(): Line[] {
    return this.lines.filter((line) => !line.isDeleted);
  }

  /** A new line named after another one. */
  draw(base: string, head: Page | null): Line {
    const line: Line = { name: this.#nextName(base), head, isDeleted: false, used: 0 };
    this.lines.push(line);
    return line;
  }

  #nextName(base: string): string {
    const taken = this.live.map(({ name }) => name);
    let n = 2;
    while (taken.includes(`${base}-v${n}`)) n += 1;
    return `${base}-v${n}`;
  }

  /** The first write makes the chat. */
  begin(): void {
    if (this.lines.length > 0) return;
    const main: Line = { name: 'main', head: null, isDeleted: false, used: 0 };
    this.lines.push(main);
    this.use(main);
  }

  touch(line: Line): void {
    this.#clock += 1;
    line.used = this.#clock;
  }

  use(line: Line): void {
    this.touch(line);
    this.active = line;
  }

  /** The line where a new desk opens. */
  opening(): Line | undefined {
    if (this.active && !this.active.isDeleted) return this.active;
    return this.live.toSorted((a, b) => b.used - a.used)[0];
  }

  bringBack(line: Line): void {
    if (this.live.some(({ name }) => name === line.name)) line.name = this.#nextName(line.name);
    line.isDeleted = false;
  }

  delete(line: Line, by: Desk): void {
    line.isDeleted = true;
    line.deletedBy = by;
    if (this.active === line) this.active = this.live.toSorted((a, b) => b.used - a.used)[0];
  }

  /** An answer on which nothing was written is taken back, unless something hangs on it. */
  takeBack(page: Page): void {
    page.pen = undefined;
    page.status = 'interrupted';
    if (this.pages.some((other) => other.parent === page && !other.gone)) return;
    page.gone = true;
    for (const line of this.lines) if (line.head === page) line.head = page.parent;
    this.marks = this.marks.filter((mark) => mark.page !== page || page.parent);
    for (const mark of this.marks) if (mark.page === page) mark.page = page.parent ?? page;
  }
}

export function isVisible(page: Page): boolean {
  return page.words !== '' || page.status === 'complete';
}

function isSettled(page: Page | null): boolean {
  return page === null || (!page.gone && page.status !== 'streaming' && isVisible(page));
}

/** The pages from the first to this one. */
export function pathTo(page: Page | null): Page[] {
  const path: Page[] = [];
  for (let at = page; at; at = at.parent) path.unshift(at);
  return path;
}

function settledOn(page: Page | null): Page | null {
  return pathTo(page).findLast(isSettled) ?? null;
}

/** The words that one reads on the way to a page. */
export function read(page: Page | null): string {
  return pathTo(page)
    .filter(isVisible)
    .map(({ words }) => words)
    .join(' > ');
}

/** One tab: which line it looks at, what it sees of each, and what waits there. */
export class Desk {
  readonly paper: Paper;
  /** undefined while the chat is not begun, as far as this desk knows. */
  line: Line | undefined;
  at: Page | null = null;
  pile: Waiting[] = [];
  readonly #seen: Map<Line, Page | null> = new Map();

  constructor(paper: Paper) {
    this.paper = paper;
    this.line = paper.opening();
    paper.desks.add(this);
    this.look();
  }

  /** The answers that are written at this desk right now. */
  get answers(): Page[] {
    return this.paper.pages.filter(({ pen, gone }) => pen?.desk === this && !gone);
  }

  // --- What it sees

  /** What this desk sees of a line: its head as far as it is settled, or written here. */
  seen(line: Line | undefined): Page | null {
    return (line && this.#seen.get(line)) ?? null;
  }

  get shown(): Page | null {
    return this.at ?? this.seen(this.line);
  }

  get lineName(): string {
    return this.line?.name ?? 'main';
  }

  /** Whether it may see what others did to a line, without losing the place of something under way here. */
  #isFree(line: Line | undefined): boolean {
    if (line === this.line && this.pile.length > 0) return false;
    return !this.paper.pages.some(({ pen }) => pen?.desk === this && pen.line === line);
  }

  /** Looks up: after every step, whoever took it. */
  look(): void {
    for (const line of this.paper.lines) {
      const known = this.#seen.get(line);
      if (known === undefined || known?.gone)
        this.#seen.set(line, this.#isMine(line.head) ? line.head : settledOn(line.head));
      else if ((this.#isMine(line.head) || isSettled(line.head)) && this.#isFree(line))
        this.#seen.set(line, line.head);
    }
    if ((!this.line || this.line.isDeleted) && this.#isFree(this.line))
      [this.line, this.at] = [this.paper.opening(), null];
    if (this.at?.gone || this.at === this.seen(this.line)) this.at = null;
  }

  #isMine(page: Page | null): boolean {
    return page?.pen?.desk === this;
  }

  /** The pages that live lines reach, as seen here. */
  reached(): Set<Page> {
    return new Set(this.paper.live.flatMap((line) => pathTo(this.seen(line))));
  }

  siblings(page: Page): Page[] {
    const reached = this.reached();
    return this.paper.pages.filter((other) => {
      return (
        !other.gone &&
        other.parent === page.parent &&
        other.role === page.role &&
        isVisible(other) &&
        reached.has(other)
      );
    });
  }

  #lastUsedWith(page: Page, lines = this.paper.live): Line | undefined {
    const holding = lines.filter((line) => pathTo(this.seen(line)).includes(page));
    return holding.toSorted((a, b) => b.used - a.used)[0];
  }

  /** The name that a new version beside the children of a page is made from. */
  #baseBeside(parent: Page | null, role: Page['role'], left = this.line): string {
    const reached = this.reached();
    const oldest = this.paper.pages.find(
      (page) => !page.gone && page.parent === parent && page.role === role && reached.has(page),
    );
    const holder = oldest && this.paper.live.find((line) => pathTo(this.seen(line)).includes(oldest));
    return (holder ?? left)?.name ?? 'main';
  }

  // --- Writing

  /** The line of this desk, begun if it must be. The name `main` means the first line, whoever drew it. */
  #ownLine(): Line {
    this.paper.begin();
    return this.line ?? (this.paper.lines[0] as Line);
  }

  /** Puts pages at the end of a line; on a line of their own when another desk was faster. Returns the line. */
  #extend(line: Line, expected: Page | null, head: Page | null): Line {
    const isFree = !line.isDeleted && line.head === expected;
    if (!isFree && (this.#isMine(line.head) || isSettled(line.head))) this.#seen.set(line, line.head);
    const target = isFree ? line : this.paper.draw(line.name, head);
    // What is under way here goes along.
    for (const page of this.answers) if (page.pen?.line === line) page.pen = { desk: this, line: target };
    target.head = head;
    this.paper.touch(target);
    this.#seen.set(target, head);
    return target;
  }

  #show(line: Line | undefined, at: Page | null = null): void {
    this.line = line;
    this.at = at;
  }

  #drawAt(base: string, head: Page | null): Line {
    const line = this.paper.draw(base, head);
    this.#seen.set(line, head);
    return line;
  }

  #drawAndShow(base: string, head: Page | null): Line {
    const line = this.#drawAt(base, head);
    this.paper.use(line);
    this.#show(line);
    return line;
  }

  // --- save()

  /** What waits, with double ids merged and new words for the last answer given their message. */
  #settlePile(pile: readonly Waiting[]): Settled[] {
    const settled: Settled[] = [];
    for (const waiting of pile) {
      const at = settled.findLastIndex(({ id, role }) =>
        waiting.id === undefined ? role === 'assistant' : id === waiting.id,
      );
      if (at < 0) settled.push(waiting.id === undefined ? this.#lastAnswer(waiting.words) : waiting);
      else
        settled[at] =
          waiting.id === undefined ? { ...(settled[at] as Settled), words: waiting.words } : waiting;
    }
    return settled;
  }

  #lastAnswer(words: string): Settled {
    const known = pathTo(this.shown).findLast((page) => page.role === 'assistant' && isVisible(page));
    if (!known) return { id: undefined, role: 'assistant', words };
    const overwrites =
      known === this.shown && this.at === null && known.status !== 'streaming' && !this.#isShared(known);
    return { id: known.id, role: 'assistant', words, overwrites };
  }

  #isShared(page: Page): boolean {
    const others = this.paper.live.filter((line) => line !== this.line);
    return (
      this.paper.pages.some((other) => other.parent === page && !other.gone) ||
      others.some((line) => line.head === page || this.seen(line) === page) ||
      this.paper.marks.some((mark) => mark.page === page)
    );
  }

  /** Hands in what waits, or the part of it that is given. */
  save(inPlace: boolean, pile: readonly Waiting[] = this.pile): void {
    const start = this.shown;
    let line = this.line ?? this.paper.lines[0];
    let cursor = start;
    let forkBase: string | undefined;
    const close = (): void => {
      if (cursor === start) return;
      if (this.at === null) line = this.#extend(this.#ownLine(), start, cursor);
      else line = this.#drawAt(this.lineName, cursor);
    };
    for (const { id, role, words, overwrites } of this.#settlePile(pile)) {
      const known = id === undefined ? undefined : this.paper.find(id);
      if (forkBase !== undefined || !known) cursor = this.paper.write(cursor, role, words, known ? '' : id);
      else if (known.words === words && known.role === role) continue;
      else if (inPlace || overwrites) [known.words, known.isUndrafted] = [words, false];
      else {
        forkBase = this.#baseBeside(known.parent, role);
        close();
        cursor = this.paper.write(known.parent, role, words);
      }
    }
    this.pile = this.pile.filter((waiting) => !pile.includes(waiting));
    if (forkBase !== undefined) this.#drawAndShow(forkBase, cursor);
    else if (cursor !== start) {
      close();
      this.#show(line);
      this.paper.use(line as Line);
    } else this.#ownLine();
  }

  // --- Turns that stream

  /**
   * A question (words for a new one, or one that is there) and a reserved answer, on the line shown or another one.
   * Without `after`: after what is seen there.
   */
  ask(
    question: Page | string,
    ids: { readonly question: string; readonly answer: string },
    after: Page | null | undefined,
    line: Line | undefined,
  ): Page {
    const isActive = line === this.line;
    const isNew = typeof question === 'string';
    const seen = isActive ? this.shown : this.seen(line);
    const under = isNew ? (after === undefined ? seen : after) : question;
    const base = this.#baseBeside(under, isNew ? 'user' : 'assistant', line);
    const asked = isNew ? this.paper.write(under, 'user', question, ids.question) : question;
    const answer = this.paper.write(asked, 'assistant', '', ids.answer);
    answer.status = 'streaming';
    const target =
      under === this.seen(line)
        ? this.#extend(line ?? this.#ownLine(), under, answer)
        : this.#drawAt(base, answer);
    answer.pen = { desk: this, line: target };
    if (!isActive) return answer;
    this.#show(target);
    this.paper.use(target);
    return answer;
  }

  finish(answer: Page, words: string, status: 'complete' | 'interrupted'): void {
    const line = answer.pen?.line;
    if (line?.isDeleted && line.deletedBy !== this) this.paper.bringBack(line);
    if (words === '' && answer.words === '') return this.paper.takeBack(answer);
    answer.words = words || answer.words;
    answer.isUndrafted = false;
    answer.status = status;
    answer.pen = undefined;
  }

  resume(answer: Page): void {
    answer.status = 'streaming';
    answer.pen = { desk: this, line: this.#lastUsedWith(answer) ?? (this.line as Line) };
  }

  edit(page: Page, words: string): Page {
    const base = this.#baseBeside(page.parent, page.role);
    const version = this.paper.write(page.parent, page.role, words);
    this.#drawAndShow(base, version);
    return version;
  }

  // --- Branches

  rewind(page: Page): Line {
    this.pile = [];
    return this.#drawAndShow(this.lineName, page);
  }

  btw(): Line | undefined {
    const head = settledOn(this.shown);
    return head ? this.#drawAt(this.lineName, head) : undefined;
  }

  switchTo(line: Line): void {
    this.pile = [];
    this.#goTo(line, null);
  }

  #goTo(line: Line | undefined, at: Page | null): void {
    if (line && line !== this.line) this.paper.use(line);
    this.#show(line, at);
  }

  checkout(page: Page): void {
    const heads = this.paper.live.filter((line) => this.seen(line) === page);
    const line = this.#lastUsedWith(page, heads) ?? this.#lastUsedWith(page) ?? this.line;
    this.#goTo(line, this.seen(line) === page ? null : page);
  }

  select(page: Page): boolean {
    const line = this.#lastUsedWith(page);
    if (line) this.#goTo(line, null);
    return line !== undefined;
  }

  delete(line: Line): boolean {
    if (this.paper.live.length === 1) return false;
    this.paper.delete(line, this);
    if (this.line === line) {
      this.pile = [];
      this.#show(this.paper.opening());
    }
    return true;
  }

  mark(name: string, page: Page | null): boolean {
    const target = page ?? settledOn(this.shown);
    if (!target) return false;
    const known = this.paper.marks.find((mark) => mark.name === name);
    if (known) known.page = target;
    else this.paper.marks.push({ name, page: target });
    return true;
  }

  /** The tab is gone: what it was writing is cut off there. */
  die(): void {
    this.paper.desks.delete(this);
    for (const page of this.paper.pages) {
      if (page.pen?.desk !== this) continue;
      if (page.isUndrafted) page.words = '';
      if (page.words === '') this.paper.takeBack(page);
      else page.status = 'interrupted';
      page.pen = undefined;
    }
  }
}
