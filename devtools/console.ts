import { type ContextEngine, maskSecrets } from 'contextree';

/**
 * What a person at the console of the page, or an agent that reads it, asks of the chats: `__CONTEXTREE__` in development.
 *
 * It only reads. All answers are plain data, with secrets masked, so that they can be copied into an issue or a prompt.
 * Chats are named by their ids, and the one whose devtools were mounted last is asked where none is named.
 */
export interface ContextreeConsole {
  /** What can be asked, in words. */
  readonly help: string;
  /** The chats that devtools are mounted for, with their branches. */
  readonly chats: () => Promise<unknown>;
  /** Messages as previews, branches and checkpoints; with `at` (ms since epoch) as they were. */
  readonly graph: (options?: AskedChat & { readonly at?: number }) => Promise<unknown>;
  /** What a model would get at a message: the system prompt, the messages, and their tokens. Default: the head. */
  readonly promptAt: (message?: string, options?: AskedChat) => Promise<unknown>;
  /** How two messages or branches differ, turn by turn from their common ancestor. */
  readonly compare: (a: string, b: string, options?: AskedChat) => Promise<unknown>;
  /** Why the provider's cache did not serve a recorded request. Default: the last one. */
  readonly whyCacheBroke: (requestId?: string, options?: AskedChat) => Promise<unknown>;
  /** What was done with branches and checkpoints. */
  readonly operations: (options?: AskedChat) => Promise<unknown>;
  /** How much is stored, and what is wrong with the chat as it is stored. */
  readonly storage: (options?: AskedChat) => Promise<unknown>;
}

/** Which chat is asked. */
export interface AskedChat {
  readonly chatId?: string;
}

/** Where the console finds it. */
const page = globalThis as { __CONTEXTREE__?: ContextreeConsole };

const mounted: ContextEngine[] = [];

/** Lets the console be asked of an engine until the result is called. Nothing is read before it is asked. */
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
    help: 'chats(), graph({ at }), promptAt(id), compare(a, b), whyCacheBroke(requestId), operations(), storage(): all only read, and mask secrets; the last argument may be { chatId }.',
    chats: async () => maskSecrets(await Promise.all(engines().map(chatOf))),
    graph: async (options) => {
      const engine = await engineOf(options);
      return maskSecrets(options?.at === undefined ? engine.graph() : await engine.graph({ at: options.at }));
    },
    promptAt: async (message, options) => {
      const engine = await engineOf(options);
      const { rendered, estimate } = await engine.inspect({ at: message });
      const { messages } = await engine.resolve({ at: message });
      const { tokens, cost, exact } = estimate;
      return maskSecrets({ system: rendered, messages, tokens, cost, exact });
    },
    compare: async (a, b, options) => maskSecrets(await (await engineOf(options)).compare(a, b)),
    whyCacheBroke: async (requestId, options) => {
      const engine = await engineOf(options);
      const id = requestId ?? lastOf(engine.requests());
      return id === undefined
        ? 'No request is recorded. Open the devtools, or call engine.record(), before the next one is sent.'
        : maskSecrets(await engine.explainCache(id));
    },
    operations: async (options) => maskSecrets((await engineOf(options)).operations()),
    storage: async (options) => {
      const engine = await engineOf(options);
      const findings = await engine.verify();
      return maskSecrets({ ...(await engine.store.storage?.()), findings });
    },
  };
}

async function chatOf(engine: ContextEngine): Promise<unknown> {
  await engine.ready();
  const { chatId, branch, state, isReadOnly } = engine;
  const { chat, branches, headMessageId, status } = state.getState();
  return { chatId, title: chat?.title, branch, headMessageId, branches, status, isReadOnly };
}

function lastOf(requests: ReturnType<ContextEngine['requests']>): string | undefined {
  return requests.at(-1)?.id;
}
