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

// The devtools in every build, production included: for tools that ship them to their users.

/** A button that opens the devtools of a chat. */
export const ContextDevtools: FunctionComponent<ContextDevtoolsProps> = /* @__PURE__ */ floatingDevtools(
  () => import('./Panel.tsx'),
);

/** The devtools inside a page, always open. */
export const ContextDevtoolsPanel: FunctionComponent<ContextDevtoolsPanelProps> =
  /* @__PURE__ */ embeddedDevtools(() => import('./Panel.tsx'));
