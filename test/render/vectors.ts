import * as builders from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import vectors from './vectors.json' with { type: 'json' };

/** The renderings that @deepagents/context gives, and for which of them ours is to be equal to the byte. */
export type Form = 'xml' | 'xmlGrouped' | 'markdown' | 'markdownGrouped' | 'toml' | 'toon';

/** One input with its renderings. */
export interface Vector {
  readonly id: string;
  readonly fragments: readonly ContextFragment[];
  readonly expected: Readonly<Record<Form, string>>;
  readonly normative: Readonly<Record<Form, boolean>>;
}

const calls: Record<string, unknown> = { ...builders, fragment };

/** All vectors; `{ call, args }` in the file is a call of that builder. */
export const all: readonly Vector[] = vectors.map((vector) => ({
  id: vector.id,
  fragments: built(vector.fragments) as ContextFragment[],
  expected: vector,
  normative: vector.normative,
}));

function built(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(built);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, built(item)] as const);
  const { call, args } = Object.fromEntries(entries) as { call?: string; args?: unknown[] };
  return call === undefined
    ? Object.fromEntries(entries)
    : (calls[call] as (...args: unknown[]) => unknown)(...(args ?? []));
}
