import { expect, test } from '@playwright/test';
import { Demo } from './demo.ts';

test('the devtools show the graph, the prompt and the snapshot, and remember that they were open', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.on(demo.assistant, 'Try again').click();
  await demo.settled();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await expect(panel).toHaveCount(0);
  await demo.button('Open contextree devtools').click();
  await expect(panel).toBeVisible();
  await expect(panel.getByRole('tab')).toHaveText(['Graph', 'Prompt', 'Snapshot']);
  await expect(panel).toContainText('main-v2');

  await panel.getByRole('tab', { name: 'Prompt' }).click();
  await expect(panel).toContainText('<role>');
  await expect(panel).toContainText('What is a graph?');
  await panel.getByRole('tab', { name: 'Snapshot' }).click();
  await expect(panel.getByRole('button', { name: 'Copy JSON' })).toBeVisible();

  await panel.getByRole('tab', { name: 'Graph' }).click();
  await panel.getByText('What is a graph?').first().click();
  await expect(demo.assistant).toHaveCount(0);
  await page.reload();
  await expect(panel).toBeVisible();
});
