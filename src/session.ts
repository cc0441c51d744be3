import type { UIMessage } from 'ai';
import { ContextEngine } from './engine/engine.ts';
import type { FragmentSnapshot } from './engine/inspect.ts';
import type { ContextEvent } from './engine/state.ts';
import { ContextError, refuseToLoad } from './errors.ts';
import type { ContextFragment } from './fragment/fragment.ts';
import type { MessageRecord } from './graph/graph.ts';
import type { RecordedRequest } from './record/record.ts';
import { XmlRenderer } from './render/xml.ts';
import { InMemoryContextStore } from './store/memory.ts';
import type { StorageFigures, StoreDelta } from './store/store.ts';

/**
 * A chat in one file, for a bug report.
 *
 * A fault in a chat shows where the chat is: in its branches, its prompt, its requests, the order of its events.
 * A session is all of that as plain data. It leaves the page only as a file that a person hands on, so secrets are masked
 * unless somebody says otherwise, and it tells what was masked.
 *
 * Opened elsewhere it is a chat in memory, that can be looked at like any other, and not be written to. What it shows is
 * what was exported: the prompt is the text of then, whatever the renderer of then was.
 */

/** A chat and what was around it, as plain data: `JSON.stringify()` makes the file. */
export interface Session {
  readonly format: 'contextree-session';
  readonly version: 1;
  /** ms since epoch. */
  readonly exportedAt: number;
  readonly chatId: string;
  readonly userId: string;
  /** What was masked, by kind; null where masking was not wanted. */
  readonly masked: Readonly<Record<string, number>> | null;
  readonly records: StoreDelta;
  /** The system prompt as it was, and what it was made of. */
  readonly prompt: {
    readonly text: string;
    readonly renderer: string;
    readonly fragments: readonly FragmentSnapshot[];
  };
  /** What was recorded, see `engine.record()`; its `messages` are indices of those beside it. */
  readonly requests: readonly SessionRequest[];
  readonly messages: readonly UIMessage[];
  /** What the engine did, oldest first, as far as somebody listened. */
  readonly events: readonly ContextEvent[];
  readonly environment: SessionEnvironment;
}

/** A recorded request in a file. */
export interface SessionRequest extends Omit<RecordedRequest, 'messages'> {
  readonly messages: readonly number[];
}

/** Where a session was exported; what the platform does not tell is absent. */
export interface SessionEnvironment {
  /** Scheme, host and port of the page. */
  readonly origin?: string;
  readonly userAgent?: string;
  readonly languages?: readonly string[];
  readonly timeZone?: string;
  readonly online?: boolean;
  readonly persistence: string;
  readonly saveState: string;
  /** Messages that were not saved. */
  readonly unsaved: number;
  readonly storage?: StorageFigures;
}

/** What goes into a session. */
export interface ExportOptions {
  /** Whether keys, tokens, passwords and files in addresses are masked: default true. */
  readonly mask?: boolean;
  /** What `engine.subscribe()` told, oldest first. */
  readonly events?: readonly ContextEvent[];
}

/**
 * A chat as plain data: its records, words and revisions that count, its prompt, what was recorded of its requests, and what
 * is known of this place. Costs all messages of the chat; with masking also their length, in slices that let the page go on.
 */
export async function exportSession(
  engine: ContextEngine,
  { mask = true, events = [] }: ExportOptions = {},
): Promise<Session> {
  const records = await engine.account();
  const { rendered, fragments } = await engine.inspect();
  const [requests, messages] = withIndices(engine.requests());
  const session: Session = {
    format: 'contextree-session',
    version: 1,
    exportedAt: Date.now(),
    chatId: engine.chatId,
    userId: engine.userId,
    masked: null,
    records,
    prompt: { text: rendered, renderer: engine.renderer.name, fragments: fragments.context },
    requests,
    messages,
    events,
    environment: await environmentOf(engine),
  };
  return mask ? masked(session) : session;
}

