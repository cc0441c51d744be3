import type { Chance } from './chance.ts';
import { commandList } from './commands.ts';
import { type Chapter, chapters, musings, openings, remarks, rows, steps, thoughtsOn } from './phrases.ts';
import { inUnits } from '../quantities.ts';
import { calm } from '../titles.ts';
import type { Scene, SceneFile, ToolResult } from './scene.ts';
import type { Deleted, Rolled } from './tools.ts';
import { writtenAnswer } from './written.ts';

/**
 * What the demo model says.
 *
 * For the questions that the app offers there are answers that somebody wrote. Everything else gets a few honest words
 * that take up the question's own: this machine knows nothing, and does not pretend to.
 *
 * Every function here is pure: the words follow from the scene, from the chance they are given and from the attempt.
 */

/** What an answer is made from. */
export interface Occasion {
  readonly scene: Scene;
  /** The question without its command. */
  readonly subject: string;
  /** How many versions there are already. */
  readonly attempt: number;
  /** Chance that differs with each attempt. */
  readonly by: Chance;
  /** Chance that is the same for all attempts: from there on each takes the next of a list. */
  readonly base: Chance;
}

/** The ordinary answer: one that somebody wrote, or 40 to 80 words of Markdown. */
export function answer(occasion: Occasion): string {
  const { scene, subject, attempt, by } = occasion;
  const known = scene.files.length === 0 ? writtenAnswer(subject, attempt) : undefined;
  if (known !== undefined) return known;
  const inTurn = turner(occasion);
  const opening = inTurn(openings)(quoted(subject, 12));
  const files = scene.files.length > 0 ? ` ${nameFiles(scene.files)}` : '';
  const thought = inTurn(thoughtsOn)(subjectWord(subject));
  const short = `${opening}${files}\n\n${thought}\n\n${bulleted(inTurn(steps))}`;
  const full = `${short}\n\n${by.pick(remarks)}`;
  return wordCount(full) > 80 ? short : full;
}

/** Picks from lists, so that each attempt gets the one behind that of the attempt before. */
function turner({ base, attempt }: Occasion): <T>(items: readonly [T, ...T[]]) => T {
  return (items) => items[(base.between(0, items.length - 1) + attempt) % items.length] ?? items[0];
}

/** The word that a question turns on: its longest, but for those that every question has. */
function subjectWord(question: string): string {
  const words = question.match(/\p{L}{4,}/gu) ?? [];
  const own = words.filter((word) => !COMMON.has(word.toLowerCase()));
  const longest = own.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? 'it' : `*${firstCharacters(longest, 30)}*`;
}

const COMMON = new Set(
  'about again also another because been before between both could does doing down each else even ever every from give good have into just know like long make many more most much need only other over please really same shall should slow some such tell than that their them then there these they thing this those through under very want were what when where which while will with would your'.split(
    ' ',
  ),
);

/** The long answer: the ordinary one and then chapters. */
export function essay(occasion: Occasion, words: number): string {
  return lengthened(answer(occasion), occasion, words);
}

/** A text and then chapters, until there are at least `words` words. */
export function lengthened(text: string, occasion: Occasion, words: number): string {
  const paragraphs = [text];
  for (let length = wordCount(paragraphs[0] ?? ''), round = 1; length < words; round++) {
    for (const chapter of occasion.by.shuffle(chapters)) {
      paragraphs.push(chapterText(chapter, round, occasion.by));
      length += wordCount(paragraphs.at(-1) ?? '');
    }
  }
  return paragraphs.join('\n\n');
}

/** One of everything that Markdown has and a chat meets. */
export function markdown({ subject, attempt, by }: Occasion): string {
  const [first, second, third] = by.shuffle(rows);
  return [
    `# ${take(attempt)}A page of Markdown`,
    `You asked for ${quoted(subject, 12)}, so here is *some* of **everything**, with \`code\` and ~~mistakes~~ in between.`,
    '## A list',
    bulleted(['a conversation is a tree', '  - a branch is a path in it', 'a checkpoint is a bookmark']),
    '1. ask\n2. read\n3. ask again',
    '## A table',
    ['| Word | In git | In a conversation | Kept in | Costs |', '| --- | --- | --- | --- | ---: |']
      .concat(first ?? '', second ?? '', third ?? '')
      .join('\n'),
    '## A code block',
    "```ts\nconst engine = new ContextEngine({ store, chatId: 'demo', userId: 'me' });\n\nengine.set(role('You are a tutor.'), hint('Use plain words.'));\nawait engine.checkpoint('before-the-experiment');\n```",
    '## And a link',
    `> ${by.pick(remarks)}`,
    'All of this is explained at [commonmark.org](https://commonmark.org/help/).',
  ].join('\n\n');
}

/** What the model thinks before it answers. */
export function thoughts({ subject, by }: Occasion): string {
  return [
    `The question is ${quoted(subject, 12)}.`,
    `It turns on ${subjectWord(subject)}, so that is where to begin.`,
    by.pick(musings),
  ].join(' ');
}

/** Every command, as `/help` shows it. */
export function help(): string {
  const lines = commandList.map(({ say, effect }) => `\`${say}\`: ${effect}`);
  return [
    'I am the **demo model**. I work without a network and without a key. Start a message with one of these:',
    bulleted(lines),
    'Anything else is a question, and gets an answer.',
  ].join('\n\n');
}

