import type { ReactNode } from 'react';
import { ContextDevtoolsPanel } from './index.ts';
import type { ContextDevtoolsPanelProps } from './Launcher.tsx';

/** A plugin of TanStack Devtools, as its `plugins` takes it. */
export interface ContextreePlugin {
  /** Always the same, so that the place which a person gave it is kept. */
  readonly id: 'contextree';
  readonly name: 'contextree';
  readonly render: (element: unknown, props?: { readonly theme?: 'light' | 'dark' }) => ReactNode;
}

/**
 * The panel as a plugin of TanStack Devtools, in its theme:
 * `<TanStackDevtools plugins={[contextreePlugin({ engine })]} />`. The shell stands beside the app, so it has to be told the
 * engine unless it stands within its provider. Nothing in production builds.
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