/** Requests whose messages are indices: most of them have most messages in common. */
function withIndices(
  requests: readonly RecordedRequest[],
): readonly [readonly SessionRequest[], readonly UIMessage[]] {
  const indices = new Map<UIMessage, number>();
  const indexOf = (message: UIMessage): number => {
    const known = indices.get(message) ?? indices.size;
    indices.set(message, known);
    return known;
  };
  const listed = requests.map(({ messages, spans: _spans, sections: _sections, ...request }) => ({
    ...request,
    spans: [],
    sections: [],
    messages: messages.map(indexOf),
  }));
  return [listed, [...indices.keys()]];
}

async function environmentOf({ state, store }: ContextEngine): Promise<SessionEnvironment> {
  const { persistence, saveState } = state.getState();
  const storage = await store.storage?.().catch(() => undefined);
  const { navigator, location } = globalThis as Partial<typeof globalThis>;
  return {
    ...(location ? { origin: location.origin } : {}),
    ...(navigator
      ? { userAgent: navigator.userAgent, languages: navigator.languages, online: navigator.onLine }
      : {}),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    persistence,
    saveState: saveState.error ? `${saveState.state}: ${saveState.error.code}` : saveState.state,
    unsaved: saveState.pending,
    ...(storage ? { storage } : {}),
  };
}

// ------------------------------------------------------------------ masking

/** The same without secrets. What holds records together (keys, parents, authors) stays as it is. */
async function masked(session: Session): Promise<Session> {
  const [{ maskInSlices }, { maskedRequest }, { sumOfBody }] = await Promise.all([
    import('./engine/secrets.ts'),
    import('./record/masked.ts'),
    import('./graph/graph.ts'),
  ]).catch(refuseToLoad);
  /** Other words have another sum. */
  const heldTogether = (
    record: MessageRecord,
    { key, parent, chat, versions }: MessageRecord,
  ): MessageRecord => {
    const own = record.versions.map((version, i) => {
      const { by = '', sum = '', body } = versions[i] ?? {};
      return { ...version, by, sum: body && version.body ? sumOfBody(version.body) : sum };
    });
    return { ...record, key, parent, chat, versions: own };
  };
  const counts: Record<string, number> = {};
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const masking = async <T>(value: T): Promise<T> => (await maskInSlices(value, count)) as T;
  const { records, requests, ...rest } = session;
  const whole = await masking(rest);
  const { messages, marks, local } = await masking(records);
  return {
    ...whole,
    chatId: session.chatId,
    userId: session.userId,
    records: {
      messages: messages.map((record, i) => heldTogether(record, records.messages[i] as MessageRecord)),
      ends: records.ends,
      marks: marks.map((mark, i) => ({ ...records.marks[i], value: mark.value }) as typeof mark),
      ...(local ? { local } : {}),
    },
    requests: await Promise.all(
      requests.map(async (request) => {
        const own = await maskedRequest({ ...request, messages: [] }, masking);
        return { ...own, messages: request.messages };
      }),
    ),
    masked: counts,
  };
}

// ------------------------------------------------------------------ opening

/**
 * A chat from a file (its text, the file itself, or what {@link exportSession} gave), in memory and read-only: calls that
 * would change it reject, all others work. `requests()` has what was recorded, and who subscribes is told first what
 * happened then. Rejects with `invalid-import` for what is no session, with `newer-format` for one of a later version.
 */
export async function openSession(file: string | Blob | Session): Promise<ContextEngine> {
  const session = sessionIn(await textOf(file));
  const store = new InMemoryContextStore();
  const { database, generation } = await store.load(session.chatId);
  const { chatId, userId, records } = session;
  if (records.messages.length > 0 || records.marks.length > 0)
    await store.commit(chatId, records, { userId, database, generation, since: 0 }).catch(refuseToImport);
  const engine = new SessionEngine(session, store);
  await engine.ready();
  return engine;
}

