import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessageChunk } from 'ai';
import { describe, expect, it, vi } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { mortal } from './person.ts';
import { afterReload, changed, openPage, SDK, type Page } from './story.ts';

// A page that dies in the middle of a Continue, and a server that goes on. Most servers replay the current request, which is
// what came since Continue; some replay the whole answer.

const CALL = { type: 'tool-input-available', toolCallId: '1', toolName: 'dice', input: {} } as const;

/** A page that can die. */
interface Leaving extends Page {
  /** The store, for the page that comes after it. */
  readonly disk: ContextStore;
  leave(): Promise<void>;
}

/** A page whose server replays its words to a page that comes back. */
async function openReplaying(disk: ContextStore = new InMemoryContextStore()): Promise<Leaving> {
  const { store, kill } = mortal(disk);
  const page = await openPage(store);
  const transport = { ...page.script.transport, resumeStreamIsReplay: true };
  // Nothing goes on by itself.
  page.chats.configure({ transport, sendAutomaticallyWhen: () => false });
  const leave = async (): Promise<void> => {
    window.dispatchEvent(new Event('pagehide'));
    await settle();
    // A page that lived on would write its next draft a moment later.
    kill();
  };
  return { ...page, disk, leave };
}

/** The page opened anew: the old one wrote its newest words while it went. */
async function openAnew(page: Leaving): Promise<Leaving> {
  await page.leave();
  return openReplaying(afterReload(page.disk));
}

/** A page with an answer that broke off. */
async function cutOff(...words: string[]): Promise<Leaving> {
  const page = await openReplaying();
  await page.cut('One?', ...words);
  return page;
}

/** The stream that the page gets when it asks its server again. */
async function lookAgain(page: Page): Promise<Exchange> {
  const replay = page.script.offer();
  void page.chats.active.resumeStream();
  await settle();
  return replay;
}

/** A page with an answer that broke off, and goes on as far as these words. */
async function goingOn(first: string, ...words: string[]): Promise<Leaving> {
  const page = await cutOff(first);
  await page.goOn(...words);
  return page;
}

/** The page opened anew; its server replays, and `said` sends the words. */
async function reload(before: Leaving, said: (replay: Exchange) => Promise<unknown>): Promise<Leaving> {
  const page = await openAnew(before);
  const replay = page.script.offer();
  void page.chats.active.resumeStream();
  // On a busy machine a page asks late.
  await expect.poll(() => replay.stream.locked).toBe(true);
  await said(replay);
  await settle();
  return page;
}

/** The server replays a request's words, and continues: `more`. */
function again(replay: Exchange, words: string[], ...more: string[]): Promise<void> {
  return replay.answer(...words, ...more);
}

/** What a page shows in the end, if all of it is stored, on the one branch. */
async function kept(page: Page): Promise<string> {
  await expect.poll(() => page.chats.active.isBusy).toBe(false);
  await page.chats.whenSettled();
  const [shown, stored] = [page.shown(), await page.stored()];
  const { branches } = page.engine.state.getState();
  return shown === stored && branches.length === 1
    ? shown
    : `${branches.length} branches, shown: ${shown}, stored: ${stored}`;
}

