import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { TomlRenderer } from '../../src/render/toml.ts';
import { ToonRenderer } from '../../src/render/toon.ts';
import { XmlRenderer } from '../../src/render/xml.ts';

/** One renderer of each format, as it is without options. */
export const xml: XmlRenderer = new XmlRenderer();
export const markdown: MarkdownRenderer = new MarkdownRenderer();
export const toml: TomlRenderer = new TomlRenderer();
export const toon: ToonRenderer = new ToonRenderer();

/** All four. */
export const renderers = [xml, markdown, toml, toon] as const;