async function textOf(file: string | Blob | Session): Promise<unknown> {
  const text = file instanceof Blob ? await file.text() : file;
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    return refuseToImport(cause);
  }
}

function refuseToImport(cause?: unknown): never {
  const message =
    'This is no session of contextree: choose a file that exportSession() or the devtools have made.';
  throw new ContextError('invalid-import', message, { cause });
}

function sessionIn(value: unknown): Session {
  const { format, version, chatId, userId, records, prompt, requests, messages, events } = Object(
    value,
  ) as Partial<Session>;
  if (format !== 'contextree-session' || typeof version !== 'number') return refuseToImport();
  if (version > 1) {
    const text = `This session has format ${version}, and this contextree reads format 1. Update contextree to open it.`;
    throw new ContextError('newer-format', text, { details: { version } });
  }
  const lists = [
    records?.messages,
    records?.ends,
    records?.marks,
    prompt?.fragments,
    requests,
    messages,
    events,
  ];
  const isWhole =
    typeof chatId === 'string' && typeof userId === 'string' && typeof prompt?.text === 'string';
  const isReadable =
    isWhole && lists.every(areRecords) && requests?.every((one) => Array.isArray(one.messages));
  return isReadable ? (value as Session) : refuseToImport();
}

function areRecords(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'object' && one !== null);
}

/** What changes a chat. */
const WRITES = [
  'save',
  'ask',
  'updateMessage',
  'edit',
  'add',
  'rewind',
  'restore',
  'btw',
  'renameBranch',
  'deleteBranch',
  'undo',
  'redo',
  'checkpoint',
  'renameCheckpoint',
  'deleteCheckpoint',
  'updateChat',
  'trackUsage',
  'keepFields',
  'retry',
] as const satisfies readonly (keyof ContextEngine)[];

/** An engine on a session. What it shows can be looked at from everywhere, and nothing of it changes. */
class SessionEngine extends ContextEngine {
  readonly #session: Session;
  readonly #requests: readonly RecordedRequest[];

  constructor(session: Session, store: InMemoryContextStore) {
    const { chatId, userId, prompt, requests, messages } = session;
    super({ chatId, userId, store, renderer: rendererOf(prompt) });
    this.#session = session;
    this.#requests = requests.map((request) => ({
      ...request,
      messages: request.messages.flatMap((index) => messages[index] ?? []),
    }));
    this.set(...prompt.fragments.map(asFragment));
    for (const name of WRITES)
      Object.defineProperty(this, name, { value: (): Promise<never> => Promise.reject(readOnly(name)) });
  }

  override get isReadOnly(): boolean {
    return true;
  }

  override async repair(options?: { readonly preview?: boolean }): ReturnType<ContextEngine['repair']> {
    if (options?.preview !== true) throw readOnly('repair');
    return super.repair(options);
  }

  override record(): () => void {
    return () => {};
  }

  override requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  override subscribe(listener: (event: ContextEvent) => void): () => void {
    for (const event of this.#session.events) listener(event);
    return super.subscribe(listener);
  }
}

function readOnly(name: string): ContextError {
  const message = `This chat is a read-only copy, opened from a session file: ${name}() would change it.`;
  return new ContextError('invalid-options', message, { details: { method: name } });
}

function asFragment({ id, name, data }: FragmentSnapshot): ContextFragment {
  return { name, data: data as ContextFragment['data'], ...(id === undefined ? {} : { id }) };
}

/** The prompt of then, whole; of some of its fragments what they would be today. */
function rendererOf({ text, renderer, fragments }: Session['prompt']): {
  readonly name: string;
  readonly render: (asked: readonly ContextFragment[]) => string;
} {
  const xml = new XmlRenderer();
  return {
    name: renderer,
    render: (asked) => (asked.length === fragments.length ? text : xml.render(asked)),
  };
}
