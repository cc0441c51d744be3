import type { UIMessage } from 'ai';
import { ContextEngine } from './engine/engine.ts';
import type { FragmentSnapshot } from './engine/inspect.ts';
import type { ContextEvent } from './engine/state.ts';
import { ContextError, isRecord, refuseToLoad } from './errors.ts';
import type { FragmentData } from './fragment/fragment.ts';
import type { RecordedRequest } from './record/record.ts';
import type { ContextRenderer } from './render/renderer.ts';
import { XmlRenderer } from './render/xml.ts';
import { maskSecrets } from './secrets/maskSecrets.ts';
import { InMemoryContextStore } from './store/memory.ts';
import type { StorageFigures, StoreDelta } from './store/store.ts';

/**
 * A chat in one file, for a bug report: its branches, prompt, requests and events as plain data, secrets masked by default.
 * Opened elsewhere it is a read-only chat in memory that shows what was exported, with the prompt's text of that time.
 */

/** A chat and its surroundings, as plain data: `JSON.stringify()` makes the file. */
export interface Session {
  readonly format: 'contextree-session';
  readonly version: 1;
  /** ms since epoch. */
  readonly exportedAt: number;
  readonly chatId: string;
  readonly userId: string;
  /** How many secrets were masked, by kind; null if masking was off. */
  readonly masked: Readonly<Record<string, number>> | null;
  readonly records: StoreDelta;
  /** The system prompt of that time, and its fragments. */
  readonly prompt: {
    readonly text: string;
    readonly renderer: string;
    readonly fragments: readonly FragmentSnapshot[];
  };
  /** The recorded requests, see `engine.record()`; their `messages` are indexes into the list beside them. */
  readonly requests: readonly SessionRequest[];
  readonly messages: readonly UIMessage[];
  /** The engine's events, oldest first, as far as somebody subscribed. */
  readonly events: readonly ContextEvent[];
  readonly environment: SessionEnvironment;
}

/** A recorded request in a file. */
export interface SessionRequest extends Omit<RecordedRequest, 'messages'> {
  readonly messages: readonly number[];
}

/** Where a session was exported; fields that the platform does not report are absent. */
export interface SessionEnvironment {
  /** Scheme, host and port of the page. */
  readonly origin?: string;
  readonly userAgent?: string;
  readonly languages?: readonly string[];
  readonly timeZone?: string;
  readonly online?: boolean;
  readonly persistence: string;
  readonly saveState: string;
  /** How many messages were not saved. */
  readonly unsaved: number;
  readonly storage?: StorageFigures;
}

/** Options of {@link exportSession}. */
export interface ExportOptions {
  /** Whether keys, tokens, passwords and files in URLs are masked: default true. */
  readonly mask?: boolean;
  /** The events of `engine.subscribe()`, oldest first. */
  readonly events?: readonly ContextEvent[];
}

/**
 * A chat as plain data: its records, its bodies and their revisions, its prompt, its recorded requests, and its environment.
 * Reads all messages of the chat; masking also takes time in proportion to their length, in slices that let the page go on.
 */
export async function exportSession(engine: ContextEngine, options: ExportOptions = {}): Promise<Session> {
  const { mask = true, events = [] } = options;
  const records = await engine.account();
  const { rendered, fragments } = await engine.inspect();
  const session: Session = {
    format: 'contextree-session',
    version: 1,
    exportedAt: Date.now(),
    chatId: engine.chatId,
    userId: engine.userId,
    masked: null,
    records,
    prompt: { text: rendered, renderer: engine.renderer.name, fragments: fragments.context },
    ...withIndices(engine.requests()),
    events,
    environment: await environmentOf(engine),
  };
  return mask ? masked(session) : session;
}

function withIndices(recorded: readonly RecordedRequest[]): Pick<Session, 'requests' | 'messages'> {
  const messages = [...new Set(recorded.flatMap((request) => request.messages))];
  const indices = new Map(messages.map((message, i) => [message, i]));
  const indexOf = (message: UIMessage): number => indices.get(message) as number;
  const requests = recorded.map((request) => {
    return { ...request, spans: [], sections: [], messages: request.messages.map(indexOf) };
  });
  return { requests, messages };
}

async function environmentOf({ state, store }: ContextEngine): Promise<SessionEnvironment> {
  const { persistence, saveState } = state.getState();
  const storage = await store.storage?.().catch(() => undefined);
  const { navigator, location } = globalThis as Partial<typeof globalThis>;
  return {
    ...(location && { origin: location.origin }),
    ...(navigator && { userAgent: navigator.userAgent, languages: navigator.languages }),
    ...(navigator && { online: navigator.onLine }),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    persistence,
    saveState: saveState.error ? `${saveState.state}: ${saveState.error.code}` : saveState.state,
    unsaved: saveState.pending,
    ...(storage && { storage }),
  };
}

