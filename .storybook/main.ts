import type { StorybookConfig } from '@storybook/react-vite';
import remarkGfm from 'remark-gfm';
import { mergeConfig } from 'vite';
import { aliases } from '../scripts/entries.mjs';

interface Element {
  readonly tagName?: string;
  readonly properties?: Record<string, unknown>;
  readonly children?: readonly Element[];
}

/** Where the files that pages link to are served: a path that no module is loaded from. */
const SOURCES = 'sources/';

/** Links to files open beside the page, as they lie in the repository: Storybook takes each other link for one to a story. */
function filesBeside(): (tree: Element) => void {
  return function mark({ tagName, properties, children = [] }: Element): void {
    const href = String(properties?.['href']);
    if (tagName === 'a' && properties && href.startsWith('../../')) {
      properties['href'] = href.replace('../../', SOURCES);
      properties['target'] = '_blank';
    }
    for (const child of children) mark(child);
  };
}

/** Whether pages and stories are built only to see that they can be. */
const isCheck = process.env['STORYBOOK_WITHOUT_PROPS'] !== undefined;

const config: StorybookConfig = {
  stories: ['../stories/**/*.mdx', '../stories/**/*.stories.tsx'],
  staticDirs: [{ from: '../test', to: `/${SOURCES}test` }],
  addons: [
    // Tables in the pages.
    {
      name: '@storybook/addon-docs',
      options: {
        mdxPluginOptions: { mdxCompileOptions: { remarkPlugins: [remarkGfm], rehypePlugins: [filesBeside] } },
      },
    },
    '@storybook/addon-a11y',
    '@storybook/addon-vitest',
  ],
  framework: { name: '@storybook/react-vite', options: {} },
  core: { disableTelemetry: true, disableWhatsNewNotifications: true, enableCrashReports: false },
  // TypeScript 7 has no compiler API for the other reader of props. Reading them is two thirds of a build, and a check
  // whether pages and stories can be built and run does without these tables.
  typescript: { reactDocgen: isCheck ? false : 'react-docgen' },
  viteFinal: (vite) =>
    mergeConfig(vite, {
      resolve: { alias: aliases },
      ...(isCheck && { build: { minify: false, reportCompressedSize: false } }),
    }),
};

export default config;
