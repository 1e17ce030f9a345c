import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FEATURES } from '../../src/page/content/block-context.ts';
import { contentTrees, logitsOf } from '../../src/page/content/trees/content-model.ts';
import { effectsOf } from '../../src/page/content/trees/content-reasons.ts';

const trees = contentTrees();

it('the effects of the features and the mean of all leaves are the logit', () => {
  const perTree = trees.leaves.length / trees.count;
  const mean = trees.base + (trees.leaves.reduce((sum, leaf) => sum + leaf, 0) / trees.leaves.length) * trees.count;
  expect(perTree).toBe(16);
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, min: -1, max: 20 }), { minLength: FEATURES.length, maxLength: FEATURES.length }),
      (values) => {
        const row = Float32Array.from(values);
        const effects = effectsOf(trees, row);
        const sum = effects.reduce((all, { effect }) => all + effect, mean);
        expect(sum).toBeCloseTo(logitsOf(trees, row, FEATURES.length)[0]!, 3);
        for (let i = 1; i < effects.length; i++) {
          expect(Math.abs(effects[i]!.effect)).toBeLessThanOrEqual(Math.abs(effects[i - 1]!.effect));
        }
      },
    ),
  );
});
