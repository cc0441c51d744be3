import type { EstimateResult, HiddenMark } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { Copy } from '../Copy.tsx';
import { useAnswer } from '../live.ts';
import { recall, remember } from '../memory.ts';
import { answerPrompt, type Format, FORMATS, modelIn, type PromptAnswer } from '../promptAnswer.ts';
import type { ViewProps } from './Graph.tsx';
import { Chips, HiddenNote, Marked } from './Hidden.tsx';
import { Share, Size, tokensOf } from './Size.tsx';

/** What a model would be sent now, and how large that is: the system prompt, and the messages in order. */
export function Prompt({ engine, state, modelId: given, tokenizer }: ViewProps): ReactNode {
  const [format, setFormat] = useState<Format>('App');
  const [typed, setTyped] = useState(() => recall().modelId ?? '');
  const modelId = typed || given || modelIn(state);
  const { revision, messages, branchId, headMessageId, fragments, pending } = state;
  const moment = useMemo(
    () => ({
      engine,
      format,
      modelId,
      tokenizer,
      revision,
      messages,
      branchId,
      headMessageId,
      fragments,
      pending,
    }),
    [engine, format, modelId, tokenizer, revision, messages, branchId, headMessageId, fragments, pending],
  );
  const { value, error } = useAnswer(answerPrompt, moment);
  const setModel = (name: string): void => {
    setTyped(name);
    remember({ modelId: name });
  };
  return (
    <>
      <div className="bar">
        <label>
          Format{' '}
          <select value={format} onChange={(event) => setFormat(event.target.value as Format)}>
            {FORMATS.map((name) => (
              <option key={name} value={name}>
                {name === 'App' ? 'as the app renders' : name}
                {value && ` (${tokensOf({ tokens: value.formats[name] }, value.estimate)})`}
              </option>
            ))}
          </select>
        </label>
        <Model modelId={modelId} onName={setModel} />
        <span className="grow" />
        <Copy label="Copy prompt" text={() => value?.systemPrompt ?? ''} />
      </div>
      {error && (
        <p className="alert" role="alert">
          The prompt could not be made: {error.message}
        </p>
      )}
      {value && <Sent answer={value} />}
      {!value && !error && <p className="words">Rendering the prompt…</p>}
    </>
  );
}

/** Whose prices and limits to show; what is typed holds when one leaves the field or presses Enter. */
function Model({
  modelId,
  onName,
}: {
  readonly modelId: string;
  readonly onName: (modelId: string) => void;
}): ReactNode {
  const take = (name: string): void => {
    if (name !== modelId) onName(name);
  };
  return (
    <label className="model">
      Model{' '}
      <input
        key={modelId}
        defaultValue={modelId}
        placeholder="openai:gpt-4o"
        spellCheck={false}
        autoComplete="off"
        onBlur={(event) => take(event.target.value.trim())}
        onKeyDown={(event) => {
          if (event.key === 'Enter') take(event.currentTarget.value.trim());
        }}
      />
    </label>
  );
}

/** Messages shown at first, the last ones; earlier ones come in steps of as many. */
const SHOWN = 50;

function Sent({ answer }: { readonly answer: PromptAnswer }): ReactNode {
  const { systemPrompt, messages, estimate } = answer;
  const [shown, setShown] = useState(SHOWN);
  const earlier = Math.max(0, messages.length - shown);
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="What would be sent">
      <Size estimate={estimate} />
      <HiddenNote estimate={estimate} />
      <section>
        <h2>
          System prompt <Share of={estimate.systemPrompt} estimate={estimate} />
        </h2>
        <Fragments estimate={estimate} />
        {systemPrompt ? (
          <pre className="text">
            <Marked text={systemPrompt} marks={estimate.systemPrompt.hidden} />
          </pre>
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
          {messages.slice(earlier).map((message, i) => (
            <li key={message.id} className="turn">
              <div className="role">
                {message.role}
                <MessageShare estimate={estimate} index={earlier + i} />
              </div>
              {message.parts.map((part, p) => (
                <Part key={p} part={part} marks={marksIn(estimate, earlier + i, p)} />
              ))}
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

function MessageShare({
  estimate,
  index,
}: Pick<PromptAnswer, 'estimate'> & { readonly index: number }): ReactNode {
  const message = estimate.messages[index];
  return message && <Share of={message} estimate={estimate} />;
}

function marksIn(estimate: EstimateResult, message: number, part: number): readonly HiddenMark[] {
  return estimate.messages[message]?.hidden?.filter((mark) => mark.part === part) ?? [];
}

/** Where the tokens of the system prompt go, fragment by fragment. */
function Fragments({ estimate }: Pick<PromptAnswer, 'estimate'>): ReactNode {
  if (estimate.fragments.length === 0) return null;
  return (
    <ul className="fragments" aria-label="Fragments">
      {estimate.fragments.map((fragment, i) => (
        <li key={i}>
          <span className="grow">{fragment.id ?? fragment.name}</span>
          <Share of={fragment} estimate={estimate} />
        </li>
      ))}
    </ul>
  );
}

type MessagePart = PromptAnswer['messages'][number]['parts'][number];

interface PartProps {
  readonly part: MessagePart;
  readonly marks: readonly HiddenMark[];
}

function Part({ part, marks }: PartProps): ReactNode {
  if (part.type === 'step-start') return null;
  if (part.type === 'text') return <LongText text={part.text} marks={marks} />;
  const { label, text } = readable(part);
  const isText = part.type === 'reasoning';
  return (
    <div className="part">
      <span className="muted">{label}</span>
      {text && <LongText text={text} code={!isText} marks={isText ? marks : undefined} />}
      {!isText && <Chips marks={marks} />}
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

interface LongTextProps {
  readonly text: string;
  readonly code?: boolean;
  readonly marks?: readonly HiddenMark[] | undefined;
}

function LongText({ text, code = false, marks }: LongTextProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const rest = isWhole ? 0 : text.length - CLIP;
  return (
    <>
      <div className={code ? 'text code' : 'text'} dir="auto">
        <Marked text={rest > 0 ? `${text.slice(0, CLIP)}…` : text} marks={marks} />
      </div>
      {rest > 0 && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show {rest} more characters
        </button>
      )}
    </>
  );
}
