import { useSyncExternalStore, type ReactNode } from 'react';
import { useWorkspace } from '../shell/Workspace.ts';
import { Icon } from '../ui/Icon.tsx';

/** Says what works without a network, while there is none: all of it, but for a model that is somewhere else. */
export function Offline(): ReactNode {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine);
  const { settings } = useWorkspace();
  const { baseUrl } = useSyncExternalStore(settings.subscribe, settings.get);
  if (isOnline) return null;
  return (
    <p className="situation offline" role="note">
      <Icon name="offline" />
      <span>
        {baseUrl === ''
          ? 'No network. Everything here works without one.'
          : 'No network. What was said is here; the model can’t be reached until the network is back.'}
      </span>
    </p>
  );
}

function listen(changed: () => void): () => void {
  addEventListener('online', changed);
  addEventListener('offline', changed);
  return () => {
    removeEventListener('online', changed);
    removeEventListener('offline', changed);
  };
}
