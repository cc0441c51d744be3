import { clock, span } from '../amounts.ts';
import { Check, dashed, Scroll, Select } from '../kit.tsx';
import { type ReactNode, useState } from 'react';
import { recall, remember } from '../memory.ts';
import { type RecordedRequest, useRequests } from '../requests.ts';
import type { ViewProps } from '../view.ts';
import { Replay } from './Replay.tsx';

/** The recorded requests, newest first, and a replay of the selected one. */
export function Recorded({ engine, onOpen, sight }: ViewProps): ReactNode {
  const requests = useRequests(engine);
  const [picked, setPicked] = useState<string>();
  const shown =
    requests.find(({ id }) => id === picked) ??
    requests.findLast(({ answerKey }) => answerKey === sight.node) ??
    requests.at(-1);
  if (!shown)
    return (
      <div className="words">
        <p>Not recorded. Requests are recorded while the panel is open.</p>
        <AlsoClosed />
      </div>
    );
  return (
    <>
      <div className="bar">
        <label className="end">
          Request{' '}
          <Select
            value={shown.id}
            options={requests.toReversed().map((request) => [request.id, titleOf(request, engine)])}
            onChange={setPicked}
          />
        </label>
        <button onClick={() => onOpen('Prompt', { node: shown.answerKey })}>Show its prompt</button>
        <AlsoClosed />
      </div>
      <Scroll>
        <Replay key={shown.id} request={shown} />
      </Scroll>
    </>
  );
}

/** Whether to record while the panel is closed, too; remembered for this browser. */
function AlsoClosed(): ReactNode {
  const [isOn, setOn] = useState(() => recall().recordsClosed === true);
  const toggle = (): void => {
    setOn(!isOn);
    remember({ recordsClosed: !isOn });
  };
  return (
    <Check checked={isOn} onChange={toggle}>
      Record while closed, too
    </Check>
  );
}

function titleOf({ at, status, model, ms, parentKey }: RecordedRequest, engine: ViewProps['engine']): string {
  const { preview = '' } = engine.node(parentKey ?? '') ?? {};
  return dashed(`${clock(at)} ${preview}`, model ?? 'model not told', status, ms !== undefined && span(ms));
}
