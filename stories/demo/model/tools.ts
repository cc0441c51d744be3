import { type Tool, tool } from 'ai';
import { z } from 'zod';
import { chance } from './chance.ts';

/** What the demo model throws: `count` dice of `sides` sides each. */
interface Throw {
  readonly count: number;
  readonly sides: number;
}

/** What the dice showed, in the order in which they fell, and their sum. */
export interface Rolled {
  readonly rolls: number[];
  readonly total: number;
}

/** What was taken off the demo shelf, and what is left on it. */
export interface Deleted {
  readonly deleted: string;
  readonly left: string[];
}

/** The tools that the demo offers to any model, its own or a real one. */
type DemoTools = {
  rollDice: Tool<Throw, Rolled>;
  deleteFile: Tool<{ path: string }, Deleted>;
};

/** What lies on the demo shelf at first. */
export const shelfFiles = ['draft.md', 'ideas.txt', 'old-plan.md'] as const;

/**
 * Two tools that run in the browser and mean what they say.
 *
 * `rollDice` needs nobody's leave; what it shows depends on the seed and on the id of the call, so that a test can
 * know it and two throws differ. `deleteFile` waits for the person's approval. Its files lie on a shelf in memory,
 * one per `createDemoTools`: what is deleted there is really gone, and nothing on the person's disk is touched.
 */
export function createDemoTools({ seed = 1 }: { seed?: number } = {}): DemoTools {
  const shelf = new Set<string>(shelfFiles);
  return {
    rollDice: tool({
      description: 'Rolls dice and tells what each of them shows.',
      inputSchema: z.object({ count: z.int().min(1).max(10), sides: z.int().min(2).max(100) }),
      execute: ({ count, sides }, { toolCallId }): Rolled => {
        const by = chance(`${seed}:${toolCallId}`);
        const rolls = Array.from({ length: count }, () => by.between(1, sides));
        return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) };
      },
    }),
    deleteFile: tool({
      description: `Deletes a file from the demo shelf, which lives in memory. It holds ${shelfFiles.join(', ')}.`,
      inputSchema: z.object({ path: z.string() }),
      needsApproval: true,
      execute: ({ path }): Deleted => {
        if (!shelf.delete(path)) throw new Error(`there is no file ${path} on the shelf`);
        return { deleted: path, left: [...shelf] };
      },
    }),
  };
}
