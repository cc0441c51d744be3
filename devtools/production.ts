/** The devtools, real in every build: for tools that ship to the people who use them. */
export {
  EmbeddedDevtools as ContextDevtoolsPanel,
  FloatingDevtools as ContextDevtools,
} from './Launcher.tsx';
export type { ContextDevtoolsPanelProps, ContextDevtoolsProps, DevtoolsButtonPosition } from './Launcher.tsx';
export type { DevtoolsPosition } from './Panel.tsx';
export type { DevtoolsTheme } from './Shadow.tsx';
