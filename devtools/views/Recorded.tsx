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
        <p>
          Nothing is recorded yet. While this panel is open, it records the last 50 requests, in memory only.
        </p>
        <AlsoClosed />
      </div>
    );
  return (
    <>
      <div className="bar wrap">
        <label className="whole">
          <span className="unseen">Request</span>
          <select className="fill" value={shown.id} onChange={(event) => setPicked(event.target.value)}>
            {requests.toReversed().map((request) => (
              <option key={request.id} value={request.id}>
                {titleOf(request, engine)}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => onOpen('Prompt', { node: shown.answerKey })}>
          Show its prompt
        </button>
        <AlsoClosed />
      </div>
      <div className="scroll" tabIndex={0} role="group" aria-label="Recorded request">
        <Replay key={shown.id} request={shown} />
      </div>
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
    <label>
      <input type="checkbox" checked={isOn} onChange={toggle} /> Record while closed, too
    </label>
  );
}

function titleOf({ at, status, model, ms, parentKey }: RecordedRequest, engine: ViewProps['engine']): string {
  const time = new Date(at).toLocaleTimeString('en', { hour12: false });
  const took = ms === undefined ? '' : `, ${Math.round(ms)} ms`;
  return `${time} ${engine.node(parentKey ?? '')?.preview ?? ''} - ${model ?? 'model not told'}, ${status}${took}`;
}
