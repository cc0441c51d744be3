import { describe, expect, it } from 'vitest';
import { campaign, patience, tryAll } from '../support/campaign.ts';
import { playNumbered, type Step, stories } from '../support/numberedStory.ts';

const KEPT: Readonly<Record<string, readonly Step[]>> = {
  'a question behind an answer that was taken back, and whose id another tab has by now': [
    { does: 'ask', tab: 1, pick: 4, rests: true },
    { does: 'fill', tab: 2, pick: 0, rests: true },
    { does: 'ask in vain', tab: 2, pick: 0, rests: true },
    { does: 'ask', tab: 1, pick: 0, rests: true },
    { does: 'ask', tab: 2, pick: 4, rests: true },
  ],
};

describe('tabs of an app that numbers its messages', () => {
  it('lose no word, whatever their disks do', { timeout: patience }, async () => {
    expect.hasAssertions();
    await tryAll(stories, playNumbered, campaign(400));
  });

  it.each(Object.entries(KEPT))('what was found once: %s', async (_, story) => {
    expect.hasAssertions();
    await playNumbered(story);
  });
});
