import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@playwright/test';
import { Demo } from './demo.ts';
import { test } from './test.ts';

const KEY = 'sk-zebra';

/** A model behind an address, which knows one key only. */
async function endpoint(): Promise<{ readonly server: Server; readonly baseUrl: string }> {
  const server = createServer((request, response) => {
    const isKnown = request.method === 'OPTIONS' || request.headers.authorization === `Bearer ${KEY}`;
    response.writeHead(isKnown ? 200 : 401, {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': '*',
      'content-type': isKnown ? 'text/event-stream' : 'application/json',
    });
    const choice = { index: 0, delta: { role: 'assistant', content: 'From afar.' }, finish_reason: 'stop' };
    response.end(
      isKnown
        ? `data: ${JSON.stringify({ id: '1', choices: [choice] })}\n\ndata: [DONE]\n\n`
        : JSON.stringify({ error: { message: `Incorrect API key: ${request.headers.authorization}` } }),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

test('an endpoint that refuses the key, or is not there, says so in words; the key is stored nowhere', async ({
  page,
}) => {
  const { server, baseUrl } = await endpoint();
  const demo = await Demo.open(page);
  const wrong = await demo.fillSettings({ baseUrl, key: `${KEY}-wrong` });
  await wrong.getByRole('button', { name: 'Test connection' }).click();
  await expect(wrong.getByRole('status')).toContainText('refused the API key (401)');
  await wrong.getByRole('button', { name: 'Save', exact: true }).click();
  await demo.send('Who are you?');
  await expect(demo.assistant.getByRole('alert')).toContainText('refused the API key (401)');

  const right = await demo.fillSettings({ baseUrl, key: KEY });
  await right.getByRole('button', { name: 'Test connection' }).click();
  await expect(right.getByRole('status')).toContainText('far answers');
  await right.getByRole('button', { name: 'Save', exact: true }).click();
  await demo.on(demo.assistant, 'Try again').click();
  await expect(demo.assistant).toContainText('From afar.');
  await expect(demo.you).toHaveCount(1);
  await demo.settled();

  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await demo.send('Still there?');
  await expect(demo.assistant.last().getByRole('alert')).toContainText('could not be reached');
  const dead = await demo.fillSettings({ baseUrl, key: KEY });
  await dead.getByRole('button', { name: 'Test connection' }).click();
  await expect(dead.getByRole('status')).toContainText('could not be reached');
  await page.keyboard.press('Escape');

  expect(await demo.kept()).toContain('Still there?');
  expect(await demo.kept()).not.toContain(KEY);
  await page.reload();
  await expect(demo.you.last()).toContainText('Still there?');
  await demo.button('Model settings').click();
  await expect(page.getByLabel('API key', { exact: true })).toHaveValue('');
});

test('an endpoint that breaks off, or ends without a word, says so in words, and what arrived goes on', async ({
  page,
}) => {
  const piece = (delta: object, reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  let isWhole = false;
  let words: object = {};
  const server = createServer((request, response) => {
    response.writeHead(200, {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': '*',
      'content-type': 'text/event-stream',
    });
    if (request.method === 'OPTIONS') response.end();
    else if (isWhole) response.end(`${piece(words, 'stop')}data: [DONE]\n\n`);
    else {
      response.write(piece({ content: 'Hello wor' }));
      setTimeout(() => response.destroy(), 400);
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const demo = await Demo.open(page);
  const dialog = await demo.fillSettings({ baseUrl, key: KEY });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await demo.send('Who are you?');
  await expect(demo.assistant.getByRole('alert')).toContainText('The answer broke off before its end');
  await expect(demo.assistant).toContainText('Hello wor');
  await expect(demo.on(demo.assistant, 'Continue')).toBeVisible();

  isWhole = true;
  const again = await demo.fillSettings({ baseUrl, key: KEY });
  await again.getByRole('button', { name: 'Test connection' }).click();
  await expect(again.getByRole('status')).toContainText('without a word');
  await page.keyboard.press('Escape');
  await demo.send('Hello?');
  await expect(demo.assistant.last().getByRole('alert')).toContainText('without a word');
  await expect(demo.on(demo.assistant.last(), 'Try again')).toBeVisible();
  // One in mid-conversation goes on as a version: one that is whole, as the endpoint says, and one with its words.
  await demo.on(demo.assistant.first(), 'Continue').click();
  await expect(demo.versions('Version 2 of 2')).toBeVisible();
  await expect(demo.assistant).toHaveCount(1);
  await expect(demo.assistant).toContainText('Hello wor');
  await demo.on(demo.assistant, 'Previous version').click();
  await expect(demo.assistant.first()).toContainText('Interrupted');
  words = { content: 'ld.' };
  await demo.on(demo.assistant.first(), 'Continue').click();
  await expect(demo.versions('Version 3 of 3')).toBeVisible();
  await expect(demo.assistant.first()).toContainText('Hello world.');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('the data can be taken along, and the browser is asked to keep it, on a click only', async ({
  page,
}) => {
  await page.addInitScript(() => {
    navigator.storage.persist = () => {
      document.documentElement.dataset['asked'] = 'yes';
      return Promise.resolve(true);
    };
  });
  const demo = await Demo.open(page);
  await demo.ask('A word to take along');
  await demo.button('Data').click();
  await expect(page.getByText(/of space used$/)).toBeVisible();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export my data' }).click();
  const file = await (await download).path();
  expect(await readFile(file, 'utf8')).toContain('A word to take along');

  await demo.chatAction('Delete', 'A word to take along');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await demo.button('Data').click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('menuitem', { name: 'Import' }).click();
  await (await chooser).setFiles(file);
  await expect(page.getByText('Imported 1 chat with 2 messages.').first()).toBeVisible();
  await demo.chats.getByRole('link', { name: 'A word to take along' }).click();
  await expect(demo.you).toContainText('A word to take along');

  await expect(page.locator('html')).not.toHaveAttribute('data-asked');
  await demo.button('Data').click();
  await page.getByRole('menuitem', { name: 'Keep my data' }).click();
  await expect(page.getByText('The browser will keep your data until you clear it.')).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('data-asked', 'yes');
});
