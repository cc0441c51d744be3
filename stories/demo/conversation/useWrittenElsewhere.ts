import { useEngine, type ContextEngine } from 'contextree';
import { useEffect, useState } from 'react';

/**
 * Whether another tab writes an answer on the shown branch. Before that answer's first word nothing of it is on the page, and
 * the person should know that something is coming.
 *
 * Undefined until it is known, and while `isQuiet` is false, because this tab is at work itself.
 */
export function useWrittenElsewhere(lastId: string | undefined, isQuiet: boolean): boolean | undefined {
  const engine = useEngine();
  const [found, setFound] = useState<{ readonly behind: string | undefined; readonly isWritten: boolean }>();
  useEffect(() => {
    if (!isQuiet) return;
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const isWritten = await isHeadHeld(engine).catch(() => false);
      if (isGone) return;
      clearTimeout(timer);
      setFound((before) =>
        before?.behind === lastId && before?.isWritten === isWritten ? before : { behind: lastId, isWritten },
      );
      // A tab that dies says nothing.
      if (isWritten) timer = setTimeout(() => void look(), 1000);
    };
    void look();
    const stop = engine.state.subscribe((now, before) => {
      if (now.revision !== before.revision) void look();
    });
    return () => {
      isGone = true;
      clearTimeout(timer);
      stop();
    };
  }, [engine, lastId, isQuiet]);
  return isQuiet && found?.behind === lastId ? found?.isWritten : undefined;
}

/** Whether some tab still holds what another one was writing here. */
async function isHeadHeld(engine: ContextEngine): Promise<boolean> {
  const last = engine.state.getState().remoteMessages.at(-1);
  const key = last && engine.node(last.id)?.key;
  return key !== undefined && (await engine.store.held(engine.chatId)).has(key);
}
