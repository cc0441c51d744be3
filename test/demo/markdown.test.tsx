import { render, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { Markdown, settledBlocks } from '../../stories/demo/markdown/Markdown.tsx';

const shown = (text: string): HTMLElement => render(<Markdown text={text} />).container;

describe('what a model writes is not trusted', () => {
  test('HTML stays text', () => {
    const page = shown('<img src=x onerror="alert(1)">\n\n<script>alert(1)</script>\n\nand <b>bold</b>');
    expect(page.querySelector('img, script, b')).toBeNull();
    expect(page.textContent).toContain('<b>bold</b>');
  });

  test('links lead to the web or to a mail, and open apart', () => {
    shown('[web](https://example.org/a) [mail](mailto:a@example.org)');
    expect(screen.getByRole('link', { name: 'web' }).getAttribute('href')).toBe('https://example.org/a');
    expect(screen.getByRole('link', { name: 'web' }).getAttribute('rel')).toBe('noopener noreferrer');
    expect(screen.getByRole('link', { name: 'mail' }).getAttribute('href')).toBe('mailto:a@example.org');
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,hello',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.org',
    '#/chat/other',
    'java\tscript:alert(1)',
  ])('the address %j leads nowhere', (address) => {
    const page = shown(`[words](<${address}>)`);
    expect(page.querySelector('a')).toBeNull();
    expect(page.textContent).toBe('words');
  });

  test('a picture is not loaded, but can be followed', () => {
    const page = shown('![a chart](https://example.org/pixel.png)');
    expect(page.querySelector('img')).toBeNull();
    expect(page.querySelector('a')?.textContent).toBe('a chart');
  });
});

test('every block finds its own direction', () => {
  const page = shown('שלום עולם\n\nHello world\n\n- אחד\n- two');
  expect([...page.querySelectorAll('p')].map((p) => p.getAttribute('dir'))).toEqual(['auto', 'auto']);
  expect(page.querySelector('ul')?.getAttribute('dir')).toBe('auto');
});

test('code is shown with its language, and can be copied', () => {
  const page = shown('```ts\nconst a = "<b>";\n```');
  expect(page.querySelector('pre')?.textContent).toBe('const a = "<b>";');
  expect(page.querySelector('.code-head span')?.textContent).toBe('ts');
  expect(screen.getByRole('button', { name: 'Copy code' })).toBeDefined();
});

test('a table scrolls in itself', () => {
  const page = shown('| a | b |\n|---|---|\n| 1 | 2 |');
  expect(page.querySelector('[role=group] > table td')?.textContent).toBe('1');
});

describe('while a table arrives', () => {
  const growing = (text: string): HTMLElement => render(<Markdown text={text} growing />).container;

  test('its head waits for the first row', () => {
    for (const text of ['Look:\n\n| a | b', 'Look:\n\n| a | b |\n', 'Look:\n\n| a | b |\n| --'])
      expect(growing(text).textContent).toBe('Look:');
    expect(growing('| a | b |\n| - | - |\n| 1').querySelectorAll('td')).toHaveLength(2);
  });

  test('bars that are no table are shown when the words go on, or end', () => {
    expect(growing('| a\nb').textContent).toContain('| a');
    expect(shown('| a | b |\n| --').textContent).toContain('| --');
    expect(growing('```\n| a').querySelector('code')?.textContent).toBe('| a');
  });

  test('what its cells hold moves no column', () => {
    const widths = (text: string): readonly string[] =>
      [...growing(text).querySelectorAll('col')].map((col) => col.style.inlineSize);
    const head = '| Word | In a conversation |\n| --- | --- |\n| a';
    expect(widths(`${head} named pointer | b |`)).toEqual(widths(head));
    expect(widths(head).map((width) => Math.round(Number.parseFloat(width)))).toEqual([32, 68]);
  });
});

describe('an answer is cut where no later word can reach', () => {
  const joined = (text: string): string => settledBlocks(text).join('');

  test('and loses nothing', () => {
    const text = 'One.\n\nTwo\n\n```\na\n\nb\n```\n\n- x\n\n- y\n\nThree\n\n# Four\n';
    expect(joined(text)).toBe(text);
    expect(settledBlocks(text)).toHaveLength(4);
  });

  test('never inside code', () => {
    expect(settledBlocks('```md\none\n\nTwo\n\n~~~\n\nThree\n````\n\nFour')).toHaveLength(2);
  });

  test('never where a reference may reach over', () => {
    expect(settledBlocks('See [it][a].\n\nMore.\n\n[a]: https://example.org')).toHaveLength(1);
  });

  test('and reads as the whole would', () => {
    const text = 'One *two*.\n\n1. a\n\n2. b\n\nThen\n\n> quoted\n\nEnd';
    const page = shown(text);
    expect(page.querySelectorAll('ol')).toHaveLength(1);
    expect(page.querySelectorAll('p')).toHaveLength(6);
    expect(page.querySelector('em')?.textContent).toBe('two');
  });
});

test('the headings of an answer begin below the title of the page, and skip no level', () => {
  const levels = (text: string): string[] =>
    [...shown(text).querySelectorAll('h1, h2, h3, h4, h5, h6')].map((h) => h.tagName);
  expect(levels('# One\n\n## Two\n\n### Three')).toEqual(['H2', 'H3', 'H4']);
  expect(levels('### Deep\n\nwords\n\n#### Deeper')).toEqual(['H2', 'H3']);
});

describe('a text that no page can nest', () => {
  test.each([
    ['quotes in quotes', `${'> '.repeat(3000)}deep`],
    ['lists in lists', `${'- '.repeat(3000)}deep`],
    ['numbers in numbers', `${'1. '.repeat(3000)}deep`],
    ['stress on stress', `${'*'.repeat(5000)}deep${'*'.repeat(5000)}`],
    ['ten thousand short lines', '*a*\n'.repeat(10_000)],
    ['tens of thousands of lines', '*a* line\n'.repeat(30_000)],
    ['hundreds of thousands of paragraphs', 'a *p*\n\n'.repeat(150_000)],
  ])('%s: is shown as it was written', (_, text) => {
    expect(shown(`Before.\n\n${text}`).textContent).toContain(text);
  });

  test('a line of dashes or stars, and a quote in a list in a quote, are no such text', () => {
    expect(shown(`a\n\n${'-'.repeat(300)}\n\n${'*'.repeat(300)}`).querySelectorAll('hr')).toHaveLength(2);
    expect(shown('> - > 1. deep').querySelector('blockquote li blockquote ol')).not.toBeNull();
  });
});