describe('a Continue in whose middle the page was loaded anew', () => {
  it('goes on behind the words that stood there, when the server replays what came since', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await reload(page, (replay) => again(replay, ['and '], 'second.'));
    expect(await kept(back)).toBe('q: One? | a: First and second.');
    expect(back.engine.status(back.chats.active.messages[1]!.id)).toBe('complete');
  });

  it('says nothing twice when the server replays the whole answer', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await reload(page, (replay) => again(replay, ['First ', 'and '], 'second.'));
    expect(await kept(back)).toBe('q: One? | a: First and second.');
  });

  it('goes on with words that begin as the answer began', async () => {
    const page = await goingOn('The one. ', 'The ');
    const back = await reload(page, (replay) => again(replay, ['The '], 'other.'));
    expect(await kept(back)).toBe('q: One? | a: The one. The other.');
  });

  it('never shows fewer words than were on the screen, whatever is replayed', async () => {
    for (const whole of [false, true]) {
      const page = await goingOn('First ', 'and ', 'second');
      const back = await openAnew(page);
      const seen: string[] = [back.shown()];
      back.chats.active['~registerMessagesCallback'](() => seen.push(back.shown()));
      const replay = await lookAgain(back);
      for (const word of [...(whole ? ['First '] : []), 'and ', 'second', ', ']) await replay.say(word);
      await replay.answer('third.');
      await back.chats.whenSettled();
      for (const [i, now] of seen.slice(1).entries()) expect(now.startsWith(seen[i]!)).toBe(true);
      expect(seen.at(-1)).toBe('q: One? | a: First and second, third.');
    }
  });

  it('goes on where it was last continued', async () => {
    const page = await cutOff('First ');
    await (await page.goOn('and ')).break();
    await page.chats.whenSettled();
    await page.goOn('second');
    const back = await reload(page, (replay) => again(replay, ['second'], ' and third.'));
    expect(await kept(back)).toBe('q: One? | a: First and second and third.');
  });

  it('goes on when the page asks twice, as StrictMode has it', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await openAnew(page);
    const replays = [back.script.offer(), back.script.offer()];
    void back.chats.active.resumeStream();
    void back.chats.active.resumeStream();
    await settle();
    for (const replay of replays) await replay.say('and ');
    for (const replay of replays) if (!replay.isStopped) await replay.answer('second.');
    expect(await kept(back)).toBe('q: One? | a: First and second.');
  });

  it('tells the app of the whole answer when it is finished', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await openAnew(page);
    const finished: string[] = [];
    back.chats.configure({
      transport: { ...back.script.transport, resumeStreamIsReplay: true },
      onFinish: ({ message }) => finished.push(JSON.stringify(message.parts)),
    });
    const replay = await lookAgain(back);
    await again(replay, ['and '], 'second.');
    await back.chats.whenSettled();
    await settle();
    expect(finished).toEqual([expect.stringContaining('First and second.')]);
  });

  it('gives a connection that only tells what is new its words behind all that is known', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await openAnew(page);
    back.chats.configure({ transport: { ...back.script.transport, resumeStreamIsReplay: false } });
    const rest = await lookAgain(back);
    await rest.answer('second.');
    expect(await kept(back)).toBe('q: One? | a: First and second.');
  });

  it.each([null, 'first', { parts: 1 }])('goes on where %j is kept in place of a place', async (junk) => {
    const page = await goingOn('First ', 'and ');
    const key = page.engine.node(page.chats.active.messages[1]!.id)!.key;
    await page.engine.keepFields('going-on', { [key]: junk });
    const back = await reload(page, (replay) => again(replay, ['First ', 'and '], 'second.'));
    expect(await kept(back)).toBe('q: One? | a: First and second.');
  });
});

describe('an answer that goes on after its tools were answered, in whose middle the page was loaded anew', () => {
  /** An answer that called a tool, got its result, and goes on as far as these words. */
  async function answeredCall(...words: string[]): Promise<Leaving> {
    const page = await openReplaying();
    const first = await page.begin('Roll?', 'Rolling. ');
    await first.send({ type: 'text-end', id: 't' }, CALL, { type: 'finish-step' }, { type: 'finish' });
    await first.drop();
    await page.chats.whenSettled();
    await page.chats.active.addToolOutput({ tool: 'dice' as never, toolCallId: '1', output: 4 });
    await page.goOn(...words);
    return page;
  }

  it('keeps the result where the server replays all of it, and knows of none', async () => {
    const page = await answeredCall('A ');
    const back = await reload(page, async (replay) => {
      await replay.say('Rolling. ');
      await replay.send({ type: 'text-end', id: 't' }, CALL, { type: 'finish-step' });
      await replay.send({ type: 'start-step' }, ...text('u', 'A four.'), { type: 'finish' });
      await replay.drop();
    });
    expect(await kept(back)).toBe('q: Roll? | a: Rolling. /[dice output-available]/A four.');
  });
});

