import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import * as builders from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { codeOf } from '../../stories/docs/code.ts';
import { examples } from '../../stories/docs/examples.ts';

const names = { ...builders, fragment };

describe('the table of builders', () => {
  test('shows each of them', () => {
    expect(Object.keys(examples).toSorted()).toEqual([...Object.keys(builders), 'fragment'].toSorted());
    expect(Object.keys(builders)).toHaveLength(19);
  });

  test.each(Object.entries(examples))(
    '%s: the call that is shown is the one that is rendered',
    (name, build) => {
      const code = codeOf(name);
      expect(code.startsWith(`${name}(`) && code.endsWith(')')).toBe(true);
      const call = runInThisContext(`({ ${Object.keys(names).join(', ')} }) => ${code}`) as (
        all: typeof names,
      ) => ContextFragment;
      const xml = new XmlRenderer();
      expect(xml.render([call(names)])).toBe(xml.render([build()]));
    },
  );
});
