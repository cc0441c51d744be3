import type { FunctionComponent } from 'react';
import {
  type ContextDevtoolsPanelProps,
  type ContextDevtoolsProps,
  embeddedDevtools,
  floatingDevtools,
} from './Launcher.tsx';

export type { ContextDevtoolsPanelProps, ContextDevtoolsProps, DevtoolsButtonPosition } from './Launcher.tsx';
export type { DevtoolsPosition } from './Panel.tsx';
export type { DevtoolsTheme } from './Shadow.tsx';

// The devtools, real in every build: for tools that ship to the people who use them.

/** A button that opens the devtools of a chat. */
export const ContextDevtools: FunctionComponent<ContextDevtoolsProps> = /* @__PURE__ */ floatingDevtools(
  () => import('./Panel.tsx'),
);

/** The devtools inside a page, always open. */
export const ContextDevtoolsPanel: FunctionComponent<ContextDevtoolsPanelProps> =
  /* @__PURE__ */ embeddedDevtools(() => import('./Panel.tsx'));
