import { everyNTurns, reminder, stripReminders } from 'contextree/reminders';
import { engine } from './engine.ts';

engine.set(reminder('Answer in one sentence.', { when: everyNTurns(5) }));
export const shown = engine.state.getState().messages.map((message) => stripReminders(message));
