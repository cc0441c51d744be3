import type { Preview } from '@storybook/react-vite';
import { useLayoutEffect, type ReactNode } from 'react';
import { configure } from 'storybook/test';
import { themes } from 'storybook/theming';
import './schemes.css';

// A machine that runs everything at once is slow, not wrong.
configure({ asyncUtilTimeout: 15_000 });

/** Dresses the page in a colour scheme; `system` leaves the choice to the browser. */
function Dressed({ scheme, children }: { readonly scheme: string; readonly children: ReactNode }): ReactNode {
  useLayoutEffect(() => {
    document.documentElement.dataset['scheme'] = scheme;
  }, [scheme]);
  return children;
}

const isTest = import.meta.env['VITEST_STORYBOOK'] === 'false';
/** A test asks axe for what is wrong. Told of each element that is right, it describes thousands, and sends them on. */
const onlyFaults = { resultTypes: ['violations'], reporter: 'no-passes' as const, preload: false };

/** A story that axe finds fault with is a failing test. */
const preview: Preview = {
  parameters: {
    layout: 'fullscreen',
    // Light or dark, as the reader's system is.
    docs: { theme: themes.normal },
    a11y: { test: 'error', options: isTest ? onlyFaults : {} },
    viewport: {
      options: {
        phone: { name: 'The narrowest phone', styles: { width: '320px', height: '640px' }, type: 'mobile' },
      },
    },
  },
  initialGlobals: { scheme: 'system' },
  globalTypes: {
    scheme: {
      description: 'Colour scheme',
      toolbar: { title: 'Scheme', icon: 'mirror', items: ['system', 'light', 'dark'], dynamicTitle: true },
    },
  },
  decorators: [
    (Story, { globals }) => (
      <Dressed scheme={String(globals['scheme'])}>
        <Story />
      </Dressed>
    ),
  ],
};

export default preview;
