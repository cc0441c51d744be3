import type { ContextEngine } from 'contextree';
import type { KeyboardEvent, ReactNode } from 'react';
import { Dock } from './Dock.tsx';
import type { DevtoolsPosition, Insets } from './dock.ts';
import { isHotkey } from './hotkey.ts';
import { Menu } from './Menu.tsx';
import { OfEach } from './OfEach.tsx';
import { useRecording } from './recording.ts';
import type { DevtoolsTheme } from './Shadow.tsx';
import { Styled } from './Styled.tsx';
import { panelCss } from './theme.ts';
import type { ViewProps } from './view.ts';
import { Views } from './Views.tsx';

/** Props of the panel's content. */
export interface PanelProps {
  /** The engine to show; default: the provider's. */
  readonly engine?: ContextEngine | undefined;
  /** Several engines, to choose from. */
  readonly engines?: readonly ContextEngine[] | undefined;
  readonly theme?: DevtoolsTheme | undefined;
  readonly styleNonce?: string | undefined;
  readonly modelId?: ViewProps['modelId'];
  readonly tokenizer?: ViewProps['tokenizer'];
  readonly run?: ViewProps['run'];
}

/** Props of a panel at an edge of the window. */
interface FloatingProps extends PanelProps {
  readonly position?: DevtoolsPosition | undefined;
  readonly onInsetsChange?: ((insets: Insets) => void) | undefined;
  /** Whether focus goes into the panel as it appears. */
  readonly takesFocus?: boolean;
  readonly hotkey: string | null;
  /** Called by the close button, by Escape and by the hotkey. */
  readonly onClose: () => void;
}

/** The panel at an edge of the window, or in a window of its own. */
export function FloatingPanel(props: FloatingProps): ReactNode {
  const { position, theme, styleNonce, onInsetsChange, hotkey, onClose } = props;
  const onKeyDown = (event: KeyboardEvent): void => {
    // Key events in here do not leave the shadow root, nor a window of its own.
    if (isHotkey(event.nativeEvent, hotkey) || (event.key === 'Escape' && !event.defaultPrevented)) onClose();
  };
  return (
    <Dock position={position} theme={theme} styleNonce={styleNonce} onInsetsChange={onInsetsChange}>
      {(groups, end) => (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes from anywhere inside
        <section className="panel" aria-label="contextree devtools" onKeyDown={onKeyDown}>
          <Views {...props}>
            <Menu label="Dock and theme" groups={groups} />
            <button className="icon" aria-label="Close contextree devtools" onClick={onClose}>
              ×
            </button>
          </Views>
          {end}
        </section>
      )}
    </Dock>
  );
}

/** The panel in the place where it is rendered. */
export function EmbeddedPanel(props: PanelProps): ReactNode {
  return (
    <Styled
      css={panelCss}
      nonce={props.styleNonce}
      theme={props.theme}
      host="display:block!important;height:100%!important"
      className="embedded"
    >
      <section className="panel" aria-label="contextree devtools">
        <Views {...props} />
      </section>
    </Styled>
  );
}

/** Records while the panel is closed, if a person chose that; shows nothing. */
export function Recording({ engine, engines }: PanelProps): ReactNode {
  return (
    <OfEach engine={engine} engines={engines}>
      {(one, key) => <RecordingOf key={key} engine={one} />}
    </OfEach>
  );
}

function RecordingOf({ engine }: { readonly engine: ContextEngine }): ReactNode {
  useRecording(engine);
  return null;
}