/** The session without secrets. Masking is a function of the text, so links hold; masked content has another checksum. */
async function masked(session: Session): Promise<Session> {
  const [{ maskInSlices }, { maskedRequest }, { sumOfBody }] = await Promise.all([
    import('./secrets/mask.ts'),
    import('./record/masked.ts'),
    import('./graph/graph.ts'),
  ]).catch(refuseToLoad);
  const counts: Record<string, number> = {};
  const masking = async <T>(value: T): Promise<T> =>
    (await maskInSlices(value, (kind) => void (counts[kind] = (counts[kind] ?? 0) + 1))) as T;
  const whole = await masking({ ...session, requests: [] });
  const messages = whole.records.messages.map((record) => {
    const versions = record.versions.map((version) =>
      version.body ? { ...version, sum: sumOfBody(version.body) } : version,
    );
    return { ...record, versions };
  });
  const requests = session.requests.map(async (request) => {
    const own = await maskedRequest({ ...request, messages: [] }, masking);
    return { ...own, messages: request.messages };
  });
  const records = { ...whole.records, messages };
  return { ...whole, records, requests: await Promise.all(requests), masked: counts };
}

/**
 * A chat from a file (its text, the file itself, or the result of {@link exportSession}), in memory and read-only: calls that
 * would change it reject, all others work. `requests()` returns the recorded requests, and a subscriber gets the exported
 * events first. Rejects with `invalid-import` for a value that is no session, with `newer-format` for one of a later version.
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
  const { format, version } = Object(value) as Partial<Session>;
  if (format !== 'contextree-session' || typeof version !== 'number') return refuseToImport();
  if (version > 1) {
    const text = `This session has format ${version}, and this contextree reads format 1. Update contextree to open it.`;
    throw new ContextError('newer-format', text, { details: { version } });
  }
  return isLike(value, SESSION) ? (value as Session) : refuseToImport();
}

const CHUNK = { ms: 0, chunk: { type: '' } };

/** What an engine and the views of a request count on: values of these types, lists of items like the one here. */
const SESSION = {
  chatId: '',
  userId: '',
  records: { messages: [{}], ends: [{}], marks: [{}] },
  prompt: { text: '', fragments: [{}] },
  requests: [
    { at: 0, system: '', spans: [{}], messages: [0], body: {}, told: {}, headerNames: [''], chunks: [CHUNK] },
  ],
  messages: [{}],
  events: [{ ms: 0 }],
};

function isLike(value: unknown, like: unknown): boolean {
  if (Array.isArray(like)) return Array.isArray(value) && value.every((one) => isLike(one, like[0]));
  if (typeof like !== 'object' || like === null) return typeof value === typeof like;
  if (!isRecord(value)) return false;
  return Object.entries(like).every(([name, one]) => Object.hasOwn(value, name) && isLike(value[name], one));
}

const WRITES =
  'save ask updateMessage edit add rewind restore btw renameBranch deleteBranch undo redo checkpoint renameCheckpoint ' +
  'deleteCheckpoint updateChat trackUsage keepFields retry';

class SessionEngine extends ContextEngine {
  readonly #session: Session;
  readonly #requests: readonly RecordedRequest[];

  constructor(session: Session, store: InMemoryContextStore) {
    const { chatId, userId, prompt, requests, messages } = session;
    super({ chatId, userId, store, renderer: rendererOf(prompt) });
    this.#session = session;
    this.#requests = requests.map((request) => {
      const record: RecordedRequest = {
        ...request,
        messages: request.messages.flatMap((index) => messages[index] ?? []),
        masked: async () => {
          const { maskedRequest } = await import('./record/masked.ts').catch(refuseToLoad);
          return maskedRequest(record, maskSecrets);
        },
      };
      return record;
    });
    for (const { id, name, data } of prompt.fragments)
      this.set({ name, data: data as FragmentData, ...(id === undefined ? {} : { id }) });
    for (const name of WRITES.split(' '))
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

/** Renders the exported prompt, whole; a part of its fragments is rendered as today. */
function rendererOf({ text, renderer, fragments }: Session['prompt']): ContextRenderer {
  const xml = new XmlRenderer();
  return {
    name: renderer,
    render: (asked) => (asked.length === fragments.length ? text : xml.render(asked)),
  };
}
