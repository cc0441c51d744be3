import type { FunctionComponent } from 'react';
import {
  type ContextDevtoolsPanelProps,
  type ContextDevtoolsProps,
  embeddedDevtools,
  floatingDevtools,
} from './Launcher.tsx';

export type { ContextDevtoolsPanelProps, ContextDevtoolsProps, DevtoolsButtonPosition } from './Launcher.tsx';
export type { DevtoolsPosition, Insets as DevtoolsInsets } from './dock.ts';
export type { DevtoolsTheme } from './Shadow.tsx';
export type { RunSettings as DevtoolsRun } from './view.ts';

// The devtools vanish from production builds: bundlers replace NODE_ENV, see which branch is taken, and drop the other with all
// that it imports. For that, no module of this folder does anything when it is loaded, and each `import()` stands in the
// dropped branch: esbuild writes a file for any other that it reads.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** A button that opens the devtools of a chat. Nothing in production builds; see `contextree/devtools/production`. */
export const ContextDevtools: FunctionComponent<ContextDevtoolsProps> =
  process.env.NODE_ENV === 'production'
    ? () => null
    : /* @__PURE__ */ floatingDevtools(
        () => import('./Panel.tsx'),
        () => import('./Consoles.tsx'),
      );

/** The devtools inside a page, always open. Nothing in production builds. */
export const ContextDevtoolsPanel: FunctionComponent<ContextDevtoolsPanelProps> =
  process.env.NODE_ENV === 'production'
    ? () => null
    : /* @__PURE__ */ embeddedDevtools(
        () => import('./Panel.tsx'),
        () => import('./Consoles.tsx'),
      );
