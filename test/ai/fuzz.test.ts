import { describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { Run } from './person.ts';

const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? 40);
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const ACTS = 40;

describe('a person who presses every button', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST + i))('loses no word (%i)', async (seed) => {
    const store = new InMemoryContextStore();
    const run = await Run.begin(seed, () => store);
    for (let act = 0; act < ACTS; act += 1) await run.act();
    await run.comeToRest();
    expect(await run.problems()).toEqual([]);
  });
});