/** Said before a tool is called. */
export function beforeThrow({ attempt, by }: Occasion): string {
  return (
    take(attempt) +
    by.pick(['Let me throw the dice.', 'The dice are in my hand.', 'Dice, then. Here they go.'])
  );
}

/** Said before a file is deleted, while the person decides. */
export function beforeDelete({ attempt }: Occasion, path: string): string {
  return `${take(attempt)}I would delete \`${path}\` from the demo shelf, if you allow it. The shelf is in memory; nothing on your disk is touched.`;
}

/** Said where a command needs a tool that the app does not offer. */
export function withoutTool({ attempt }: Occasion, toolName: string): string {
  return `${take(attempt)}For this I need the tool \`${toolName}\`, and this app has not given it to me. Everything else works; type \`/help\` to see it.`;
}

/** What the tools have brought, put into words. */
export function afterTools({ scene, by }: Occasion): string {
  return [...scene.toolResults.map(reported), by.pick(remarks)].join('\n\n');
}

/** How an answer goes on when its first half is not one that this model would have written. */
export function pickedUp(by: Chance): string {
  return `\n\nHere I pick up the thread. The words above stay as they stand, though they are not the ones I would choose now. ${by.pick(remarks)}`;
}

/** The words of a text, each with the space before it: joined, they are the text. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function wordCount(text: string): number {
  return wordsOf(text).length;
}

function take(attempt: number): string {
  return attempt > 0 ? `*Take ${attempt + 1}.* ` : '';
}

function bulleted(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/^( *)(?:- )?/, '$1- ')).join('\n');
}

/** The text on one line, in quotation marks, cut after so many words (or 120 characters), with its Markdown made harmless. */
function quoted(text: string, words: number): string {
  const line = calm(text).replaceAll(/\s+/g, ' ').trim();
  if (line === '') return 'a message without words';
  const short = firstCharacters(wordsOf(line).slice(0, words).join(''), 120);
  return `“${short.replaceAll(/[\\`*_[\]<>~|]/g, '\\$&')}${short === line ? '' : '…'}”`;
}

/** A text cut between two characters as people see them, never within one. */
function firstCharacters(text: string, count: number): string {
  // Whoever asks for the first time waits while the browser learns where characters end.
  if (text.length <= count) return text;
  const characters = new Intl.Segmenter().segment(text.slice(0, 8 * count));
  return Array.from(characters, ({ segment }) => segment)
    .slice(0, count)
    .join('');
}

/** What came with the question: up to four by name, kind and size, the others by number. */
function nameFiles(files: readonly SceneFile[]): string {
  const named = files.slice(0, MOST_FILES_NAMED).map(({ name, mediaType, bytes }) => {
    const size = bytes === undefined ? '' : `, ${inUnits(bytes)}`;
    return `\`${firstCharacters(name.replaceAll('`', "'"), 40)}\` (${mediaType}${size})`;
  });
  const others = files.length - named.length;
  const all = others > 0 ? [...named, `${others} more`] : named;
  const list = all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all.join('');
  return `You attached ${list}; I got ${files.length === 1 ? 'it' : 'them'}, and can only tell the outside.`;
}

const MOST_FILES_NAMED = 4;

function chapterText({ title, sentences }: Chapter, round: number, by: Chance): string {
  const heading = round > 1 ? `${title}, seen again` : title;
  const [first, ...rest] = sentences;
  return `## ${heading}\n\n${[first, ...by.shuffle(rest)].join(' ')}`;
}

function reported({ toolName, output }: ToolResult): string {
  if (output.type === 'execution-denied') return denied(toolName, output.reason);
  if (output.type === 'error-text' || output.type === 'error-json')
    return `\`${toolName}\` did not work: ${quoted(plain(output.value), 20)}. Nothing was changed.`;
  if (output.type === 'json' && isRolled(output.value)) return rolled(output.value);
  if (output.type === 'json' && isDeleted(output.value)) return deleted(output.value);
  return `\`${toolName}\` says ${quoted(plain(output.value), 30)}.`;
}

function denied(toolName: string, reason: string | undefined): string {
  const why = reason ? ` You said ${quoted(reason, 12)}.` : '';
  return `Understood: you said no, so \`${toolName}\` was not run and everything is as it was.${why}`;
}

function rolled({ rolls, total }: Rolled): string {
  const each = rolls.map((roll) => `**${roll}**`).join(', ');
  return rolls.length === 1
    ? `The die shows ${each}.`
    : `The dice show ${each}; together that is **${total}**.`;
}

function deleted({ deleted, left }: Deleted): string {
  const rest =
    left.length > 0
      ? `What is left: ${left.map((path) => `\`${path}\``).join(', ')}.`
      : 'The shelf is empty.';
  return `Done: \`${deleted}\` is off the shelf. ${rest}`;
}

function isRolled(value: unknown): value is Rolled {
  return isRecord(value) && Array.isArray(value['rolls']) && typeof value['total'] === 'number';
}

function isDeleted(value: unknown): value is Deleted {
  return isRecord(value) && typeof value['deleted'] === 'string' && Array.isArray(value['left']);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
