import { pageBlocks } from 'incrawl/bundled';
import { createMainContent, definePlugin, type Page } from 'incrawl/plugin';

/** Most blocks of a part. */
const MAX_BLOCKS = 2_000;

/** The CSS selectors of a page: metadata `select`, and `select.2`, `select.3` .. for further parts. */
const selectorsOf = ({ metadata }: Page): string[] =>
  Object.entries(metadata).flatMap(([key, value]) => (/^select(?:\.\d+)?$/.test(key) ? [String(value)] : []));

export default definePlugin({
  name: 'parsefilter-part',
  api: 1,
  setup: () => {
    const mainContent = createMainContent();
    return {
      // Pages without selectors keep their texts, and a page whose selectors change is begun anew by its seed.
      content: '',
      filter: (page) => {
        const selectors = selectorsOf(page);
        if (selectors.length === 0) return;
        const missing = page.dom === null ? selectors : keepParts(page, selectors);
        const { result } = page;
        result.metadata['part.missing'] = missing.join(', ');
        if (page.dom === null) return;
        const { tape } = page;
        if (tape !== null) pageBlocks(mainContent(tape), MAX_BLOCKS, page.newBlocks()).tape = tape;
        // All of a part is content, also what elsewhere would be navigation.
        const blocks = result.blocks.map((block) => ({ ...block, type: 'main' as const }));
        const text = blocks.map((block) => block.text).join('\n');
        Object.assign(result, { blocks, text, mainText: text, documentTitle: null, keywords: [] });
        result.sources.mainText = 'select';
      },
    };
  },
});

/** A node of the DOM, as far as it is used here. */
interface Node {
  readonly parent: Node | null;
  children?: Node[];
}

/** Removes all but the elements found, with the elements around them. Gives back the selectors that found none. */
function keepParts(page: Page, selectors: readonly string[]): string[] {
  const { $ } = page;
  const found = selectors.map((selector) => $(selector).toArray() as unknown as Node[]);
  const parts = new Set(found.flat());
  const around = new Set<Node>();
  for (const part of parts) for (let up = part.parent; up !== null && !around.has(up); up = up.parent) around.add(up);
  const prune = (node: Node): void => {
    node.children = (node.children ?? []).filter((child) => parts.has(child) || around.has(child));
    for (const child of node.children) if (!parts.has(child)) prune(child);
  };
  prune(page.dom as unknown as Node);
  return selectors.filter((_, i) => found[i]?.length === 0);
}
