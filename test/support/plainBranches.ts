import {
  hasWords,
  isCut,
  isGone,
  recordAt,
  shownVersion,
  type ChatValue,
  type MessageRecord,
} from '../../src/graph/graph.ts';
import { compareMarks } from '../../src/graph/join.ts';
import { kindOf, messageOfMark, recordOf } from '../../src/graph/marks.ts';

/**
 * The branches of a chat by the rules of the design, sentence by sentence, with whole walks and lists: for small chats. Shares
 * no code with `src/graph/branches.ts`.
 */
export function plainBranches(chat: ChatValue): { live: PlainWay[]; deleted: PlainWay[] } {
  const all = [...chat.ends.values()].flatMap((record) => plainWays(chat, record.id));
  all.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const live = all.filter(({ deletion }) => !deletion);
  const deletedAt = ({ deletion }: PlainWay): number => (deletion!.value as { at: number }).at;
  if (live.length === 0)
    live.push(...all.toSorted((a, b) => deletedAt(b) - deletedAt(a) || (a.id < b.id ? -1 : 1)).slice(0, 1));
  const deleted = all.filter((way) => !live.includes(way));
  const given = new Set(live.map(({ name }) => name));
  const used = new Set<string>();
  for (const way of live) {
    const base = way.name.replace(/-v\d+$/, '');
    for (let n = 2; used.has(way.name); n += 1) if (!given.has(`${base}-v${n}`)) way.name = `${base}-v${n}`;
    used.add(way.name);
  }
  return { live, deleted };
}

interface PlainWay {
  id: string;
  head: string | null;
  end: string | null;
  at: number;
  name: string;
  deletion: { id: string; value: unknown } | undefined;
}

function plainWays(chat: ChatValue, id: string): PlainWay[] {
  const record = chat.ends.get(id)!;
  const chains = record.keys.filter((key) => chat.messages.has(key)).map((key) => plainChain(chat, key));
  if (chains.length === 0 && record.keys.length > 0) return [];
  const open = chains.filter(
    (chain) => !chains.some((other) => other !== chain && other.includes(chain.at(-1)!)),
  );
  const ways = open.map((chain) => {
    const fork = chain.findLast((key, i) => isBeside(chat, open, chain, key, i));
    const head = chain.findLast((one) => !isGone(recordAt(chat, one)!)) ?? null;
    const at = fork === undefined ? record.at : Math.max(record.at, recordAt(chat, fork)!.at);
    return { id: fork === undefined ? id : `${id}/${fork}`, chain, head, end: chain.at(-1)!, at };
  });
  const shown = ways.filter((way) => {
    const isLess = ways.some(
      ({ head }) =>
        head !== null &&
        head !== way.head &&
        (way.head === null || plainChain(chat, head).includes(way.head)),
    );
    const isTwice = ways.some((other) => other.head === way.head && other.id < way.id);
    return way.head === way.end || !(isLess || isTwice);
  });
  const empty = { id, chain: [], head: null, end: null, at: record.at };
  return (record.keys.length === 0 ? [empty] : shown).map((way) => said(chat, id, way));
}

function said(
  chat: ChatValue,
  id: string,
  { chain, ...way }: Omit<PlainWay, 'name' | 'deletion'> & { chain: string[] },
): PlainWay {
  const marks = [...chat.marks.values()]
    .filter((mark) => recordOf(mark.id) === id)
    .toSorted((a, b) => compareMarks(b, a));
  const name = marks.find((mark) => {
    const key = messageOfMark(mark);
    return kindOf(mark) === 'name' && (key === null || chain.includes(key));
  });
  const spoken = chain
    .slice(0, chain.indexOf(way.head ?? '') + 1)
    .findLast((one) => hasWords(shownVersion(recordAt(chat, one)!)));
  const deletion = marks.find((mark) => {
    const { on } = mark.value as { on?: boolean };
    const covers = spoken === undefined || plainChain(chat, messageOfMark(mark)).includes(spoken);
    return kindOf(mark) === 'deletion' && on === true && covers;
  });
  return { ...way, name: (name?.value as { name: string } | undefined)?.name ?? 'main', deletion };
}

/** Whether a chain leaves another one with this message, and has the younger message there. */
function isBeside(chat: ChatValue, chains: string[][], chain: string[], key: string, i: number): boolean {
  const beside = chains.filter((other) => other.slice(0, i).join(' ') === chain.slice(0, i).join(' '));
  return beside.some((other) => other[i] !== key && isOlder(chat, other[i]!, key));
}

function isOlder(chat: ChatValue, a: string, b: string): boolean {
  const [one, other] = [recordAt(chat, a), recordAt(chat, b)] as [MessageRecord, MessageRecord];
  return one.at < other.at || (one.at === other.at && one.key < other.key);
}

function plainChain(chat: ChatValue, key: string | null): string[] {
  const keys: string[] = [];
  for (let at = recordAt(chat, key); at; at = isCut(chat, at) ? undefined : recordAt(chat, at.parent))
    keys.unshift(at.key);
  return keys;
}
