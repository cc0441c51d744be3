import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import { createLowlight } from 'lowlight';

// Loaded with the first block of code in one of these languages.
const lowlight = createLowlight({ bash, css, javascript, json, python, sql, typescript, xml });

/** A piece of code, and what it is: `keyword`, `string`, `comment` and so on; none for what is just code. */
export interface Piece {
  readonly text: string;
  readonly kind?: string;
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Code as pieces, in order; undefined for a language that is not known. */
export function highlight(code: string, language: string): readonly Piece[] | undefined {
  if (!lowlight.registered(language)) return undefined;
  return lowlight.highlight(language, code).children.flatMap((node) => piecesOf(node, undefined));
}

function piecesOf(node: Node, kind: string | undefined): Piece[] {
  if (node.type === 'text') return [{ text: node.value, ...(kind !== undefined && { kind }) }];
  if (node.type !== 'element') return [];
  const [name] = [node.properties['className']].flat();
  const own = typeof name === 'string' ? name.replace(/^hljs-/, '') : kind;
  return node.children.flatMap((child) => piecesOf(child, own));
}
