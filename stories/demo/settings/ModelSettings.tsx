import { useId, useState, useSyncExternalStore, type ReactNode } from 'react';
import { useWorkspace } from '../shell/Workspace.ts';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';

const ModelSettingsDialog = late(async () => (await import('./ModelSettingsDialog.tsx')).ModelSettingsDialog);

/** The way to the settings of the model. It says which one answers now. */
export function ModelSettingsButton(): ReactNode {
  const [open, setOpen] = useState(false);
  const nowId = useId();
  const { settings } = useWorkspace();
  const { baseUrl, model, ownModel } = useSyncExternalStore(settings.subscribe, settings.get);
  return (
    <div className="row">
      <button type="button" className="row-button" aria-describedby={nowId} onClick={() => setOpen(true)}>
        <Icon name="sliders" />
        <span>Model settings</span>
      </button>
      <small id={nowId}>{baseUrl !== '' ? model : ownModel ? 'Browser' : 'Demo model'}</small>
      {open && <ModelSettingsDialog onClose={() => setOpen(false)} />}
    </div>
  );
}
