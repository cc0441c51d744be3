import type { Meta, StoryObj } from '@storybook/react-vite';
import { expect, within } from 'storybook/test';
import { BuilderTable, formats } from './BuilderTable.tsx';
import { codeOf } from './code.ts';
import { examples } from './examples.ts';

/** Every builder in every format. */
const meta: Meta<typeof BuilderTable> = { title: 'Prompt/Table of builders', component: BuilderTable };

export default meta;

/** The whole table. */
export const All: StoryObj<typeof meta> = {
  play: async ({ canvas }) => {
    for (const name of Object.keys(examples)) {
      const group = within(canvas.getByRole('rowgroup', { name }));
      await expect(group.getByRole('rowheader')).toHaveTextContent(codeOf(name), {
        normalizeWhitespace: false,
      });
      await expect(group.getAllByRole('cell')).toHaveLength(Object.keys(formats).length);
    }
  },
};
