import type { UIMessage } from 'ai';
import { createContextChats, type ContextChatOptions, type ContextChats } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEngineOptions } from '../../src/engine/options.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { scriptedTransport, settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';

/** The AI SDK that the tests run on: 5, 6 or 7. */
export const SDK = Number(globalThis.process?.env['AI_SDK'] ?? 7);

/** One page: an engine over a store, its chats, and a scripted model. */
export interface Page {
  readonly engine: ContextEngine;
  readonly chats: ContextChats;
  readonly script: ScriptedTransport;
  readonly store: ContextStore;
  /** The shown list, as words. */
  shown(): string;
  /** A branch in the store, as words: what another page would find. */
  stored(branch?: string): Promise<string>;
  /** The shown list, if the branch is stored like that; else both. */
  saved(branch?: string): Promise<string>;
  /** A question and its whole answer. */
  ask(question: string, ...answer: string[]): Promise<void>;
  /** Continues the answer, up to these words. */
  goOn(...answer: string[]): Promise<Exchange>;
  /** Edits the question of this id, and answers it. */
  reword(id: string, text: string, ...answer: string[]): Promise<void>;
  /** A question, and an answer that is cut off behind these words. */
  cut(question: string, ...answer: string[]): Promise<void>;
  /** The stream that a server gives to a page that comes back, and when that page has taken it up. */
  takeUp(): Promise<{ readonly replay: Exchange; readonly resumed: Promise<void> }>;
  /** A question and its answer so far, which grows. */
  begin(question: string, ...answer: string[]): Promise<Exchange>;
}

type PageOptions = ContextChatOptions & Pick<ContextEngineOptions, 'onConflict'>;

/**
 * Opens the chat `c` of user `me`: in the app of test/apps, which is plain `useChat` but for one line, where `CHATS` is `app`;
 * otherwise, and in Node, as engine and chats without a component.
 */
export async function openPage(
  store: ContextStore = new InMemoryContextStore(),
  options: PageOptions = {},
): Promise<Page> {
  return pageOf(store, options, (globalThis.document && openInApp) ?? openChats);
}

/** Opens the chat without a component: for tests of the chats themselves, and to make a long one fast. */
export async function openPlainly(
  store: ContextStore = new InMemoryContextStore(),
  options: PageOptions = {},
): Promise<Page> {
  return pageOf(store, options, openChats);
}

async function pageOf(store: ContextStore, options: PageOptions, open: Open): Promise<Page> {
  const script = scriptedTransport();
  const { engine, chats } = await open(store, { transport: script.transport, ...options });
  const shown = (): string => words(chats.active.messages);
  const stored = async (branch = 'main'): Promise<string> => {
    const head = (await store.listBranches('c')).find(({ name }) => name === branch)?.headKey;
    return head ? words((await store.getMessageChain('c', head)).map(({ data }) => data)) : '';
  };
  /** The request that an action leads to, answered up to these words. */
  const growing = async (asking: PromiseLike<unknown>, answer: readonly string[]): Promise<Exchange> => {
    void asking;
    const exchange = await script.next();
    if (answer.length > 0) await exchange.say(...answer);
    return exchange;
  };
  const begin: Page['begin'] = (text, ...answer) => growing(chats.active.sendMessage({ text }), answer);
  return {
    engine,
    chats,
    script,
    store,
    begin,
    goOn: (...answer) => growing(chats.active.sendMessage(), answer),
    shown,
    stored,
    saved: async (branch) => {
      const now = shown();
      const kept = await stored(branch);
      return kept === now ? now : `shown: ${now}, stored: ${kept}`;
    },
    ask: (text, ...answer) => script.answer(chats.active.sendMessage({ text }), ...answer),
    reword: (messageId, text, ...answer) =>
      script.answer(chats.active.sendMessage({ text, messageId }), ...answer),
    cut: async (text, ...answer) => {
      await (await begin(text, ...answer)).break();
      await chats.whenSettled();
    },
    takeUp: async () => {
      const replay = script.offer();
      const resumed = chats.active.resumeStream();
      await settle();
      return { replay, resumed };
    },
  };
}

type Open = (store: ContextStore, options: PageOptions) => Promise<Pick<Page, 'engine' | 'chats'>>;

const openChats: Open = async (store, { onConflict, ...options }) => {
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me', onConflict });
  const chats = createContextChats({ engine, ...options });
  await engine.ready();
  return { engine, chats };
};

const app = import.meta.env['CHATS'] === 'app' ? await import('../apps/chatsInApp.ts') : undefined;
// Each page has a store of its own.
const openInApp: Open | undefined = app && ((store, options) => app.openInApp(changed(store, {}), options));

/** A list as words: `q: hello | a: hi`; texts of a message are separated by slashes, tools are shown by name and state. */
export function words(messages: readonly UIMessage[]): string {
  return messages
    .map(({ role, parts }) => `${role === 'user' ? 'q' : 'a'}: ${partsAsWords(parts)}`)
    .join(' | ');
}

function partsAsWords(parts: UIMessage['parts']): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return 'toolCallId' in part ? [`[${part.type.replace('tool-', '')} ${part.state}]`] : [];
    })
    .join('/');
}

/** A store on the same data, as a page finds it after a reload: the locks ended with the old page. */
export function afterReload(before: ContextStore): ContextStore {
  return changed(before, { held: async () => new Set() });
}

/** A store on a slow disk. */
export function slowly(store: ContextStore, ms = 20): ContextStore {
  return changed(store, {
    commit: async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return store.commit(...args);
    },
  });
}

/** A store with some of its methods replaced. */
export function changed(store: ContextStore, methods: Partial<ContextStore>): ContextStore {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key, target);
      return typeof value === 'function' && !(key in methods) ? value.bind(target) : value;
    },
  });
}

/** The note of a request. */
export function noteOf({
  sent,
}: {
  readonly sent: { readonly metadata?: unknown };
}): Record<string, unknown> {
  return (sent.metadata as { contextree: Record<string, unknown> }).contextree;
}
