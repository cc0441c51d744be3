import { ContextError } from 'contextree';
import { expect, test } from 'vitest';
import { beforeFirstWord, describeFailure } from '../../stories/demo/failure.ts';

test('a refused key is said in words, without the key', () => {
  for (const error of [
    Object.assign(new Error('Incorrect API key provided: sk-secret'), { statusCode: 401 }),
    new Error('Unauthorized'),
    new Error('Incorrect API key provided: sk-secret'),
    new Error('Request failed with status code 401'),
  ]) {
    expect(describeFailure(error)).toMatch(/refused the API key \(401\)/);
    expect(describeFailure(error)).not.toMatch(/sk-secret/);
  }
});

test.each<[string, unknown, RegExp]>([
  ['an endpoint that nobody answers at', new TypeError('Failed to fetch'), /could not be reached/],
  ['an address that is none', new TypeError("'URL': Invalid URL"), /^The base URL is not an address/],
  ['a number in a sentence, which is no status', new Error('At most 512 tokens'), /^At most 512 tokens\.$/],
  ['a failure that says nothing', new Error(''), /Try again/],
  ['nothing', undefined, /Try again/],
  ['what is no error', { odd: true }, /Try again/],
  ['a stream that ends early', new Error('Response stream ended without a finish reason.'), /broke off/],
  ...[
    'Failed to process successful response',
    'network error',
    'Error in input stream',
    'The network connection was lost.',
    'terminated',
  ].map((words): [string, unknown, RegExp] => [`a connection: ${words}`, new Error(words), /broke off/]),
])('said in words of its own is %s', (_, error, words) => expect(describeFailure(error)).toMatch(words));

test('a part of the app that did not come is said in words, without its address', () => {
  const error = new ContextError(
    'store-unavailable',
    'Code of contextree could not be loaded: Failed to fetch dynamically imported module: http://x/session.ts. Try again.',
  );
  expect(describeFailure(error)).toMatch(/^A part of this app could not be loaded.*network/);
  expect(describeFailure(error)).not.toMatch(/http|module/);
});

test('what is no answer at all is not said to be kept', () => {
  const words = describeFailure(new Error('Response stream ended without a finish reason.'));
  expect(beforeFirstWord(words)).toMatch(/before its first word.*base URL/);
  expect(beforeFirstWord('Another failure.')).toBe('Another failure.');
});

test('an answer that can’t be parsed is said in words', () => {
  const error = new Error(
    'JSON parsing failed: Text: {"id": oops.\nError message: SyntaxError: Unexpected token',
  );
  expect(describeFailure(error)).toMatch(/can’t be read as an answer/);
  expect(describeFailure(error)).not.toMatch(/oops|Syntax/);
});

test('a kind of file that a model can’t read is named', () => {
  const error = new Error("'file part media type application/zip' functionality not supported.");
  expect(describeFailure(error)).toMatch(/can’t read files of this kind \(application\/zip\)/);
});

test('a page that is older than its data says what helps, and that nothing is lost', () => {
  const words = describeFailure(new ContextError('newer-format', 'Database "contextree" was written by …'));
  expect(words).toMatch(/untouched/);
  expect(words).toMatch(/Reload.*update the app/);
  expect(words).not.toMatch(/Database/);
});

test('what was deleted is spoken of without its key', () => {
  const error = new ContextError('message-not-found', 'Message "key:c0ffee00" not found');
  expect(describeFailure(error)).toBe('This message is not there any more.');
  const flag = new ContextError('checkpoint-not-found', 'Checkpoint "A" not found in chat "coffee-cart"');
  expect(describeFailure(flag)).toBe('This checkpoint is not there any more.');
});
