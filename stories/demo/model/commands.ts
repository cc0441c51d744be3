/**
 * What a person can ask the demo model to do, beyond answering.
 *
 * A command stands at the start of a question and is followed by a space or nothing, so that a question about failing
 * is answered and not obeyed. The two words may stand anywhere.
 */
type Command =
  | { readonly name: 'markdown' | 'think' | 'tool' | 'approve' | 'drop' | 'hang' | 'help' }
  | { readonly name: 'fail'; readonly status?: 401 | 429 | 500; readonly afterWords?: number };

/** A question, taken apart. */
export interface Request {
  readonly command?: Command;
  /** The question without its command; the whole question where nothing else is left. */
  readonly subject: string;
  /** At least 600 words. */
  readonly long: boolean;
  /** One word per 150 ms. */
  readonly slow: boolean;
}

/** Every command and word with what it does, in the order in which `/help` lists them. */
export const commandList: readonly { readonly say: string; readonly effect: string }[] = [
  { say: '/markdown', effect: 'an answer with headings, lists, a table, code and a link' },
  { say: '/think', effect: 'think aloud before the answer' },
  { say: '/tool', effect: 'roll dice with a tool and use what they show' },
  { say: '/approve', effect: 'ask for your approval before a file is deleted from the demo shelf' },
  { say: '/fail', effect: 'fail before the first word' },
  { say: '/fail after 12', effect: 'fail after 12 words; any number will do' },
  { say: '/fail 401', effect: 'be refused: the API key is wrong' },
  { say: '/fail 429', effect: 'be refused: too many requests' },
  { say: '/fail 500', effect: 'meet an error inside the server' },
  { say: '/drop', effect: 'lose the connection in the middle of the answer' },
  { say: '/hang', effect: 'say nothing until you press Stop' },
  { say: '/help', effect: 'show this list' },
  { say: 'long', effect: 'this word anywhere in a question: an answer of 600 words and more' },
  { say: 'slow', effect: 'this word anywhere in a question: a word every 150 ms' },
];

/** Takes a question apart. Whatever is no command is a question. */
export function readRequest(question: string): Request {
  const words = question.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const found = patterns.map(({ pattern, command }) => ({ match: pattern.exec(question), command }));
  const { match, command } = found.find(({ match }) => match !== null) ?? {};
  return {
    ...(match && command && { command: command(match) }),
    subject: question.slice(match?.[0].length ?? 0).trim() || question,
    long: words.includes('long'),
    slow: words.includes('slow'),
  };
}

const patterns: readonly { pattern: RegExp; command: (match: RegExpExecArray) => Command }[] = [
  {
    pattern: /^\/fail\s+after\s+(\d+)(?=\s|$)/i,
    command: ([, count]) => ({ name: 'fail', afterWords: Number(count) }),
  },
  {
    pattern: /^\/fail\s+(401|429|500)(?=\s|$)/i,
    command: ([, status]) => ({ name: 'fail', status: Number(status) as 401 | 429 | 500 }),
  },
  {
    pattern: /^\/(markdown|think|tool|approve|fail|drop|hang|help)(?=\s|$)/i,
    command: ([, name]) => ({ name: name?.toLowerCase() as Command['name'] }),
  },
];
