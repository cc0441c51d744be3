import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hint, role, term, workflow } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { campaign } from '../support/campaign.ts';
import { renderers, toml, toon, xml } from '../support/renderers.ts';
import { fragments as anyFragments } from './arbitrary.ts';

/** What each fragment is in the text, by its name; a fragment without a span is left out. */
async function shown(
  renderer: (typeof renderers)[number],
  ...fragments: ContextFragment[]
): Promise<string[]> {
  const { text, spans } = await renderer.renderWithSpans(fragments);
  return spans.map(({ fragment: { name }, start, end }) => `${name}: ${text.slice(start, end)}`);
}

describe('the spans of fragments', () => {
  it.each(renderers)('cover what each fragment renders alone, in $name', async (renderer) => {
    const fragments = [role('You are a tutor.'), hint('Be brief.'), term('head', 'the last message')];
    const alone = fragments.map((one) => `${one.name}: ${renderer.render([one])}`);
    expect((await shown(renderer, ...fragments)).toSorted()).toEqual(alone.toSorted());
  });

  it.each(renderers)('come with the very text of render(), in $name', async (renderer) => {
    await fc.assert(
      fc.asyncProperty(anyFragments, async (fragments) => {
        const { text, spans } = await renderer.renderWithSpans(fragments);
        expect(text).toBe(renderer.render(fragments));
        for (const { start, end } of spans) {
          expect(start).toBeGreaterThanOrEqual(0);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(text.length);
        }
      }),
      campaign(100),
    );
  });

  it('tell fragments of one name apart where their format makes a list of them', async () => {
    const hints = [hint('Be brief.'), hint('Be 2.'), hint('Be kind.')];
    expect(await shown(toml, ...hints)).toEqual(['hint: "Be brief."', 'hint: "Be 2."', 'hint: "Be kind."']);
    expect(await shown(toon, ...hints)).toEqual(['hint: Be brief.', 'hint: Be 2.', 'hint: Be kind.']);
  });

  it('are shared by the rows of a table', async () => {
    const rows = [fragment('city', fragment('name', 'Rome')), fragment('city', fragment('name', 'Oslo'))];
    const whole = `city: ${toon.render(rows)}`;
    expect(await shown(toon, ...rows)).toEqual([whole, whole]);
  });

  it('follow TOML, which puts tables behind plain values', async () => {
    const steps = workflow({ task: 'Bake', steps: ['mix', 'wait'] });
    const texts = await shown(toml, steps, hint('Be brief.'));
    expect(texts.map((text) => text.split(':')[0])).toEqual(['hint', 'workflow']);
  });

  it('leave out what renders nothing', async () => {
    expect(await shown(xml, fragment('empty', null as never), hint('Be brief.'))).toEqual([
      'hint: <hint>Be brief.</hint>',
    ]);
    const among = [{ name: 'hint', data: undefined }, hint('Be brief.'), hint('Be kind.')];
    expect(await shown(toml, ...among)).toEqual(['hint: "Be brief."', 'hint: "Be kind."']);
    expect(await shown(toon, ...among)).toEqual(['hint: Be brief.', 'hint: Be kind.']);
  });
});
