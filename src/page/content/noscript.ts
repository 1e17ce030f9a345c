import { HIDDEN, NOSCRIPT } from './element-signs.ts';
import type { Outline } from './outline.ts';

/** Whether each element or an ancestor hides its content. */
export function hiddenElements({ elementCount, elements }: Outline): Uint8Array {
  const isHidden = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    const hides = (elements.signs[at]! & (HIDDEN | NOSCRIPT)) !== 0;
    isHidden[at] = Number(hides || (parent >= 0 && isHidden[parent] === 1));
  }
  return isHidden;
}

/** The `noscript` element around each element, -1 for none; `null`: the page has no such element. */
export function noscriptElements({ elements, elementCount }: Outline): Int32Array | null {
  const { signs, parent } = elements;
  let first = 0;
  while (first < elementCount && (signs[first]! & NOSCRIPT) === 0) first++;
  if (first === elementCount) return null;
  const around = new Int32Array(elementCount).fill(-1);
  for (let at = first; at < elementCount; at++) {
    const outer = parent[at]! < 0 ? -1 : around[parent[at]!]!;
    around[at] = outer < 0 && (signs[at]! & NOSCRIPT) !== 0 ? at : outer;
  }
  return around;
}

const elementOf = ({ blocks }: Outline, around: Int32Array, block: number): number =>
  blocks.holder[block]! < 0 ? -1 : around[blocks.holder[block]!]!;

/** Whether more than half of the chosen text stands in `noscript` elements. */
export function isMostlyIn(outline: Outline, around: Int32Array, isChosen: Uint8Array): boolean {
  let inside = 0;
  let all = 0;
  for (let i = 0; i < outline.blockCount; i++) {
    if (isChosen[i] === 0) continue;
    all += outline.blocks.chars[i]!;
    if (elementOf(outline, around, i) >= 0) inside += outline.blocks.chars[i]!;
  }
  return 2 * inside > all;
}

const NOTICE = /java\s?script|\bcookies?\b/i;

/**
 * Leaves out what is said to readers without scripts beside the content: that they need scripts, that there are
 * cookies. Where most of the content is in `noscript` elements, all of it stays.
 */
export function dropNotices(outline: Outline, isMain: Uint8Array): void {
  const around = noscriptElements(outline);
  if (around === null) return;
  const notices = new Set<number>();
  for (let i = 0; i < outline.blockCount; i++) {
    const element = isMain[i] === 0 ? -1 : elementOf(outline, around, i);
    if (element >= 0 && NOTICE.test(outline.textOf(i))) notices.add(element);
  }
  if (notices.size === 0 || isMostlyIn(outline, around, isMain)) return;
  for (let i = 0; i < outline.blockCount; i++) if (notices.has(elementOf(outline, around, i))) isMain[i] = 0;
}
