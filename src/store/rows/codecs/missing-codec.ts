import type { MissingLinks } from '../../../core/domain/crawl/revisit/missing-links.ts';

/** Raised with every change of the meaning of the numbers behind it, such as what a folder of a URL is. */
const VERSION = 1;

/** Some 20 bytes, and 7 for each folder with dead links: at most 600. */
export type MissingTuple = readonly [version: number, times: number, at: number, ...folders: number[]];

export const encodeMissing = ({ times, at, folders }: MissingLinks): MissingTuple => [
  ...([VERSION, times, at] as const),
  ...folders.flatMap(({ folder, missing, found }) => [folder, missing, found]),
];

/** `null` for what a newer version has written: it is learnt anew. */
export function decodeMissing([version, times, at, ...numbers]: MissingTuple): MissingLinks | null {
  if (version !== VERSION) return null;
  const folders: MissingLinks['folders'][number][] = [];
  for (let i = 0; i + 2 < numbers.length; i += 3) {
    folders.push({ folder: numbers[i]!, missing: numbers[i + 1]!, found: numbers[i + 2]! });
  }
  return { times, at, folders };
}
