import { type ContextEngine, useEngine } from 'contextree';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Guard } from './Guard.tsx';
import { useLive } from './live.ts';
import { recall, remember } from './memory.ts';
import { type DevtoolsTheme, Shadow } from './Shadow.tsx';
import { panelCss } from './theme.ts';
import { Graph, type ViewProps } from './views/Graph.tsx';
import { Prompt } from './views/Prompt.tsx';
import { Snapshot } from './views/Snapshot.tsx';

const views: Readonly<Record<string, (props: ViewProps) => ReactNode>> = { Graph, Prompt, Snapshot };
const tabs: readonly string[] = ['Graph', 'Prompt', 'Snapshot'];

/** The edge of the window at which the panel stands. On a narrow window it is the bottom one for left and right too. */
export type DevtoolsPosition = 'top' | 'right' | 'bottom' | 'left';

interface PanelProps {
  /** Whose chat to show; without it, the provider's. */
  readonly engine?: ContextEngine | undefined;
  /** An edge of the window, or undefined for a panel that fills the place where it stands. */
  readonly position?: DevtoolsPosition | undefined;
  readonly theme?: DevtoolsTheme | undefined;
  readonly styleNonce?: string | undefined;
  readonly modelId?: ViewProps['modelId'];
  readonly tokenizer?: ViewProps['tokenizer'];
  /** Whether focus goes into the panel as it appears. */
  readonly takesFocus?: boolean;
  /** Called by the close button and by Escape; without it there is neither. */
  readonly onClose?: (() => void) | undefined;
}

/** The panel itself: three views of one engine, each of which may fail without harm to anything around it. */
export function Panel({
  engine,
  position,
  theme,
  styleNonce,
  modelId,
  tokenizer,
  takesFocus = false,
  onClose,
}: PanelProps): ReactNode {
  const [css] = useState(panelCss);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !event.defaultPrevented) onClose?.();
  };
  return (
    <Shadow
      css={css}
      nonce={styleNonce}
      theme={theme}
      host={
        position
          ? 'position:relative!important;z-index:2147483000!important'
          : 'display:block!important;height:100%!important'
      }
      className={position ? `floating ${position}` : 'embedded'}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes from anywhere inside */}
      <section className="panel" aria-label="contextree devtools" onKeyDown={onKeyDown}>
        <Tabs
          engine={engine}
          modelId={modelId}
          tokenizer={tokenizer}
          takesFocus={takesFocus}
          onClose={onClose}
        />
      </section>
    </Shadow>
  );
}

function Tabs({
  engine,
  modelId,
  tokenizer,
  takesFocus = false,
  onClose,
}: Pick<PanelProps, 'engine' | 'modelId' | 'tokenizer' | 'takesFocus' | 'onClose'>): ReactNode {
  const id = useId();
  const [tab, setTab] = useState(rememberedTab);
  const selected = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (takesFocus) selected.current?.focus();
  }, [takesFocus]);
  const select = (name: string): void => {
    setTab(name);
    remember({ tab: name });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const name = tabAfterKey(event.key, tab);
    if (name === undefined) return;
    event.preventDefault();
    select(name);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus();
  };
  return (
    <>
      <header className="bar">
        <div className="tabs" role="tablist" aria-label="Views" tabIndex={-1} onKeyDown={onKeyDown}>
          {tabs.map((name) => (
            <button
              key={name}
              ref={name === tab ? selected : null}
              type="button"
              role="tab"
              id={`${id}${name}`}
              data-tab={name}
              aria-selected={name === tab}
              aria-controls={name === tab ? `${id}view` : undefined}
              tabIndex={name === tab ? 0 : -1}
              onClick={() => select(name)}
            >
              {name}
            </button>
          ))}
        </div>
        {onClose && (
          <button type="button" className="icon" aria-label="Close contextree devtools" onClick={onClose}>
            ×
          </button>
        )}
      </header>
      <div className="view" role="tabpanel" id={`${id}view`} aria-labelledby={`${id}${tab}`}>
        <Guard key={tab} renderFailure={(error, retry) => <Failed error={error} retry={retry} />}>
          {engine ? (
            <View tab={tab} engine={engine} modelId={modelId} tokenizer={tokenizer} />
          ) : (
            <ProvidedView tab={tab} modelId={modelId} tokenizer={tokenizer} />
          )}
        </Guard>
      </div>
    </>
  );
}

function rememberedTab(): string {
  const { tab } = recall();
  return tab !== undefined && tabs.includes(tab) ? tab : 'Graph';
}

function tabAfterKey(key: string, tab: string): string | undefined {
  const at = tabs.indexOf(tab);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[key];
  return to === undefined ? undefined : tabs[to % tabs.length];
}

interface TabProps extends Pick<ViewProps, 'modelId' | 'tokenizer'> {
  readonly tab: string;
}

function ProvidedView(props: TabProps): ReactNode {
  return <View {...props} engine={useEngine()} />;
}

function View({ tab, engine, modelId, tokenizer }: TabProps & { readonly engine: ContextEngine }): ReactNode {
  const state = useLive(engine);
  useEffect(() => {
    // What goes wrong while reading stands in the state.
    engine.ready().catch(() => undefined);
  }, [engine]);
  const Shown = views[tab] ?? Graph;
  return <Shown key={engine.chatId} engine={engine} state={state} modelId={modelId} tokenizer={tokenizer} />;
}

function Failed({ error, retry }: { readonly error: Error; readonly retry: () => void }): ReactNode {
  return (
    <div className="words" role="alert">
      <p>This view stopped: {error.message}</p>
      <p>The app goes on as before.</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
