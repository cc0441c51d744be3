import { tool } from 'ai';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import type { CacheVerdict } from '../../src/record/explainCache.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import type { ContextRenderer } from '../../src/render/renderer.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { said } from '../support/engine.ts';
import { LONG, Provider, recordedPage, recordingPage, type Recorded } from './provider.ts';

const dice = tool({
  description: 'Rolls dice.',
  inputSchema: z.object({ sides: z.number() }),
  execute: () => 4,
});
const search = tool({
  description: 'Searches.',
  inputSchema: z.object({ words: z.string() }),
  execute: () => 'found',
});

/** What is said of the last request. */
async function verdict({ engine }: Recorded): Promise<CacheVerdict> {
  return engine.explainCache(engine.requests().at(-1)!.id);
}

/** A chat with a long prompt, one question asked and served; then something changes, and it is asked again. */
async function afterChange(
  change: (recorded: Recorded, provider: Provider) => unknown,
  begin: (recorded: Recorded, provider: Provider) => unknown = () => {},
): Promise<CacheVerdict> {
  const provider = new Provider();
  const recorded = await recordedPage(provider);
  recorded.engine.set(fragment('rules', LONG), { ...hint('Be brief.'), id: 'brief' }, role('A tutor.'));
  await begin(recorded, provider);
  await recorded.say('One?');
  await change(recorded, provider);
  await recorded.say('Two?');
  return verdict(recorded);
}

