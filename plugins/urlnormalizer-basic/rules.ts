import { createNormalizer } from './normalizer.ts';
import type { Options } from './options.ts';

/** No rule is switched on. */
const NO_RULE: Options = {
  dropQueryParams: [],
  keepQueryParams: [],
  sessionIds: 'off',
  tidyQuery: false,
  stripWww: false,
  duplicateSlashes: false,
  stripIndexFiles: false,
  dropTrailingSlash: false,
  sortQuery: false,
};

/** Each rule under the name of its switch, in execution order. */
const RULES = [
  'stripWww',
  'sessionIds',
  'duplicateSlashes',
  'stripIndexFiles',
  'dropTrailingSlash',
  'dropQueryParams',
  'tidyQuery',
  'sortQuery',
] as const satisfies readonly (keyof Options)[];

/**
 * Finds the rules that change a URL: each is applied separately, in order, until no rule changes it any more, just as
 * the normaliser repeats its rules.
 */
export function createExplainer(options: Options): (url: string) => { rule: string; after: string }[] {
  const alone = RULES.map((rule) => ({
    rule,
    apply: createNormalizer({ ...NO_RULE, keepQueryParams: options.keepQueryParams, [rule]: options[rule] }),
  }));
  return (url) => {
    const steps: { rule: string; after: string }[] = [];
    let current = url;
    for (let before: string | null = null; before !== current; ) {
      before = current;
      for (const { rule, apply } of alone) {
        const after = apply(current);
        if (after === null || after === current) continue;
        steps.push({ rule, after });
        current = after;
      }
    }
    return steps;
  };
}
