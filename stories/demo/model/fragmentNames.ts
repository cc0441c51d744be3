/**
 * Which fragments a system prompt is made of, read back from the rendered text.
 *
 * The demo model is told nothing that another model would not be told: it gets one string. So it does what a person
 * with the prompt in hand would do, and looks at the outermost names. Each of the four renderers puts them in its own
 * place: an XML element at depth zero, a Markdown heading, a TOML key or table, a TOON key without indentation.
 * A prompt in free prose has none.
 */
export function fragmentNames(prompt: string): string[] {
  const firstLine = prompt.trimStart().split('\n', 1)[0] ?? '';
  return formats.find(({ begins }) => begins.test(firstLine))?.read(prompt) ?? [];
}

const formats: readonly { begins: RegExp; read: (prompt: string) => string[] }[] = [
  { begins: /^<[\p{L}_]/u, read: xmlElements },
  { begins: /^#{1,2} \S/, read: markdownHeadings },
  { begins: /^(?:\[\[?[^[\]]+\]\]?\s*$|(?:[\w-]+|"[^"]*"|'[^']*')\s*=)/, read: tomlKeys },
  { begins: /^(?:[\w.-]+|"(?:[^"\\]|\\.)*")(?:\[[^\]]*\])?(?:\{[^}]*\})?:(?:\s|$)/, read: toonKeys },
];

/** Text inside elements is escaped in our prompts, so every `<` opens or closes one. */
function xmlElements(prompt: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [, slash, name = '', empty] of prompt.matchAll(/<(\/?)([\p{L}_][^\s<>/]*)[^<>]*?(\/?)>/gu)) {
    if (slash) depth = Math.max(0, depth - 1);
    else {
      if (depth === 0) names.push(name);
      if (!empty) depth++;
    }
  }
  return names;
}

/** Headings inside code fences are somebody's text, not a fragment. */
function markdownHeadings(prompt: string): string[] {
  return linesOutside(prompt, (line) => /^\s*(`{3,}|~{3,})/.exec(line)?.[1]).flatMap(
    (line) => /^#{1,2} +(.+)$/.exec(line)?.[1]?.trim() ?? [],
  );
}

/** Keys of a table belong to the table; a dotted name belongs to the fragment before its first dot. */
function tomlKeys(prompt: string): string[] {
  const names: string[] = [];
  let inTable = false;
  for (const line of linesOutside(prompt, tomlFence)) {
    const table = /^\[\[?\s*("[^"]*"|'[^']*'|[^\].]+)([^\]]*)\]\]?\s*$/.exec(line);
    const key = /^("[^"]*"|'[^']*'|[\w-]+)\s*(?:\.[^=]*)?=/.exec(line)?.[1];
    if (table) {
      inTable = true;
      const name = unquoted(table[1] ?? '');
      if (!table[2] || names.at(-1) !== name) names.push(name);
    } else if (key && !inTable) names.push(unquoted(key));
  }
  return names;
}

/** The three quotes that a line opens and leaves open. */
function tomlFence(line: string): string | undefined {
  const quotes = line.match(/"""|'''/g) ?? [];
  return quotes.length % 2 === 1 ? quotes[0] : undefined;
}

function toonKeys(prompt: string): string[] {
  return prompt
    .split('\n')
    .flatMap((line) => /^("(?:[^"\\]|\\.)*"|[^\s:"[\]{}-][^\s:[\]{}]*)[^:]*:(?:\s|$)/.exec(line)?.[1] ?? [])
    .map(unquoted);
}

function unquoted(name: string): string {
  return /^(["']).*\1$/.test(name) ? name.slice(1, -1) : name.trim();
}

/** The lines that no fence encloses; `fence` tells what a line opens, and the same mark closes it. */
function linesOutside(text: string, fence: (line: string) => string | undefined): string[] {
  const outside: string[] = [];
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const mark = fence(line);
    if (open === undefined) outside.push(line);
    if (mark === undefined) continue;
    if (open === undefined) open = mark;
    else if (mark.startsWith(open)) open = undefined;
  }
  return outside;
}
