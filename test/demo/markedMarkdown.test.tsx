import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { MarkedMarkdown, type Piece } from '../../stories/demo/markdown/MarkedMarkdown.tsx';

// Two versions are compared by their source, and shown as the conversation shows them: the words that differ are marked
// wherever they are in the Markdown.

/** Marked words stand between `[[` and `]]`. */
function shown(text: string): HTMLElement {
  const pieces = text
    .split(/\[\[(.*?)\]\]/s)
    .map((piece, i): Piece => ({ text: piece, isMarked: i % 2 === 1 }));
  return render(<MarkedMarkdown pieces={pieces} />).container;
}

const marks = (page: HTMLElement): (string | null)[] =>
  [...page.querySelectorAll('mark')].map(({ textContent }) => textContent);

it('marks words in what is bold, in lists, tables and headings', () => {
  const page = shown(
    '# [[Two]] names\n\n**The [[Fork]]**: [[a]] cart\n\n- [[one]]\n\n| a |\n| - |\n| 2.[[20]] |\n',
  );
  expect(marks(page)).toEqual(['Two', 'Fork', 'a', 'one', '20']);
  expect(page.querySelector('strong')?.textContent).toBe('The Fork');
  expect(page.textContent).not.toContain('**');
});

it('marks words of code in their places', () => {
  const page = shown('const\n\n```js\nconst [[b]] = 1;\n```\n\nand `[[x]]`');
  expect(marks(page)).toEqual(['b', 'x']);
  expect(page.querySelector('pre')?.textContent).toBe('const b = 1;\n');
});

it('marks nothing where only the signs of Markdown differ, and a word that is written otherwise whole', () => {
  expect(marks(shown('[[**]]bold[[**]]'))).toEqual([]);
  expect(marks(shown('a &[[amp]]; b'))).toEqual(['a & b']);
});

it('shows a text that is too long for Markdown as it was written, with its marks', () => {
  const page = shown(`**bold** [[word]] ${'x'.repeat(200_001)}`);
  expect(marks(page)).toEqual(['word']);
  expect(page.textContent).toContain('**bold**');
});

it('leads nowhere that the conversation would not lead, and loads no picture', () => {
  const page = shown('[a](javascript:alert(1)) ![b](https://example.com/b.png) <b>[[c]]</b>');
  expect(page.querySelector('img')).toBeNull();
  expect([...page.querySelectorAll('a')].map(({ href }) => href)).toEqual(['https://example.com/b.png']);
  expect(page.querySelector('b')).toBeNull();
});
