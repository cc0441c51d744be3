import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { chainOf } from './chain.ts';
import type { GraphModel } from './graphRows.ts';
import { partsOf, textOf } from './messageText.ts';
import { rowState } from './rowState.ts';
import type { Wanted } from './wanted.ts';

/** The engine, and the filters. */
export interface Search {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  readonly headKey: string | undefined;
  readonly wanted: Wanted;
}

/**
 * The keys of the hits, in the order of the graph. Saved text is searched in the store; unsaved messages are found by their
 * first words, and by all of them if loaded. Tools are searched in bodies, which are read for that.
 */
export async function find(search: Search, signal: AbortSignal): Promise<readonly string[]> {
  const { model, wanted } = search;
  const says = await wordsOf(search);
  const isHeld = heldBy(search);
  const some = model.nodes.flatMap((_, row) => {
    const at = model.lanes.at(row);
    const node = model.nodes[at];
    if (!node || (wanted.role !== '' && node.role !== wanted.role)) return [];
    if (wanted.state !== '' && rowState(search, at) !== wanted.state) return [];
    if (wanted.model !== '' && !search.engine.calls(node.key).some((call) => call.model === wanted.model))
      return [];
    return isHeld(node.key) && says(node.key, node.content) ? node.key : [];
  });
  return wanted.tool === '' ? some : callersOf(search, some, signal);
}

const NOBODY: UIMessage = { id: '', role: 'user', parts: [] };
const ALL = { limit: 1000, deleted: true };

async function wordsOf({ engine, wanted }: Search): Promise<(key: string, preview: string) => boolean> {
  const text = wanted.text.trim();
  if (text === '') return () => true;
  const hits = await engine.store.searchMessages(engine.chatId, text, ALL);
  const keys = new Set(hits.map(({ record }) => record.key));
  const words = text.toLowerCase();
  return (key, preview) =>
    keys.has(key) ||
    preview.toLowerCase().includes(words) ||
    textOf(engine.message(key) ?? NOBODY)
      .toLowerCase()
      .includes(words);
}

function heldBy({ engine, wanted }: Search): (key: string) => boolean {
  if (wanted.branch === '') return () => true;
  const branch = engine.state.getState().branches.find(({ id }) => id === wanted.branch);
  const keys = new Set(chainOf(engine, branch?.headKey).map(({ key }) => key));
  return (key) => keys.has(key);
}

/** How many messages are read at once. */
const PAGE = 200;

async function callersOf(
  { engine, wanted }: Search,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; from < keys.length && !signal.aborted; from += PAGE) {
    const some = keys.slice(from, from + PAGE);
    const bodies = await engine.store.bodies(
      engine.chatId,
      some.filter((key) => !engine.message(key)),
    );
    for (const key of some)
      if (toolsIn(engine.message(key) ?? bodies.get(key)?.message).includes(wanted.tool)) found.push(key);
  }
  return found;
}

/** The names of the tools that a message calls. */
export function toolsIn(message: UIMessage | undefined): string[] {
  return (message ? partsOf(message) : []).flatMap((part) => {
    if (part.type === 'dynamic-tool') return (part as { toolName: string }).toolName;
    return part.type.startsWith('tool-') ? part.type.slice('tool-'.length) : [];
  });
}
