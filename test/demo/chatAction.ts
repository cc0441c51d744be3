import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';

/** Presses an action of a chat in the list, which stands behind one button. */
export async function chatAction(action: 'Rename' | 'Delete', title: string): Promise<void> {
  await userEvent.click(await screen.findByRole('button', { name: `Chat actions: ${title}` }));
  await userEvent.click(screen.getByRole('button', { name: `${action} chat: ${title}` }));
}
