import type { Meta, StoryObj } from '@storybook/react-vite';
import { expect, userEvent, within } from 'storybook/test';
import { PagerExample } from './PagerExample.tsx';
import { ElementsMessage } from './pagers/aiElements.tsx';
import { ThreadMessage } from './pagers/assistantUi.tsx';
import { OneMessage } from './pagers/looks/assistantUi.tsx';
import { ChatMessage } from './pagers/shadcn.tsx';

/**
 * `BranchPicker` inside the chat components that people have already. What stands around it is a stand-in with the same
 * names and props, so that this page needs neither of the libraries.
 */
const meta: Meta<typeof PagerExample> = {
  title: 'AI SDK/A pager in your components',
  component: PagerExample,
};

export default meta;

type Story = StoryObj<typeof meta>;
type Canvas = ReturnType<typeof within>;

/** Goes through the versions, and asks for one more. */
async function pages(
  canvas: Canvas,
  words: Readonly<Record<'group' | 'previous' | 'again', string>>,
): Promise<void> {
  await expect(await canvas.findByText(/Professor Fog/)).toBeVisible();
  const pager = (): HTMLElement => canvas.getByRole('group', { name: words.group });
  await expect(pager()).toHaveTextContent('3 / 3');
  await userEvent.click(within(pager()).getByRole('button', { name: words.previous }));
  await expect(await canvas.findByText(/^Ash/)).toBeVisible();
  await expect(within(pager()).getByRole('button', { name: words.previous })).toHaveFocus();
  const again = canvas.getAllByRole('button', { name: words.again });
  await userEvent.click(again.at(-1) as HTMLElement);
  await expect(await canvas.findByText(/4 \/ 4/)).toBeVisible();
}

/** In the message of AI Elements, in place of its `MessageBranch`. */
export const AiElements: Story = {
  args: {
    file: 'aiElements',
    imports: { './looks/aiElementsMessage.tsx': '@/components/ai-elements/message' },
    children: (message, retry) => <ElementsMessage message={message} onRetry={retry} />,
  },
  play: ({ canvas }) => pages(canvas, { group: 'Versions', previous: 'Previous version', again: 'Retry' }),
};

/** In a message of assistant-ui, in place of its `BranchPickerPrimitive`, in German. */
export const AssistantUi: Story = {
  args: {
    file: 'assistantUi',
    imports: { './looks/assistantUi.tsx': '@assistant-ui/react' },
    children: (message, reload) => (
      <OneMessage message={message} reload={reload}>
        <ThreadMessage />
      </OneMessage>
    ),
  },
  play: ({ canvas }) =>
    pages(canvas, { group: 'Fassungen', previous: 'Vorige Fassung', again: 'Noch einmal' }),
};

/** In the footer of shadcn/ui's message. */
export const Shadcn: Story = {
  args: {
    file: 'shadcn',
    imports: {
      './looks/shadcnBubble.tsx': '@/components/ui/bubble',
      './looks/shadcnButton.tsx': '@/components/ui/button',
      './looks/shadcnMessage.tsx': '@/components/ui/message',
    },
    children: (message, retry) => <ChatMessage message={message} onRetry={retry} />,
  },
  play: ({ canvas }) =>
    pages(canvas, { group: 'Versions', previous: 'Previous version', again: 'Try again' }),
};
