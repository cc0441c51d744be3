import 'ai';
import { expect, it } from 'vitest';
import { exportSession, openSession, type Session } from '../../src/session.ts';
import { openPage, words } from './story.ts';

// What is recorded, played again and asked anew, on each AI SDK: the details are in test/record.

it('a session file opens with its requests, and is refused where one of them is damaged', async () => {
  const page = await openPage();
  page.engine.record();
  await page.ask('One?', 'Yes.');
  await page.chats.whenSettled();
  const session = JSON.parse(JSON.stringify(await exportSession(page.engine))) as Session;
  const [request] = session.requests;
  const [opened] = (await openSession(session)).requests();
  expect([opened?.status, words([...opened!.messages])]).toEqual(['done', 'q: One?']);
  const fields = ['at', 'system', 'spans', 'messages', 'body', 'headerNames', 'told', 'chunks'];
  const damaged = [...fields.map((field) => ({ [field]: null })), { system: {} }, { chunks: [null] }];
  for (const damage of damaged) {
    const opening = openSession({ ...session, requests: [{ ...request, ...damage }] } as Session);
    await expect(opening).rejects.toMatchObject({ code: 'invalid-import' });
  }
});
