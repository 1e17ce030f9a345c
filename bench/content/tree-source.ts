import { type BoostedTrees, TREE_LEAVES, TREE_SPLITS } from '../../src/page/content/trees/content-model.ts';

const number = (value: number): string => String(Number(value.toPrecision(6)));

/** Source text of content-trees.ts. @param pages what they were learnt from */
export function sourceOfTrees({ base, features, thresholds, leaves, count }: BoostedTrees, pages: string): string {
  const lines = Array.from({ length: count }, (_, tree) => {
    const splits = Array.from({ length: TREE_SPLITS }, (_each, i) => {
      const at = tree * TREE_SPLITS + i;
      return `${features[at]}:${number(thresholds[at]!)}`;
    });
    const values = [...leaves.slice(tree * TREE_LEAVES, (tree + 1) * TREE_LEAVES)].map((leaf) =>
      String(Number(leaf.toFixed(4))),
    );
    return `  '${splits.join(' ')} | ${values.join(' ')}',`;
  });
  return `/**
 * Decision trees of the main content, written by \`npm run bench -- --only train --out FILE\`; not to be edited.
 * Learnt from made pages in five languages (made-pages.ts) and from labelled ones:
 * ${pages}.
 * The numbers before the colons are columns of FEATURES in feature-columns.ts.
 */
export const CONTENT_BASE = ${number(base)};

export const CONTENT_TREES: readonly string[] = [
${lines.join('\n')}
];
`;
}
