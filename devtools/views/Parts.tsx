import { dashed, factList } from '../kit.tsx';
import type { UIMessage } from 'ai';
import type { HiddenMark } from 'contextree/tokens';
import { type ReactNode, useState } from 'react';
import { bytesOf, span } from '../amounts.ts';
import { Guard } from '../Guard.tsx';
import { escaped } from '../plainLine.ts';
import { chipsOf, marked } from './Hidden.tsx';

type MessagePart = UIMessage['parts'][number];

interface PartProps {
  readonly part: MessagePart;
  readonly marks?: readonly HiddenMark[] | undefined;
  /** How long the tool ran, in ms; null where that was not reported. Default: not shown. */
  readonly ms?: number | null | undefined;
}

/** One part of a message, drawn by its type; unknown and damaged parts as JSON. */
export function Part(props: PartProps): ReactNode {
  const { part } = props;
  return (
    <Guard renderFailure={() => labelled('damaged part', code(json(part)))}>
      <Drawn {...props} />
    </Guard>
  );
}

function Drawn({ part, marks = [], ms }: PartProps): ReactNode {
  switch (part.type) {
    case 'step-start':
      return null;
    case 'text':
      return <LongText text={part.text} marks={marks} />;
    case 'reasoning':
      return labelled('reasoning', part.text && <LongText text={part.text} marks={marks} />);
    case 'file':
      return fileOf(part);
    case 'source-url':
      return labelled(`source - ${part.title ?? part.sourceId}`, addressOf(part.url));
    case 'source-document':
      return labelled(dashed('source', part.mediaType, part.title, part.filename));
    default:
      return (
        <>
          {isTool(part) ? toolOf(part, ms) : dataOf(part)}
          {chipsOf(marks)}
        </>
      );
  }
}

/** A name in a label is anyone's: what would turn the label around is escaped. */
function labelled(label: ReactNode, content?: ReactNode): ReactNode {
  return (
    <div className="part">
      <span className="muted">{typeof label === 'string' ? escaped(label) : label}</span>
      {content}
    </div>
  );
}

function code(text: string): ReactNode {
  return <LongText text={text} code />;
}

/** A tool call: its input, its output, and its state. */
interface ToolPart {
  readonly type: string;
  readonly toolName?: string;
  readonly state: string;
  readonly input?: unknown;
  readonly rawInput?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: { readonly approved?: boolean; readonly reason?: string };
}

/** Whether a part is a tool call. */
export function isTool(part: unknown): part is ToolPart {
  return Object(part).toolCallId !== undefined;
}

function toolOf(part: ToolPart, ms: PartProps['ms']): ReactNode {
  const { type, toolName = type.replace('tool-', ''), state, output, errorText, approval } = part;
  const input = part.input ?? part.rawInput;
  const took = ms === undefined ? undefined : ms === null ? 'duration not told' : span(ms);
  return labelled(
    <>
      tool <strong dir="auto">{toolName}</strong> - <span className={state}>{state.replace('-', ' ')}</span>
      {took && ` - ${took}`}
      {approval?.approved !== undefined && ` - ${approval.approved ? 'approved' : 'denied'}`}
      {approval?.reason && `: ${approval.reason}`}
    </>,
    <>
      {factList([
        ['input', valueOf(input)],
        ['output', valueOf(output)],
      ])}
      {errorText !== undefined && (
        <p className="alert" dir="auto">
          {errorText}
        </p>
      )}
    </>,
  );
}

function valueOf(value: unknown): ReactNode {
  return value === undefined ? value : code(typeof value === 'string' ? value : json(value));
}

/** Data that an app sends with an answer, and parts of unknown types. */
function dataOf(part: object): ReactNode {
  const { type, data, ...rest } = part as { type: string; data?: unknown };
  return labelled(type, code(json(type.startsWith('data-') ? data : rest)));
}

/** A picture is shown if it is in the message: the devtools load nothing from elsewhere. */
function fileOf({ url, mediaType, filename }: Extract<MessagePart, { type: 'file' }>): ReactNode {
  const isHere = url.startsWith('data:');
  const size = isHere && bytesOf(url.length * 0.75);
  return labelled(
    dashed('file', mediaType, size, filename),
    isHere && /^data:image\/(?!svg)/.test(url) ? (
      <img src={url} alt={filename ?? ''} />
    ) : (
      addressOf(isHere ? `${url.slice(0, 80)}…` : url)
    ),
  );
}

/** A link if the URL leads to a page; text for any other URL, which might run a script. */
function addressOf(url: string): ReactNode {
  return /^https?:\/\//i.test(url) ? (
    <a className="text" href={url} target="_blank" rel="noreferrer noopener">
      {url}
    </a>
  ) : (
    <div className="text code">{url}</div>
  );
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch (error) {
    return `Not to be shown as JSON: ${String(error)}`;
  }
}

/** How many characters of a text are shown at first. */
const CLIP = 2_000;

interface LongTextProps {
  readonly text: string;
  readonly code?: boolean;
  readonly marks?: readonly HiddenMark[] | undefined;
}

/** A text as it is; a long one on demand. */
export function LongText({ text, code = false, marks }: LongTextProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const rest = isWhole ? 0 : text.length - CLIP;
  return (
    <>
      <div className={code ? 'text code' : 'text'} dir="auto">
        {marked(rest > 0 ? `${text.slice(0, CLIP)}…` : text, marks)}
      </div>
      {rest > 0 && (
        <button className="quiet" onClick={() => setWhole(true)}>
          Show {rest} more characters
        </button>
      )}
    </>
  );
}
