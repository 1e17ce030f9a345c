import { CrawlError } from '../../../core/domain/errors.ts';
import { DigestList } from '../../../core/domain/url/hash/url-digest.ts';
import { type Rows, readRange } from '../rows.ts';
import { decodeSet, numberOfSetKey, setRange } from './seen-rows.ts';

/** The digests added to a leaf after the set row `after`, and the keys of their rows. */
export async function readSet(
  rows: Rows,
  leaf: number,
  after = -1,
): Promise<{ digests: Uint32Array; keys: string[]; last: number }> {
  const list = new DigestList();
  const keys: string[] = [];
  for await (const batch of readRange(rows, setRange(leaf, after))) {
    for (const [key, bytes] of batch) {
      const digests = decodeSet(bytes);
      if (digests === null) throw new CrawlError('internal', 'a URL set of the filter of seen URLs is damaged');
      list.append(digests);
      keys.push(key);
    }
  }
  const newest = keys.at(-1);
  return { digests: list.words(), keys, last: newest === undefined ? after : numberOfSetKey(newest) };
}
