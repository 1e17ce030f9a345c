import { describe, expect, it } from 'vitest';
import {
  decodeLinkRules,
  encodeLinkRules,
  mayLetInMore,
  narrowed,
} from '../../../../src/core/domain/crawl/discovery/link-rules.ts';

const ALL = Number.POSITIVE_INFINITY;

describe('the rules by which links were judged', () => {
  it.each([
    ['a', 2, 'a', 2, false, 2],
    ['a', 2, 'a', 3, true, 2],
    ['a', 2, 'a', ALL, true, 2],
    ['a', ALL, 'a', 2, false, 2],
    ['a', 2, 'a', 0, false, 0],
    ['a', 0, 'a', 1, true, 0],
    ['a', 2, 'b', 2, true, 2],
    ['a', ALL, 'b', 0, true, 0],
  ])(
    '%s to layer %d, then %s to layer %d: may let in more is %s, layer %d holds for all',
    (print, layers, newPrint, newLayers, more, held) => {
      const known = { print, layers };
      const rules = { print: newPrint, layers: newLayers };
      expect(mayLetInMore(known, rules)).toBe(more);
      expect(narrowed(known, rules)).toEqual({ print, layers: held });
    },
  );

  it('are read as they were written; invalid text counts as none', () => {
    for (const layers of [0, 3, ALL]) {
      expect(decodeLinkRules(encodeLinkRules({ print: 'a', layers }))).toEqual({ print: 'a', layers });
    }
    for (const text of [undefined, '', '{', 'null', '[]', '{"print":1,"layers":null}', '{"print":"a","layers":"3"}']) {
      expect(decodeLinkRules(text)).toBeNull();
    }
  });
});
