import type { ContextFragment } from '../fragment/fragment.ts';
import { addTo, type ContextRenderer, type FragmentSpan, type RenderedSpans } from './renderer.ts';

/**
 * Which part of a prompt each fragment is. XML and Markdown write one fragment below the other; TOML and TOON make one list of
 * those that share a name: there the group is found first, and in it each text. What can't be found has no span.
 */
export function spansIn(renderer: ContextRenderer, fragments: readonly ContextFragment[]): RenderedSpans {
  const text = renderer.render(fragments);
  const written = fragments.filter((one) => renderer.render([one]) !== '');
  const named = new Map<string, ContextFragment[]>();
  for (const fragment of written) addTo(named, fragment.name, fragment);
  const groups = MERGING.has(renderer.name) ? [...named.values()] : written.map((one) => [one]);
  const pieces = groups.map((group) => ({ group, text: renderer.render(group) }));
  const found: FragmentSpan[] = [];
  let from = 0;
  for (const piece of inOrder(pieces, renderer)) {
    const start = text.indexOf(piece.text, from);
    if (start < 0) continue;
    from = start + piece.text.length;
    for (const span of spansOf(piece, renderer))
      found.push({ fragment: span.fragment, start: span.start + start, end: span.end + start });
  }
  return { text, spans: found };
}

const MERGING: ReadonlySet<string> = new Set(['toml', 'toon']);

interface Piece {
  readonly group: readonly ContextFragment[];
  readonly text: string;
}

function inOrder(pieces: readonly Piece[], { name }: ContextRenderer): readonly Piece[] {
  const isTable = ({ text }: Piece): boolean => text.startsWith('[');
  return name === 'toml' ? [...pieces.filter((one) => !isTable(one)), ...pieces.filter(isTable)] : pieces;
}

function spansOf({ group, text }: Piece, renderer: ContextRenderer): readonly FragmentSpan[] {
  const [first] = group;
  const whole = group.map((fragment) => ({ fragment, start: 0, end: text.length }));
  if (!first || group.length === 1) return whole;
  // `hint: 0` and `hint[2]: a,b`, or `hint = 0` and `hint = ["a", "b"]`.
  const label = renderer.render([{ name: first.name, data: 0 }]).length - 1;
  let from = label + (renderer.name === 'toon' ? `[${group.length}]`.length : 1);
  const spans: FragmentSpan[] = [];
  for (const fragment of group) {
    const own = renderer.render([fragment]).slice(label);
    const start = typeof fragment.data === 'object' ? -1 : text.indexOf(own, from);
    if (start < 0) return whole;
    from = start + own.length;
    spans.push({ fragment, start, end: from });
  }
  return spans;
}
