import type { Preview } from '@storybook/react-vite';

/** A story that axe finds fault with is a failing test. */
const preview: Preview = {
  parameters: { layout: 'fullscreen', a11y: { test: 'error' } },
  tags: ['autodocs'],
};

export default preview;
