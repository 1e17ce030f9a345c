// page/tape/: a page as arrays of numbers over its bytes, which all stages read.

import { isElement, type PageNode } from '../page-node.ts';
import { attributeNumber, knownTag } from './name-table.ts';
import { SECTION, type Tape, VISIBLE, WIDE } from './tape.ts';

/**
 * Writes a DOM on a tape, for pages that a plugin has changed or parsed by itself: elements with the attributes that
 * stages ask for, and texts. Without recursion: a DOM may nest to any depth.
 * @returns the node of each entry that is no end
 */
export function flatten(root: PageNode, tape: Tape): PageNode[] {
  tape.begin(new Uint8Array(0), 0);
  const tags = new Map<string, number>();
  const nodes: PageNode[] = [];
  // Of the open nodes, by depth: the node, its next child, its entry (-1: it has none).
  const open: PageNode[] = [root];
  const nexts: number[] = [0];
  const entries: number[] = [-1];
  let depth = 0;
  while (depth >= 0) {
    const parent = open[depth]!;
    const child = parent.children?.[nexts[depth]!++];
    if (child === undefined) {
      if (entries[depth]! >= 0) tape.close(entries[depth]!, 0);
      open.length = depth--;
    } else if (child.type === 'text') {
      nodes[tape.length] = child;
      addText(tape, child.data ?? '', parent.type === 'cdata');
    } else if (child.children !== undefined) {
      depth++;
      open[depth] = child;
      nexts[depth] = 0;
      entries[depth] = -1;
      if (!isElement(child)) continue;
      nodes[tape.length] = child;
      entries[depth] = addElement(tape, child, tags);
    }
  }
  return nodes;
}

function addText(tape: Tape, data: string, isSection: boolean): void {
  const start = tape.reserve(0);
  tape.addText(start, tape.append(data), WIDE | VISIBLE | (isSection ? SECTION : 0));
}

function addElement(tape: Tape, { name = '', attribs = {} }: PageNode, tags: Map<string, number>): number {
  const first = tape.nextAttribute;
  for (const key in attribs) {
    const attribute = attributeNumber(key);
    if (attribute === 0) continue;
    const start = tape.reserve(0);
    tape.addAttribute(attribute, start, tape.append(String(attribs[key])));
  }
  let tag = knownTag(name) ?? tags.get(name);
  if (tag === undefined) {
    tag = tape.addTag(name);
    tags.set(name, tag);
  }
  return tape.addElement(tag, first, 0);
}
