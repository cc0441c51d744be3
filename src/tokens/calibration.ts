/**
 * How far off an estimate was. A finished answer carries the provider's own count: the tokens measured over those estimated for
 * its text. Only an answer of words alone is comparable; the middle of the last few decides, within bounds outside of which the
 * count does not belong to the text.
 */
import type { UIMessage } from 'ai';
import { familyOf } from './modelName.ts';
import { fieldsOf, measuredUsage, type MeasuredUsage } from './usage.ts';

/** The usage that a message's metadata reports. */
export interface Told {
  readonly usage: MeasuredUsage;
  /** Whether it is that of a single request: prices of long prompts need the size of each request. */
  readonly isOne: boolean;
}

const ofMessages = new WeakMap<UIMessage, Told | null>();

/** The usage that a message reports, read once for each message object; null where it reports none. */
export function toldBy(message: UIMessage): Told | null {
  let told = ofMessages.get(message);
  if (told === undefined) {
    const usage = measuredUsage(message);
    const steps = message.parts.filter(({ type }) => type === 'step-start').length;
    ofMessages.set(message, (told = usage ? { usage, isOne: steps < 2 } : null));
  }
  return told;
}

/**
 * How many tokens the provider counts for one that `count` counts: multiply an estimate by it. Between 0.5 and 2; undefined
 * until an answer of at least 64 tokens reports its usage. Looks at the last few measured answers of `messages` (oldest first),
 * of this model only where `modelId` is given: an answer whose metadata name another `model` is passed over.
 */
export function calibrationOf(
  messages: readonly UIMessage[],
  count: (text: string) => number,
  modelId?: string,
): number | undefined {
  const ratios: number[] = [];
  for (let i = messages.length - 1; i >= 0 && ratios.length < SAMPLES; i--) {
    const ratio = ratioOf(messages[i] as UIMessage, count, modelId);
    if (ratio !== undefined) ratios.push(ratio);
  }
  return middle(ratios);
}

const SAMPLES = 5;
/** Tokens of an answer that is long enough to tell: shorter ones are mostly framing. */
const ENOUGH = 64;

function ratioOf(message: UIMessage, count: (text: string) => number, modelId: string | undefined) {
  const told = toldBy(message);
  if (!told || message.role !== 'assistant' || isOfAnother(message, modelId)) return undefined;
  const { output = 0, reasoning = 0 } = told.usage;
  const measured = output - reasoning;
  if (measured < ENOUGH) return undefined;
  const text = wordsAlone(message, reasoning > 0);
  const estimated = text === undefined ? 0 : count(text);
  return estimated < ENOUGH ? undefined : Math.min(2, Math.max(0.5, measured / estimated));
}

/** An answer's text; undefined where the counted output contains more than this text. */
function wordsAlone({ parts }: UIMessage, thinkingIsKnown: boolean): string | undefined {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'reasoning' ? !thinkingIsKnown : !SILENT.test(part.type)) return undefined;
  }
  return text;
}

/** Parts that cost no output: the app's or the provider's own, not the model's words. */
const SILENT = /^(?:step-start$|data-|source-)/;

function isOfAnother({ metadata }: UIMessage, modelId: string | undefined): boolean {
  const { modelId: id, model = id } = fieldsOf(metadata);
  return modelId !== undefined && typeof model === 'string' && familyOf(model) !== familyOf(modelId);
}

function middle(ratios: readonly number[]): number | undefined {
  const sorted = ratios.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
