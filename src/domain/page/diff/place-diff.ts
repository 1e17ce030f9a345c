import { BlockTable } from '../block-table.ts';
import { changedPlaces, namedPlaces, rememberPlaces } from './changed-places.ts';
import { type PlacedText, type PlacePrint, placedTexts, placePrints, type ReadPage } from './page-places.ts';
import { spacingDiff, type WordDiff, type WordEdit, wordDiff } from './word-diff.ts';

/** The edits of a place whose words differ. */
export interface PlaceEdits {
  readonly place: string;
  readonly edits: readonly WordEdit[];
}

export interface PlaceDiff extends WordDiff {
  /** Names of the places that differ, as the change feed has them. */
  readonly where: readonly string[];
  /** The places that differ, in the reading order of the later version; those that are gone stand last. */
  readonly places: readonly PlaceEdits[];
}

/**
 * The difference of two versions of a page: that of each place for itself, so that it has an edit where
 * {@link changedPlaces} has a place, and nowhere else. `edits` are those of all places, in reading order.
 */
export function placeDiff(before: ReadPage, after: ReadPage): PlaceDiff {
  const [old, young] = [placedTexts(before), placedTexts(after)];
  const [oldTexts, youngTexts] = [textsByPlace(old), textsByPlace(young)];
  const diffs = new Map<string, WordDiff>();
  for (const place of new Set([...youngTexts.keys(), ...oldTexts.keys()])) {
    diffs.set(place, textDiff(oldTexts.get(place) ?? '', youngTexts.get(place) ?? ''));
  }
  const changed = changedPlaces(rememberPlaces(printsOf(before)), printsOf(after));
  const all = [...diffs.values()];
  return {
    where: namedPlaces(changed),
    places: [...diffs].filter(([, { edits }]) => edits.some(isChange)).map(([place, { edits }]) => ({ place, edits })),
    edits: inReadingOrder(young, diffs),
    equal: all.reduce((sum, { equal }) => sum + equal, 0),
    deleted: all.reduce((sum, { deleted }) => sum + deleted, 0),
    inserted: all.reduce((sum, { inserted }) => sum + inserted, 0),
  };
}

const printsOf = (page: ReadPage): PlacePrint[] => placePrints(page, new BlockTable().fill(page.blocks));

/** By words; where no word differs, by what stands between white space: `foo (x)` is not `foo(x)`. */
function textDiff(before: string, after: string): WordDiff {
  const byWords = wordDiff(before, after);
  return byWords.edits.some(isChange) ? byWords : spacingDiff(before, after);
}

const isChange = ({ op }: WordEdit): boolean => op !== 'equal';

function textsByPlace(texts: readonly PlacedText[]): Map<string, string> {
  const joined = new Map<string, string>();
  for (const { place, text } of texts) {
    const before = joined.get(place);
    joined.set(place, before === undefined ? text : `${before}\n${text}`);
  }
  return joined;
}

/** The edits of the places, cut at the ends of their texts; places that are gone stand last. */
function inReadingOrder(texts: readonly PlacedText[], diffs: ReadonlyMap<string, WordDiff>): WordEdit[] {
  const edits: WordEdit[] = [];
  const add = (edit: WordEdit): void => {
    const last = edits.at(-1);
    if (last?.op === edit.op) edits[edits.length - 1] = { op: edit.op, text: last.text + edit.text };
    else if (edit.text !== '') edits.push(edit);
  };
  const left = new Map<string, number>();
  for (const { place } of texts) left.set(place, (left.get(place) ?? 0) + 1);
  const rest = new Map([...diffs].map(([place, diff]) => [place, [...diff.edits].reverse()]));
  for (const [i, { place, text }] of texts.entries()) {
    if (i > 0) add({ op: 'equal', text: '\n' });
    const isLast = left.get(place) === 1;
    left.set(place, left.get(place)! - 1);
    takeText(rest.get(place)!, isLast ? Number.POSITIVE_INFINITY : text.length, add);
    // The line feed to the next text of the place.
    if (!isLast) takeText(rest.get(place)!, 1, (edit) => edit.op === 'delete' && add(edit));
  }
  for (const [place, { edits: gone }] of diffs) {
    if (left.has(place)) continue;
    for (const { op, text } of gone) add({ op, text: `\n${text}` });
  }
  return edits;
}

/** Takes edits off the end of `rest` until they hold `chars` characters of the later text. */
function takeText(rest: WordEdit[], chars: number, add: (edit: WordEdit) => void): void {
  let open = chars;
  for (let edit = rest.pop(); edit !== undefined; edit = rest.pop()) {
    const { op, text } = edit;
    if (op === 'delete') {
      add(edit);
      continue;
    }
    if (text.length > open) rest.push({ op, text: text.slice(open) });
    add({ op, text: text.slice(0, open) });
    open -= text.length;
    if (open <= 0) return;
  }
}