describe('why the cache broke, with the transport in the browser', () => {
  it('fragment text', async () => {
    const found = await afterChange(({ engine }) => {
      engine
        .clear()
        .set(fragment('rules', `New. ${LONG}`), { ...hint('Be brief.'), id: 'brief' }, role('A tutor.'));
    });
    expect(found).toMatchObject({
      state: 'broke',
      cause: 'fragment text',
      section: { kind: 'fragment', id: 'rules' },
      isLikely: false,
      seesTools: true,
    });
    expect(found.after).toContain('New. Rule 0');
    expect(found.billedAgain).toBeGreaterThan(1_000);
    expect(found.cost).toBeCloseTo((found.billedAgain * 2.5) / 1e6, 8);
    expect(found.mend).toMatch(/behind what stays/);
    expect(found.why).toBe('The text of the fragment "rules" changed.');
  });

  const pieces: Readonly<Record<string, ContextFragment>> = {
    rules: fragment('rules', LONG),
    brief: { ...hint('Be brief.'), id: 'brief' },
    early: { ...hint('Early.'), id: 'early' },
    tutor: role('A tutor.'),
  };
  const promptOf = (names: string): ContextFragment[] =>
    names.split(' ').map((name) => pieces[name] ?? hint(name));

  it.each([
    ['fragment added', 'rules brief', 'now rules brief', { section: { id: 'hint' } }],
    ['fragment removed', 'early rules', 'rules', { section: { id: 'early' }, before: '<hint>Early.</hint>' }],
    ['fragment removed', 'a b c rules', 'b c rules', { before: '<hint>a</hint>' }],
    ['fragments reordered', 'rules brief tutor', 'tutor rules brief', {}],
  ])('%s: %s, then %s', async (cause, before, after, more) => {
    const found = await afterChange(
      ({ engine }) => engine.clear().set(...promptOf(after)),
      ({ engine }) => engine.clear().set(...promptOf(before)),
    );
    expect(found).toMatchObject({ state: 'broke', cause, ...more });
  });

  it.each([
    ['2026-11-26T10:00:00Z', '2026-11-26T10:00:05Z'],
    ['Thursday, 26 November 2026', 'Friday, 27 November 2026'],
    ['11/26/2026, 4:42:23 PM', '11/27/2026, 9:02:00 AM'],
    ['1795685000', '1795685123'],
  ])('clock value: %s', async (before, after) => {
    let now = before;
    const found = await afterChange(
      () => {
        now = after;
      },
      ({ engine }) => {
        engine
          .clear()
          .set({ ...fragment('now', () => `It is ${now}.`), id: 'clock' }, fragment('rules', LONG));
      },
    );
    expect(found).toMatchObject({ state: 'broke', cause: 'clock value', section: { id: 'clock' } });
    expect(found.mend).toMatch(/Move the time to the end/);
  });

  it('renderer', async () => {
    let now: ContextRenderer = new XmlRenderer();
    const switching: ContextRenderer = {
      get name() {
        return now.name;
      },
      render: (fragments) => now.render(fragments),
    };
    const recorded = await recordedPage(new Provider(), switching);
    recorded.engine.set(fragment('rules', LONG));
    await recorded.say('One?');
    now = new MarkdownRenderer();
    await recorded.say('Two?');
    expect(await verdict(recorded)).toMatchObject({ state: 'broke', cause: 'renderer' });
  });

  const tools: Readonly<Record<string, [name: string, tool: object]>> = {
    dice: ['dice', dice],
    search: ['search', search],
    'two dice': ['dice', { ...dice, description: 'Rolls two dice.' }],
    'dice by name': ['dice', { ...dice, inputSchema: z.object({ sides: z.string() }) }],
  };
  const toolsOf = (names: string): never =>
    Object.fromEntries(names.split(', ').map((name) => tools[name]!)) as never;

  it.each([
    ['tool added', 'dice', 'search, dice', 'search'],
    ['tools reordered', 'dice, search', 'search, dice', undefined],
    ['tool changed', 'dice', 'two dice', 'dice'],
    ['tool changed', 'dice', 'dice by name', 'dice'],
  ])('%s: %s, then %s', async (cause, before, after, id) => {
    const found = await afterChange(
      ({ use }) => use({ tools: toolsOf(after) }),
      ({ use }) => use({ tools: toolsOf(before) }),
    );
    expect(found).toMatchObject({ state: 'broke', cause, ...(id && { section: { kind: 'tool', id } }) });
  });

  it('the same tools made anew break nothing', async () => {
    const anew = (): typeof dice => ({ ...dice, inputSchema: z.object({ sides: z.number() }) });
    const found = await afterChange(
      (recorded) => recorded.use({ tools: { dice: anew() } }),
      (recorded) => recorded.use({ tools: { dice: anew() } }),
    );
    expect(found).toMatchObject({ state: 'kept' });
  });

  it('earlier message edited', async () => {
    const found = await afterChange(
      async ({ engine }) => {
        const [question] = engine.state.getState().messages;
        await engine.updateMessage(question!.id, {
          ...question!,
          parts: [{ type: 'text', text: `Else ${LONG}` }],
        });
      },
      async (recorded) => {
        recorded.engine.clear();
        await recorded.say(LONG);
      },
    );
    expect(found).toMatchObject({ state: 'broke', cause: 'message edited', section: { kind: 'message' } });
  });

  it.each([[], ['Rules.']])('history cut, %j in its place', async (...summary) => {
    const texts = summary.map((text) => said('qs', text));
    const found = await afterChange(
      ({ send }) =>
        send(({ messages, body }) => ({ messages: [...texts, ...messages.slice(2)], ...(body && { body }) })),
      async (recorded) => {
        recorded.engine.clear();
        await recorded.say(LONG);
      },
    );
    expect(found).toMatchObject({ state: 'broke', cause: 'history cut', section: { kind: 'message' } });
  });

  it('model switch', async () => {
    const found = await afterChange(({ use }, provider) => use({ model: provider.model('gpt-4o-mini') }));
    expect(found).toMatchObject({ state: 'broke', cause: 'model switch', sharedTokens: 0 });
    expect(found.section).toBeUndefined();
  });

  it('provider miss', async () => {
    const found = await afterChange((_recorded, provider) => {
      provider.misses = true;
    });
    expect(found).toMatchObject({ state: 'broke', cause: 'provider miss', isLikely: true });
    expect(found.mend).toBeUndefined();
  });

  it('expired, after a pause of more than five minutes', async () => {
    const found = await afterChange((_recorded, provider) => {
      provider.misses = true;
      const later = Date.now() + 6 * 60_000;
      vi.spyOn(Date, 'now').mockReturnValue(later);
    });
    vi.restoreAllMocks();
    expect(found).toMatchObject({ state: 'broke', cause: 'expired', isLikely: true });
  });
});

