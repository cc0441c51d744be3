import { describe, expect, test } from 'vitest';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import type { ContextRenderer } from '../../src/render/renderer.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { all, type Form } from './vectors.ts';

const renderers: Record<Form, ContextRenderer> = {
  xml: new XmlRenderer(),
  xmlGrouped: new XmlRenderer({ groupFragments: true }),
  markdown: new MarkdownRenderer(),
  markdownGrouped: new MarkdownRenderer({ groupFragments: true }),
  toml: new TomlRenderer(),
  toon: new ToonRenderer(),
};

describe.each(Object.entries(renderers) as [Form, ContextRenderer][])(
  '%s renders as @deepagents/context',
  (form, renderer) => {
    test.each(all.filter(({ normative }) => normative[form]))('$id', ({ fragments, expected }) => {
      expect(renderer.render(fragments)).toBe(expected[form]);
    });
  },
);

test('the vectors are all there', () => {
  const normative = all.flatMap((vector) => Object.values(vector.normative)).filter(Boolean);
  expect([all.length, normative.length]).toEqual([36, 191]);
});
