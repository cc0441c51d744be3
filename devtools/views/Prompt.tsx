import { type ReactNode, useState } from 'react';
import { Copy } from '../Copy.tsx';
import { useAnswer } from '../live.ts';
import { recall, remember } from '../memory.ts';
import { answerPrompt, type Format, FORMATS, modelIn, type PromptAnswer } from '../promptAnswer.ts';
import { requestAt, systemOf } from '../promptAt.ts';
import { useRequests } from '../requests.ts';
import type { ViewProps } from '../view.ts';
import { Choice } from './Choice.tsx';
import { Formats } from './Formats.tsx';
import { Messages } from './Messages.tsx';
import { PromptDifference } from './PromptDifference.tsx';
import { HiddenNote } from './Hidden.tsx';
import { Size, tokensOf } from './Size.tsx';
import { ModelPicker } from './ModelPicker.tsx';
import { SystemPrompt } from './SystemPrompt.tsx';

const LOOKS = ['Prompt', 'Formats', 'Difference'] as const;
type Look = (typeof LOOKS)[number];

/** The prompt at the selected message, as sent or as it would be sent now; and its size. */
export function Prompt(props: ViewProps): ReactNode {
  const { engine, state, modelId: given, tokenizer, sight } = props;
  const { node } = sight;
  const [look, setLook] = useState<Look>('Prompt');
  const [format, setFormat] = useState<Format>('App');
  const [isToday, setToday] = useState(false);
  const [picked, setPicked] = useState(() => recall().modelId ?? '');
  const own = given || modelIn(state);
  const modelId = picked || own;
  const { revision, messages, branchId, headKey, fragments, pending } = state;
  const requests = useRequests(engine);
  const question = { engine, node, isToday, format, modelId, tokenizer };
  // All inputs of the answer: it is computed again when one of these changes.
  const moment = { ...question, requests, revision, messages, branchId, headKey, fragments, pending };
  const { value, error } = useAnswer(answerPrompt, moment);
  const setModel = (name: string): void => {
    setPicked(name);
    remember({ modelId: name });
  };
  const isRecorded = requestAt({ engine, node }) !== undefined;
  return (
    <>
      <div className="bar">
        <Choice options={LOOKS} value={look} onChange={setLook} />
        {value?.formats && look === 'Prompt' && (
          <label>
            Format{' '}
            <select value={format} onChange={(event) => setFormat(event.target.value as Format)}>
              {FORMATS.map((name) => (
                <option key={name} value={name}>
                  {name === 'App' ? 'as the app renders' : name}
                  {value.formats && ` (${tokensOf(value.formats[name], value.estimate)})`}
                </option>
              ))}
            </select>
          </label>
        )}
        <ModelPicker
          label="Model"
          standard={own === '' ? 'not told' : own}
          value={picked}
          used={[]}
          onChange={setModel}
        />
      </div>
      <div className="bar heading">
        <h2>{value ? <Heading answer={value} node={node} engine={engine} /> : 'Prompt'}</h2>
        {isRecorded && (
          <label>
            <input type="checkbox" checked={isToday} onChange={() => setToday(!isToday)} /> with today’s
            fragments
          </label>
        )}
        {node !== undefined && (
          <button type="button" onClick={() => props.onLook({ node: undefined })}>
            Next request
          </button>
        )}
      </div>
      {error && (
        <p className="alert" role="alert">
          The prompt could not be made: {error.message}
        </p>
      )}
      {value && look === 'Prompt' && <Sent answer={value} engine={engine} />}
      {value && look === 'Formats' && <Formats answer={value} />}
      {value && look === 'Difference' && <PromptDifference answer={value} {...props} />}
      {!value && !error && <p className="words">Rendering the prompt…</p>}
      {value && (
        <footer className="bar wrap">
          <Copy label="Copy prompt" text={() => systemOf(value)} />
          <Copy label="Copy messages" text={() => json(value.messages)} />
          <Copy label="Copy both" text={() => json({ system: systemOf(value), messages: value.messages })} />
        </footer>
      )}
    </>
  );
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Says what is shown: the prompt that was sent, or the one that today's fragments make. */
function Heading({
  answer: { kind, request },
  node,
  engine,
}: Pick<ViewProps, 'engine'> & {
  readonly answer: PromptAnswer;
  readonly node: string | undefined;
}): ReactNode {
  if (kind === 'next') return 'What would be sent next';
  const role = engine.node(node ?? '')?.name === 'assistant' ? 'this answer' : 'this message';
  if (!request) return `Not recorded: for ${role}, with today’s fragments`;
  const model = request.model === undefined ? 'model not told' : request.model;
  return (
    <>
      As recorded for {role} <span className="muted">{`${timeOf(request.at)} - ${model}`}</span>
    </>
  );
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString('en', { hour12: false });
}

function Sent({ answer, engine }: Pick<ViewProps, 'engine'> & { readonly answer: PromptAnswer }): ReactNode {
  const { messages, estimate, kind } = answer;
  return (
    <div
      className="scroll"
      tabIndex={0}
      role="group"
      aria-label={kind === 'recorded' ? 'What was sent' : 'What would be sent'}
    >
      <Size estimate={estimate} />
      <HiddenNote estimate={estimate} />
      <SystemPrompt answer={answer} engine={engine} />
      <Messages messages={messages} estimate={estimate} />
    </div>
  );
}
