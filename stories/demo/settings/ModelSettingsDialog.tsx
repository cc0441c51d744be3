import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { hasBrowserModel } from './browserModel.ts';
import type { ConnectionReport } from './endpoint.ts';
import type { ModelSettings } from './settings.ts';

/** Who answers: an endpoint, the browser's own model, or the demo model. */
export function ModelSettingsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { settings } = useWorkspace();
  const [draft, setDraft] = useState(settings.get);
  const change = (part: Partial<ModelSettings>): void => setDraft({ ...draft, ...part });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    settings.save(draft);
    onClose();
  };
  return (
    <Dialog title="Model settings" onClose={onClose}>
      <p className="dialog-text">
        Any OpenAI-compatible endpoint can answer, also one on this computer. Without a base URL the built-in
        demo model does; it needs no network and no key.
      </p>
      <form className="form" onSubmit={save}>
        <Field label="Base URL" value={draft.baseUrl} onChange={(baseUrl) => change({ baseUrl })} isAddress />
        <Field label="API key" value={draft.apiKey} onChange={(apiKey) => change({ apiKey })} isSecret />
        <label className="choice">
          <input
            type="checkbox"
            checked={draft.keepKey}
            onChange={(event) => change({ keepKey: event.target.checked })}
          />
          <span>Keep the key until this tab is closed. Otherwise a reload forgets it.</span>
        </label>
        <Field label="Model" value={draft.model} onChange={(model) => change({ model })} />
        <OwnModel isChosen={draft.ownModel} onChange={(ownModel) => change({ ownModel })} />
        <ConnectionTest settings={draft} />
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Offered where the browser brings a model along, ready to answer. */
function OwnModel({ isChosen, onChange }: OwnModelProps): ReactNode {
  const [isThere, setThere] = useState(false);
  useEffect(() => {
    let gone = false;
    void hasBrowserModel().then((found) => gone || setThere(found));
    return () => {
      gone = true;
    };
  }, []);
  if (!isThere) return null;
  return (
    <label className="choice">
      <input type="checkbox" checked={isChosen} onChange={(event) => onChange(event.target.checked)} />
      <span>Without a base URL, use the model of this browser instead of the demo model.</span>
    </label>
  );
}

function Field({ label, value, onChange, isAddress, isSecret }: FieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type={isSecret ? 'password' : 'text'}
        inputMode={isAddress ? 'url' : 'text'}
        placeholder={isAddress ? 'http://localhost:11434/v1' : undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value.trim())}
      />
    </label>
  );
}

function ConnectionTest({ settings }: { readonly settings: ModelSettings }): ReactNode {
  const [testing, setTesting] = useState(false);
  const [found, setFound] = useState<ConnectionReport & { readonly of: ModelSettings }>();
  const test = async (): Promise<void> => {
    setTesting(true);
    setFound({ ...(await tested(settings)), of: settings });
    setTesting(false);
  };
  // What was found holds for the settings that were tested, and for no others.
  const report = found?.of === settings && !testing ? found : undefined;
  return (
    <div className="connection">
      <button type="button" className="button" disabled={testing} onClick={() => void test()}>
        Test connection
      </button>
      <p role="status" data-works={report?.works}>
        {testing ? 'Asking for a first word…' : report?.words}
      </p>
    </div>
  );
}

interface OwnModelProps {
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly isAddress?: boolean;
  readonly isSecret?: boolean;
}

/** What a test of the connection found. Its code comes with the first test. */
async function tested(settings: ModelSettings): Promise<ConnectionReport> {
  try {
    const { testConnection } = await import('./endpoint.ts');
    return await testConnection(settings);
  } catch (error) {
    return { works: false, words: describeFailure(error) };
  }
}
