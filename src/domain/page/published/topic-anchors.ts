import { type BlockTable, MAIN_BLOCK, TOPIC_BLOCK } from '../block-table.ts';
import { cleanText } from '../metadata/clean-text.ts';

/** Share of a block's text inside links above which it is a list of links on the theme of the page. */
const TOPIC_ANCHORS = 0.7;
export const MAX_TOPICS = 50;
const MAX_CHARS = 200;

/**
 * Anchors on the theme of a page (CN101645082A): texts of links in content blocks that are more than 0.7 link text,
 * each once.
 */
export function topicAnchors(blocks: BlockTable): string[] {
  const found = new Set<string>();
  let topics = 0;
  for (let at = 0; at < blocks.count && found.size < MAX_TOPICS; at++) {
    const type = blocks.types[at];
    const isTopic = type === TOPIC_BLOCK;
    if (!isTopic && (type !== MAIN_BLOCK || blocks.anchorChars[at]! <= TOPIC_ANCHORS * blocks.chars[at]!)) continue;
    for (const line of (isTopic ? blocks.anchorTexts[topics++]! : blocks.textOf(at)).split('\n')) {
      const text = cleanText(line, MAX_CHARS);
      if (text !== '' && found.size < MAX_TOPICS) found.add(text);
    }
  }
  return [...found];
}