it('a call whose input broke off in the middle is asked once when all of it is replayed', async () => {
  const page = await openReplaying();
  const cut = await page.begin('Roll?');
  const begun: UIMessageChunk[] = [
    { type: 'start' },
    { type: 'start-step' },
    ...text('t', 'Rolling. '),
    { type: 'tool-input-start', toolCallId: '1', toolName: 'dice' },
    { type: 'tool-input-delta', toolCallId: '1', inputTextDelta: '{"sides"' },
  ];
  await cut.send(...begun);
  const back = await reload(page, async (replay) => {
    await replay.send(...begun, { type: 'tool-input-delta', toolCallId: '1', inputTextDelta: ':6}' });
    await replay.send({ ...CALL, input: { sides: 6 } }, { type: 'finish-step' }, { type: 'finish' });
    await replay.drop();
  });
  expect(await kept(back)).toBe('q: Roll? | a: Rolling. /[dice input-available]');
});

function text(id: string, delta: string): UIMessageChunk[] {
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
    { type: 'text-end', id },
  ];
}

describe('a page that asks its server for what it still streams', () => {
  it('stops that for another try: who presses it need not wait for an answer that is given up', async () => {
    const page = await goingOn('First ', 'and ');
    const back = await openAnew(page);
    const replay = back.script.offer();
    void back.chats.active.resumeStream();
    const tried = back.chats.active.regenerate();
    await replay.say('and ').catch(() => {});
    await (await back.script.next()).answer('Other.');
    await tried;
    expect(back.shown()).toBe('q: One? | a: Other.');
    expect(await back.stored()).toBe('q: One? | a: First and ');
    expect(await back.stored('main-v2')).toBe('q: One? | a: Other.');
  });

  it('asks for none where the person looks at an earlier question', async () => {
    const page = await cutOff('First ');
    const back = await openAnew(page);
    await back.engine.checkout(back.chats.active.messages[0]!.id);
    const replay = back.script.offer();
    await back.chats.active.resumeStream();
    expect([replay.stream.locked, back.chats.active.error, back.shown()]).toEqual([
      false,
      undefined,
      'q: One?',
    ]);
    await back.engine.switchBranch('main');
    expect(await kept(back)).toBe('q: One? | a: First ');
  });

  it.runIf(SDK > 5)(
    'lets it go at once where a result given meanwhile lets the answer go on here',
    async () => {
      const page = await openReplaying();
      await page.begin('Roll?').then((asked) => asked.send({ type: 'start' }, CALL));
      const back = await openAnew(page);
      const replay = back.script.offer();
      const { promise: found, resolve: find } = Promise.withResolvers<Exchange['stream']>();
      const reconnectToStream = vi.fn<() => typeof found>(() => found);
      back.chats.configure({
        transport: { ...back.script.transport, reconnectToStream },
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      });
      void back.chats.active.resumeStream();
      await vi.waitFor(() => expect(reconnectToStream).toHaveBeenCalled());
      await back.chats.active.addToolOutput({ tool: 'dice' as never, toolCallId: '1', output: 6 });
      const more = await back.script.next();
      find(replay.stream);
      await expect.poll(() => replay.isStopped).toBe(true);
      await more.answer('Six.');
      expect(await kept(back)).toBe('q: Roll? | a: [dice output-available]/Six.');
    },
  );

  it('lets it go when its turn is refused, and says so', async () => {
    const page = await cutOff('First ');
    await page.leave();
    const commit: ContextStore['commit'] = () => Promise.reject(new Error('The disk is gone.'));
    const back = await openReplaying(changed(afterReload(page.disk), { commit }));
    const replay = back.script.offer();
    await back.chats.active.resumeStream();
    expect([replay.isStopped, back.chats.active.error?.message]).toEqual([true, 'The disk is gone.']);
  });

  it('asks for nothing while an answer is asked for or grows here, and can stop it', async () => {
    const page = await openReplaying();
    const offered = page.script.offer();
    const second = await page.begin('One?');
    const chat = page.chats.active;
    await chat.resumeStream();
    expect(chat.status).toBe('submitted');
    await second.say('Fir');
    // As a component does that comes back.
    await chat.resumeStream();
    expect([chat.status, offered.stream.locked]).toEqual(['streaming', false]);
    await chat.stop();
    expect([chat.status, second.isStopped]).toEqual(['ready', true]);
    expect(await page.stored()).toBe('q: One? | a: Fir');
  });
});
