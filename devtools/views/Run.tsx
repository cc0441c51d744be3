import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { type ReactNode, useState } from 'react';
import { Scroll } from '../kit.tsx';
import { instead, useAnswer } from '../live.tsx';
import { textOf } from '../messageText.ts';
import { promptAt, systemOf } from '../promptAt.ts';
import { useRequests } from '../requests.ts';
import { readMessage } from '../readMessage.ts';
import { useRuns } from '../runs.ts';
import { toolsIn } from '../search.ts';
import type { ViewProps } from '../view.ts';
import { choice } from './choice.tsx';
import { Recorded } from './Recorded.tsx';
import { type Ground, RunForm } from './RunForm.tsx';
import { RunResults } from './RunResults.tsx';

const PARTS = ['Ask again', 'Recorded'] as const;

/** Runs the selected message again, with changes; and replays recorded requests. */
export function Run(props: ViewProps): ReactNode {
  const [part, setPart] = useState<(typeof PARTS)[number]>('Ask again');
  return (
    <>
      <div className="bar">{choice(PARTS, part, setPart)}</div>
      {part === 'Ask again' ? <Ask {...props} /> : <Recorded {...props} />}
    </>
  );
}

function Ask({ engine, state, sight, run }: ViewProps): ReactNode {
  const node = sight.node ?? state.headKey;
  const requests = useRequests(engine);
  const runs = useRuns(engine);
  const { revision, fragments } = state;
  const answer = useAnswer((signal) => groundAt(engine, node, signal), [engine, node, revision, fragments]);
  const { value } = answer;
  if (!engine.attached?.run)
    return (
      <p className="words">
        {engine.isReadOnly
          ? 'Nothing can be run in a read-only copy.'
          : 'No chat is attached. `useContextChat` of contextree/ai attaches one.'}
      </p>
    );
  if (value === null) return <p className="words">No question yet.</p>;
  if (!value) return instead(answer);
  const results = runs.filter(({ plan }) => plan.question === value.question);
  const isSafe = engine.attached.runsDry === true || isToldSafe(requests, value.messages);
  return (
    <Scroll>
      <RunForm key={value.question} engine={engine} ground={value} settings={run ?? {}} isSafe={isSafe} />
      {results.length > 0 ? (
        <RunResults engine={engine} ground={value} results={results} />
      ) : (
        <p className="words">Nothing was run here yet.</p>
      )}
    </Scroll>
  );
}

/** Whether the server has reported that it has no tools, and none was ever called on this chain. */
function isToldSafe(
  requests: ReturnType<ContextEngine['requests']>,
  messages: readonly UIMessage[],
): boolean {
  const tools = requests.at(-1)?.told.tools;
  const called = messages.flatMap(toolsIn);
  return tools !== undefined && called.length + Object.keys(tools).length === 0;
}

/** The starting point of a run; null where there is no question. */
async function groundAt(
  engine: ContextEngine,
  node: string | undefined,
  signal: AbortSignal,
): Promise<Ground | null> {
  const info = engine.node(node ?? '');
  const isAnswer = info?.name === 'assistant';
  const question = isAnswer ? engine.node(info.parentKey ?? '') : info;
  if (!question || question.name !== 'user') return null;
  const prompt = await promptAt({ engine, node: question.key, isToday: true }, signal);
  const answer = isAnswer ? await readMessage({ engine, messageKey: info.key }) : undefined;
  const asked = prompt.messages.at(-1);
  return {
    question: question.key,
    answer: answer && info ? { key: info.key, message: answer } : undefined,
    words: asked ? textOf(asked) : '',
    system: systemOf(prompt),
    fragments: prompt.fragments,
    wordsOf: (fragment) => prompt.pieces.find((piece) => piece.fragment === fragment)?.text ?? '',
    messages: prompt.messages,
  };
}
