import { MarkdownRenderer, TomlRenderer, ToonRenderer, XmlRenderer } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { Copy } from '../Copy.tsx';
import { useAnswer } from '../live.ts';
import type { ViewProps } from './Graph.tsx';

const formats = { XML: XmlRenderer, Markdown: MarkdownRenderer, TOML: TomlRenderer, TOON: ToonRenderer };
type Format = keyof typeof formats | 'App';

type Resolved = Awaited<ReturnType<ViewProps['engine']['resolve']>>;

/** What a model would be sent now: the system prompt, and the messages in order. */
export function Prompt({ engine, state }: ViewProps): ReactNode {
  const [format, setFormat] = useState<Format>('App');
  const { revision, messages, branchId, headMessageId, fragments, pending } = state;
  const moment = useMemo(
    () => ({ engine, format, revision, messages, branchId, headMessageId, fragments, pending }),
    [engine, format, revision, messages, branchId, headMessageId, fragments, pending],
  );
  const { value, error } = useAnswer(resolveAt, moment);
  return (
    <>
      <div className="bar">
        <label>
          Format{' '}
          <select value={format} onChange={(event) => setFormat(event.target.value as Format)}>
            <option value="App">as the app renders</option>
            {Object.keys(formats).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <span className="grow" />
        <Copy label="Copy prompt" text={() => value?.systemPrompt ?? ''} />
      </div>
      {error && (
        <p className="alert" role="alert">
          The prompt could not be made: {error.message}
        </p>
      )}
      {value && <Sent resolved={value} />}
      {!value && !error && <p className="words">Rendering the prompt…</p>}
    </>
  );
}

/** Asked again whenever what would be sent may have changed. */
interface Moment extends Pick<ViewProps, 'engine'> {
  readonly format: Format;
}

function resolveAt({ engine, format }: Moment, signal: AbortSignal): Promise<Resolved> {
  return engine.resolve(format === 'App' ? { signal } : { signal, renderer: new formats[format]() });
}

/** Messages shown at first, the last ones; earlier ones come in steps of as many. */
const SHOWN = 50;

function Sent({ resolved: { systemPrompt, messages } }: { readonly resolved: Resolved }): ReactNode {
  const [shown, setShown] = useState(SHOWN);
  const earlier = Math.max(0, messages.length - shown);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable by keyboard
    <div className="scroll" tabIndex={0} role="group" aria-label="What would be sent">
      <section>
        <h2>
          System prompt <span className="muted">{systemPrompt.length} characters</span>
        </h2>
        {systemPrompt ? (
          <pre className="text">{systemPrompt}</pre>
        ) : (
          <p className="words">No fragments, so no system prompt.</p>
        )}
      </section>
      <section>
        <h2>
          Messages <span className="muted">{messages.length}</span>
        </h2>
        {messages.length === 0 && <p className="words">No messages yet.</p>}
        {earlier > 0 && (
          <p className="words">
            <button type="button" onClick={() => setShown(shown + SHOWN)}>
              Show {Math.min(SHOWN, earlier)} of {earlier} earlier
            </button>
          </p>
        )}
        <ol className="turns" start={earlier + 1}>
          {messages.slice(earlier).map((message) => (
            <li key={message.id} className="turn">
              <div className="role">{message.role}</div>
              {message.parts.map((part, i) => (
                <Part key={i} part={part} />
              ))}
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

type MessagePart = Resolved['messages'][number]['parts'][number];

function Part({ part }: { readonly part: MessagePart }): ReactNode {
  if (part.type === 'step-start') return null;
  if (part.type === 'text') return <LongText text={part.text} />;
  const { label, text } = readable(part);
  return (
    <div className="part">
      <span className="muted">{label}</span>
      {text && <LongText text={text} code={part.type !== 'reasoning'} />}
    </div>
  );
}

/** A part that is no text, in words: what it is, and what it holds. */
function readable(part: MessagePart): { label: string; text: string } {
  switch (part.type) {
    case 'reasoning':
      return { label: 'reasoning', text: part.text };
    case 'file':
      return { label: `file ${part.filename ?? ''} ${part.mediaType}`, text: part.url.slice(0, 200) };
    case 'source-url':
      return { label: `source ${part.title ?? ''}`, text: part.url };
    default: {
      const { type, state, ...rest } = part as { type: string; state?: string };
      return { label: [type.replace('tool-', 'tool '), state].filter(Boolean).join(' - '), text: json(rest) };
    }
  }
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch (error) {
    return `Not to be shown as JSON: ${String(error)}`;
  }
}

/** Characters of a text that are shown before one asks for the rest. */
const CLIP = 2_000;

function LongText({ text, code = false }: { readonly text: string; readonly code?: boolean }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const rest = isWhole ? 0 : text.length - CLIP;
  return (
    <>
      <div className={code ? 'text code' : 'text'} dir="auto">
        {rest > 0 ? `${text.slice(0, CLIP)}…` : text}
      </div>
      {rest > 0 && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show {rest} more characters
        </button>
      )}
    </>
  );
}
