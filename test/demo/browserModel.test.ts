import { streamText } from 'ai';
import { afterEach, expect, test, vi } from 'vitest';
import { browserModel, hasBrowserModel } from '../../stories/demo/settings/browserModel.ts';

afterEach(() => vi.unstubAllGlobals());

function saying(words: readonly string[]): TransformStream<unknown, string> {
  return new TransformStream({ flush: (out) => words.forEach((word) => out.enqueue(word)) });
}

/** A browser with a model that says these words, and remembers what it was asked. */
function browserThatSays(words: readonly string[], availability = 'available') {
  const asked: unknown[] = [];
  const destroy = vi.fn<() => void>();
  vi.stubGlobal('LanguageModel', {
    availability: () => Promise.resolve(availability),
    create: ({ initialPrompts }: { initialPrompts: unknown }) => {
      asked.push(initialPrompts);
      return Promise.resolve({
        promptStreaming: (text: string) => {
          asked.push(text);
          return new Blob([]).stream().pipeThrough(saying(words));
        },
        destroy,
      });
    },
  });
  return { asked, destroy };
}

test('it is told the conversation, and answers word by word', async () => {
  const { asked, destroy } = browserThatSays(['The ', 'sky.']);
  const result = streamText({
    model: browserModel(),
    instructions: 'Be brief.',
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'What is blue?' },
    ],
  });
  expect(await result.text).toBe('The sky.');
  expect(asked).toEqual([
    [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
    ],
    'What is blue?',
  ]);
  expect(destroy).toHaveBeenCalledOnce();
});

test('it is offered only where it is there already', async () => {
  expect(await hasBrowserModel()).toBe(false);
  browserThatSays([], 'downloadable');
  expect(await hasBrowserModel()).toBe(false);
  browserThatSays([]);
  expect(await hasBrowserModel()).toBe(true);
});

test('a browser that lost its model says so in the answer', async () => {
  const failures: unknown[] = [];
  const result = streamText({
    model: browserModel(),
    prompt: 'Hi',
    maxRetries: 0,
    onError: ({ error }) => void failures.push(error),
  });
  await result.consumeStream();
  expect(String(failures[0])).toMatch(/has no model of its own/);
});
