import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCovered } from '../../devtools/covered.ts';
import { type DevtoolsPosition, isBeside, placeOf } from '../../devtools/dock.ts';
import { sizeAfterKey, sizeAt } from '../../devtools/resize.ts';

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 1024, height: 768 };

it('stands beside the app in a wide window, and at the top of a narrower one', () => {
  expect(placeOf(undefined, {}, WIDE)).toMatchObject({ side: 'right', size: 420 });
  expect(placeOf(undefined, {}, { ...WIDE, width: 1151 })).toMatchObject({ side: 'top', size: 360 });
});

it('stands where it was put, as far as the window has room there', () => {
  expect(placeOf('left', {}, WIDE).side).toBe('left');
  expect(placeOf('left', {}, NARROW).side).toBe('top');
  expect(placeOf('bottom', {}, NARROW).side).toBe('bottom');
});

it('stands as on a first visit where what was remembered is damaged', () => {
  const damaged = { width: 'wide', height: null } as unknown as Parameters<typeof placeOf>[1];
  expect(placeOf('middle' as DevtoolsPosition, damaged, WIDE)).toMatchObject({ side: 'right', size: 420 });
  expect(placeOf('bottom', damaged, NARROW)).toMatchObject({ side: 'bottom', size: 360 });
});

it('leaves the app more than half of the height, or 560 pixels beside it, whatever size was chosen', () => {
  const sides = fc.constantFrom<DevtoolsPosition | undefined>('top', 'right', 'bottom', 'left', undefined);
  const pixels = fc.integer({ min: 200, max: 4000 });
  const chosen = fc.option(fc.integer({ min: -50, max: 9000 }), { nil: undefined });
  fc.assert(
    fc.property(sides, pixels, pixels, chosen, chosen, (side, width, height, w, h) => {
      const place = placeOf(side, { ...(w && { width: w }), ...(h && { height: h }) }, { width, height });
      const left = isBeside(place.side) ? width - place.size : height - place.size;
      expect(left).toBeGreaterThanOrEqual(isBeside(place.side) ? 560 : height / 2);
      expect(place.size).toBeGreaterThanOrEqual(place.least);
    }),
  );
});

it('knows which fields lie under it', () => {
  const field = { x: 300, y: 700, left: 300, top: 700, width: 400, height: 40, right: 700, bottom: 740 };
  const covers = (side: DevtoolsPosition, size: number): boolean =>
    isCovered(field, { side, size, least: 0, most: 9999 }, NARROW);
  expect([covers('bottom', 60), covers('bottom', 20)]).toEqual([true, false]);
  expect([covers('top', 701), covers('top', 360)]).toEqual([true, false]);
  expect([covers('right', 400), covers('right', 300)]).toEqual([true, false]);
  expect([covers('left', 301), covers('left', 300)]).toEqual([true, false]);
});

it('grows with the key that points away from its edge, and with the pointer', () => {
  const place = placeOf('right', { width: 400 }, WIDE);
  expect(sizeAfterKey('ArrowLeft', place, 16)).toBe(416);
  expect(sizeAfterKey('ArrowRight', place, 16)).toBe(384);
  expect(sizeAfterKey('Home', place, 16)).toBe(place.least);
  expect(sizeAfterKey('End', place, 16)).toBe(place.most);
  expect(sizeAfterKey('a', place, 16)).toBeUndefined();
  expect(sizeAt({ ...place, side: 'right' }, { clientX: 1000, clientY: 5 }, WIDE)).toBe(440);
  expect(sizeAt({ ...place, side: 'bottom' }, { clientX: 5, clientY: 700 }, WIDE)).toBe(200);
});