describe('why the cache broke, over HTTP', () => {
  it('is not visible from the browser where only the server can have changed something', async () => {
    const page = await recordingPage();
    const { engine, chats } = page;
    const say = async (text: string, cacheReadTokens: number): Promise<void> => {
      const exchange = await page.begin(text, 'Yes.');
      const inputTokenDetails = { cacheReadTokens };
      await exchange.finish({ usage: { inputTokens: 2_000, outputTokens: 5, inputTokenDetails } });
      await chats.whenSettled();
    };
    engine.set(fragment('rules', LONG));
    await say('One?', 0);
    await say('Two?', 1_920);
    const [first, second] = engine.requests();
    expect(await engine.explainCache(second!.id)).toMatchObject({ state: 'kept', seesTools: false });
    await say('Three?', 0);
    const found = await engine.explainCache(engine.requests()[2]!.id);
    expect(found).toMatchObject({ state: 'broke', cause: 'not visible', isLikely: true, seesTools: false });
    expect(found.why).toMatch(/tools among it, is not visible from the browser/);
    expect(first!.told).toEqual({});
  });

  it('is named where a fragment changed, and the tools stay unseen', async () => {
    const page = await recordingPage();
    page.engine.set(fragment('rules', LONG));
    await page.ask('One?', 'Yes.');
    page.engine.clear().set(fragment('rules', `Else. ${LONG}`));
    await page.ask('Two?', 'No.');
    const found = await page.engine.explainCache(page.engine.requests()[1]!.id);
    expect(found).toMatchObject({ state: 'may break', cause: 'fragment text', seesTools: false });
    expect(found.why).toMatch(/The tools are not visible from the browser\.$/);
  });
});

describe('a cache that did not break', () => {
  it('is kept where nothing changed but the end', async () => {
    const found = await afterChange(({ engine }) => engine);
    expect(found).toMatchObject({ state: 'kept', billedAgain: 0, cost: 0 });
    expect(found.cause).toBeUndefined();
  });

  it('has nothing to compare the first request with', async () => {
    const recorded = await recordedPage(new Provider());
    await recorded.say('One?');
    expect(await verdict(recorded)).toMatchObject({ state: 'first' });
  });

  it('may break, as long as nobody tells what was served', async () => {
    const found = await afterChange(({ engine }, provider) => {
      provider.tells = false;
      engine.unset('brief');
    });
    expect(found).toMatchObject({ state: 'may break', cause: 'fragment removed' });
  });

  it('is too short for a provider to keep', async () => {
    const recorded = await recordedPage(new Provider());
    recorded.engine.set(hint('Be brief.'));
    await recorded.say('One?');
    recorded.engine.clear().set(hint('Be long.'));
    await recorded.say('Two?');
    const cause = 'fragment text';
    expect(await verdict(recorded)).toMatchObject({ state: 'too short', cause, billedAgain: 0 });
  });
});

describe('what a request is compared with', () => {
  it('is the latest one on its chain, and not the one before it in time', async () => {
    const recorded = await recordedPage(new Provider());
    const { engine, chats } = recorded;
    engine.set(fragment('rules', LONG));
    await recorded.say('One?');
    const first = engine.requests()[0]!;
    await recorded.say('Two?');
    await engine.rewind(engine.state.getState().messages[1]!.id);
    await chats.active.sendMessage({ text: 'Another two?' });
    await chats.whenSettled();
    expect(engine.requests()).toHaveLength(3);
    expect((await verdict(recorded)).comparedWith).toBe(first.id);
  });

  it('is the latest of the same model', async () => {
    const provider = new Provider();
    const recorded = await recordedPage(provider);
    recorded.engine.set(fragment('rules', LONG));
    await recorded.say('One?');
    recorded.use({ model: provider.model('gpt-4o-mini') });
    await recorded.say('Two?');
    recorded.use({ model: provider.model() });
    await recorded.say('Three?');
    const found = await verdict(recorded);
    expect(found).toMatchObject({ state: 'kept', comparedWith: recorded.engine.requests()[0]!.id });
  });

  it('is refused for a request that nobody recorded', async () => {
    const { engine } = await recordedPage(new Provider());
    await expect(engine.explainCache('nobody')).rejects.toMatchObject({ code: 'invalid-options' });
  });
});
