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
