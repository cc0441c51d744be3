import { type ContextEngine, maskSecrets } from 'contextree';

/**
 * The API for the page's console, and for agents that read it: `__CONTEXTREE__` in development.
 *
 * It only reads. All results are plain data with secrets masked, so that they can be copied into an issue or a prompt. Chats
 * are named by their ids; the default is the one whose devtools were mounted last.
 */
export interface ContextreeConsole {
  /** The methods, for people. */
  readonly help: string;
  /** The chats with mounted devtools, and their branches. */
  readonly chats: () => Promise<unknown>;
  /** Messages as previews, branches and checkpoints; with `at` (ms since epoch) as they were. */
  readonly graph: (options?: AskedChat & { readonly at?: number }) => Promise<unknown>;
  /** The input of a model at a message: the system prompt, the messages, and their tokens. Default: the head. */
  readonly promptAt: (message?: string, options?: AskedChat) => Promise<unknown>;
  /** The difference between two messages or branches, turn by turn from their common ancestor. */
  readonly compare: (a: string, b: string, options?: AskedChat) => Promise<unknown>;
  /** Why the provider's cache did not serve a recorded request. Default: the last one. */
  readonly whyCacheBroke: (requestId?: string, options?: AskedChat) => Promise<unknown>;
  /** The operations on branches and checkpoints. */
  readonly operations: (options?: AskedChat) => Promise<unknown>;
  /** The size of the store, and what is wrong with the stored chat. */
  readonly storage: (options?: AskedChat) => Promise<unknown>;
}

/** The chat to read. */
interface AskedChat {
  readonly chatId?: string;
}

/** The global object that holds the API. */
const page = globalThis as { __CONTEXTREE__?: ContextreeConsole };

const mounted: ContextEngine[] = [];

/** Makes an engine readable from the console until the result is called. Nothing is read before a call. */
export function openConsole(engine: ContextEngine): () => void {
  mounted.push(engine);
  page['__CONTEXTREE__'] ??= createConsole();
  return () => {
    mounted.splice(mounted.indexOf(engine), 1);
    if (mounted.length === 0) delete page['__CONTEXTREE__'];
  };
}

function engines(): readonly ContextEngine[] {
  return [...new Set(mounted)];
}

async function engineOf({ chatId }: AskedChat = {}): Promise<ContextEngine> {
  const all = engines();
  const engine = all.findLast((one) => chatId === undefined || one.chatId === chatId);
  if (!engine)
    throw new Error(
      `There is no chat${chatId === undefined ? '' : ` "${chatId}"`} here. These are: ${all.map((one) => one.chatId).join(', ') || 'none'}.`,
    );
  await engine.ready();
  return engine;
}

function createConsole(): ContextreeConsole {
  return {
    help: 'chats(), graph({ at }), promptAt(id), compare(a, b), whyCacheBroke(requestId), operations(), storage(); { chatId } may come last',
    chats: async () => maskSecrets(await Promise.all(engines().map(chatOf))),
    graph: (options) =>
      read(options, (engine) =>
        options?.at === undefined ? engine.graph() : engine.graph({ at: options.at }),
      ),
    promptAt: (message, options) =>
      read(options, async (engine) => {
        const { rendered, estimate } = await engine.inspect({ at: message });
        const { messages } = await engine.resolve({ at: message });
        const { tokens, cost, exact } = estimate;
        return { system: rendered, messages, tokens, cost, exact };
      }),
    compare: (a, b, options) => read(options, (engine) => engine.compare(a, b)),
    whyCacheBroke: (requestId, options) =>
      read(options, (engine) => {
        const id = requestId ?? engine.requests().at(-1)?.id;
        return id === undefined
          ? 'No request is recorded. Open the devtools, or call engine.record(), before the next one is sent.'
          : engine.explainCache(id);
      }),
    operations: (options) => read(options, (engine) => engine.operations()),
    storage: (options) =>
      read(options, async (engine) => ({
        ...(await engine.store.storage?.()),
        findings: await engine.verify(),
      })),
  };
}

/** The answer of a chat, without secrets. */
async function read(
  options: AskedChat | undefined,
  ask: (engine: ContextEngine) => unknown,
): Promise<unknown> {
  return maskSecrets(await ask(await engineOf(options)));
}

async function chatOf(engine: ContextEngine): Promise<unknown> {
  await engine.ready();
  const { chatId, branch, state, isReadOnly } = engine;
  const { chat, branches, headMessageId, status } = state.getState();
  return { chatId, title: chat?.title, branch, headMessageId, branches, status, isReadOnly };
}
