import type { ContextEngine, ContextEngineOptions, ContextStore } from 'contextree';
import type { ContextChat, ContextChatOptions, ContextChats } from 'contextree/ai';
import { onTestFinished } from 'vitest';
import { chatsOf } from '../../src/ai/contextChats.ts';
import type { AppProps } from './ChatView.tsx';
import { mountApp, type MountedApp } from './mounted.tsx';

/**
 * Opens the app until the test has finished. The store belongs to its page: components with one store share its engine.
 * Rendering is not throttled: stories don't wait.
 */
export async function openInApp(
  store: ContextStore,
  { onConflict, transport, ...options }: ContextChatOptions & Pick<ContextEngineOptions, 'onConflict'>,
): Promise<{ readonly engine: ContextEngine; readonly chats: ContextChats }> {
  if (!transport) throw new Error('An app needs a transport.');
  const app = mountApp(
    { store, transport, throttle: 0, resume: false, settings: settingsOf(options) },
    { onConflict },
  );
  onTestFinished(app.unmount);
  await app.engine.ready();
  return { engine: app.engine, chats: chatsInApp(app) };
}

/** Stories say themselves when an answer continues. An app need not know our options: it passes them on. */
function settingsOf(options: ContextChatOptions): AppProps['settings'] {
  return { sendAutomaticallyWhen: undefined, ...options } as AppProps['settings'];
}

/**
 * The chats of an app, for stories that were written for chats without one: the shown chat is what `useChat` gives the app.
 * Chats of other branches are on no screen, and what a hook does not return is the chat's own.
 */
function chatsInApp({ engine, chat: shown, change }: MountedApp): ContextChats {
  const chats = chatsOf(engine, {});
  const known = new WeakMap<ContextChat, ContextChat>();
  const inApp = (chat: ContextChat): ContextChat => {
    const source = (key: PropertyKey): object => {
      if (chat !== chats.active) return chat;
      const helpers = shown();
      return key in helpers ? helpers : chat;
    };
    const made =
      known.get(chat) ??
      new Proxy(chat, {
        get: (_, key) => valueOf(source(key), key),
        set: (_, key, value) => {
          if (key !== 'messages' || chat !== chats.active) return Reflect.set(chat, key, value, chat);
          shown().setMessages(value as ContextChat['messages']);
          return true;
        },
      });
    known.set(chat, made);
    return made;
  };
  return new Proxy(chats, {
    get: (_, key) => {
      if (key === 'active') return inApp(chats.active);
      if (key === 'all') return () => chats.all().map(inApp);
      if (key === 'configure') return (options: ContextChatOptions) => change(settingsOf(options));
      if (key !== 'get') return valueOf(chats, key);
      return (branch: string) => {
        const chat = chats.get(branch);
        return chat && inApp(chat);
      };
    },
  });
}

function valueOf(from: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(from, key, from);
  return typeof value === 'function' ? value.bind(from) : value;
}
