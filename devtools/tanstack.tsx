import type { ReactNode } from 'react';
import { ContextDevtoolsPanel } from './index.ts';
import type { ContextDevtoolsPanelProps } from './Launcher.tsx';

/** A plugin of TanStack Devtools, for its `plugins`. */
export interface ContextreePlugin {
  /** Fixed, so that TanStack Devtools remembers the plugin's place. */
  readonly id: 'contextree';
  readonly name: 'contextree';
  readonly render: (element: unknown, props?: { readonly theme?: 'light' | 'dark' }) => ReactNode;
}

/**
 * The panel as a plugin of TanStack Devtools, in its theme: `<TanStackDevtools plugins={[contextreePlugin({ engine })]} />`.
 * The shell is rendered beside the app, so pass the engine unless the shell is inside of its provider. Nothing in production
 * builds.
 */
export function contextreePlugin(props: ContextDevtoolsPanelProps = {}): ContextreePlugin {
  return {
    id: 'contextree',
    name: 'contextree',
    render: (_element, { theme } = {}) => (
      <ContextDevtoolsPanel {...(theme === undefined ? {} : { theme })} {...props} />
    ),
  };
}
