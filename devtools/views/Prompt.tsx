import { type ReactNode, useState } from 'react';
import type { ContextEngine, NodeInfo } from 'contextree';
import { Copy } from '../Copy.tsx';
import { clock } from '../amounts.ts';
import { Check, Scroll, Select } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { recall, remember } from '../memory.ts';
import { answerPrompt, type Format, FORMATS, modelIn, type PromptAnswer } from '../promptAnswer.ts';
import { requestAt, systemOf } from '../promptAt.ts';
import { useRequests } from '../requests.ts';
import type { ViewProps } from '../view.ts';
import { choice } from './choice.tsx';
import { formatsOf } from './Formats.tsx';
import { Messages } from './Messages.tsx';
import { PromptDifference } from './PromptDifference.tsx';
import { hiddenNote } from './Hidden.tsx';
import { sizeOf, tokensOf } from './Size.tsx';
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
  const { revision, messages, branchId, headKey, fragments, pending } = state;
  const requests = useRequests(engine);
  const request = requestAt({ engine, node: node ?? headKey, requests });
  const own = given || (request?.model ?? modelIn(state));
  const modelId = picked || own;
  const question = { engine, node, isToday, format, modelId, tokenizer };
  // What the answer reads beside the question: it is computed again when one of these changes.
  const now = [requests, revision, messages, branchId, headKey, fragments, pending];
  const made = useAnswer((signal) => answerPrompt(question, signal), [...Object.values(question), ...now]);
  const { value } = made;
  const setModel = (name: string): void => {
    setPicked(name);
    remember({ modelId: name });
  };
  const isRecorded = node !== undefined && request !== undefined;
  return (
    <>
      <div className="bar steady">
        {choice(LOOKS, look, setLook)}
        {look === 'Prompt' && (!isRecorded || isToday) && (
          <label>
            Format{' '}
            <Select
              value={format}
              options={FORMATS.map((name) => [
                name,
                (name === 'App' ? 'the app’s' : name) +
                  (value?.formats ? ` (${tokensOf(value.formats[name], value.estimate)})` : ''),
              ])}
              onChange={(name) => setFormat(name as Format)}
            />
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
      <div className="bar">
        <h2>{value ? headingOf(value, engine.node(node ?? ''), isRecorded) : 'Prompt'}</h2>
        {isRecorded && (
          <Check checked={isToday} onChange={() => setToday(!isToday)}>
            with today’s fragments
          </Check>
        )}
        {node !== undefined && (
          <button onClick={() => props.onLook({ node: undefined })}>Next request</button>
        )}
      </div>
      {instead(made)}
      {value && look === 'Prompt' && sentOf(value, engine)}
      {value && look === 'Formats' && formatsOf(value)}
      {value && look === 'Difference' && <PromptDifference answer={value} {...props} />}
      {value && (
        <footer className="bar">
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
function headingOf(
  { kind, request }: PromptAnswer,
  node: NodeInfo | undefined,
  isRecorded: boolean,
): ReactNode {
  if (kind === 'next') return 'What would be sent next';
  const role = node?.name === 'assistant' ? 'this answer' : 'this message';
  if (!request) return `${isRecorded ? 'For' : 'Not recorded: for'} ${role}, with today’s fragments`;
  return (
    <>
      As recorded for {role}{' '}
      <span className="muted">{`${clock(request.at)} - ${request.model ?? 'model not told'}`}</span>
    </>
  );
}

function sentOf(answer: PromptAnswer, engine: ContextEngine): ReactNode {
  const { messages, estimate } = answer;
  return (
    <Scroll>
      {sizeOf(estimate)}
      {hiddenNote(estimate)}
      <SystemPrompt answer={answer} engine={engine} />
      <Messages messages={messages} estimate={estimate} />
    </Scroll>
  );
}
