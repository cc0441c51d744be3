import type { StorybookConfig } from '@storybook/react-vite';
import { aliases } from '../scripts/entries.mjs';

const config: StorybookConfig = {
  stories: ['../stories/**/*.mdx', '../stories/**/*.stories.tsx'],
  addons: ['@storybook/addon-docs', '@storybook/addon-a11y', '@storybook/addon-vitest'],
  framework: { name: '@storybook/react-vite', options: {} },
  core: { disableTelemetry: true, disableWhatsNewNotifications: true, enableCrashReports: false },
  // TypeScript 7 has no compiler API for the other reader of props.
  typescript: { reactDocgen: 'react-docgen' },
  viteFinal: (vite) => ({
    ...vite,
    resolve: { ...vite.resolve, alias: [...aliases, ...asList(vite.resolve?.alias)] },
  }),
};

type Alias = (typeof aliases)[number];

/** Storybook states its own aliases as an object, ours need patterns; a list holds both. */
function asList(alias: unknown): Alias[] {
  if (Array.isArray(alias)) return alias;
  return Object.entries((alias ?? {}) as Record<string, string>).map(([find, replacement]) => ({
    find: new RegExp(`^${find.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?=/|$)`),
    replacement,
  }));
}

export default config;
