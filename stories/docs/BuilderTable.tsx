import { MarkdownRenderer, TomlRenderer, ToonRenderer, XmlRenderer } from 'contextree';
import type { ReactNode } from 'react';
import { codeOf } from './code.ts';
import './docs.css';
import { examples } from './examples.ts';

/** The formats, in the order of the table's columns. */
export const formats = {
  XML: new XmlRenderer(),
  Markdown: new MarkdownRenderer(),
  TOML: new TomlRenderer(),
  TOON: new ToonRenderer(),
};

/** Each builder, called, and what the model gets to read of it: rendered while you look, by the code itself. */
export function BuilderTable(): ReactNode {
  return (
    <div className="builders" tabIndex={0} role="region" aria-label="Builders">
      <table>
        <thead>
          <tr>
            {Object.keys(formats).map((format) => (
              <th scope="col" key={format}>
                {format}
              </th>
            ))}
          </tr>
        </thead>
        {Object.entries(examples).map(([name, build]) => (
          <tbody key={name} aria-label={name}>
            <tr>
              <th scope="rowgroup" colSpan={Object.keys(formats).length}>
                <pre>{codeOf(name)}</pre>
              </th>
            </tr>
            <tr>
              {Object.entries(formats).map(([format, renderer]) => (
                <td key={format}>
                  <pre>{renderer.render([build()])}</pre>
                </td>
              ))}
            </tr>
          </tbody>
        ))}
      </table>
    </div>
  );
}
