import type { Meta, StoryObj } from '@storybook/react-vite';
import { expect } from 'storybook/test';
import { AppDiff } from './AppDiff.tsx';

/** What the page "Add contextree to your useChat app" shows. */
const meta: Meta<typeof AppDiff> = { title: 'AI SDK/One line changed', component: AppDiff };

export default meta;

/** The two apps, compared. */
export const Diff: StoryObj<typeof meta> = {
  play: async ({ canvas, canvasElement }) => {
    await expect(canvas.getByRole('region', { name: 'What changes in the app' })).toBeVisible();
    await expect(canvasElement.querySelectorAll('del')).toHaveLength(2);
    await expect(canvas.getByText(/^\+ .*useChat\(\{ \.\.\.useContextChat\(init\)/)).toBeVisible();
  },
};
