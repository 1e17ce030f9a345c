import { isAlikeInLength } from '../../core/domain/crawl/states/duplicate.ts';
import { FingerprintTables, MAX_EXACT_DISTANCE } from '../../page/near/fingerprint-tables.ts';
import type { MapReduceJob } from './job.ts';
import { type SignedLine, signedLines } from './signed-line.ts';

/**
 * The published batch protocol (CN101645082A, C1 to C5): a query set Q, a new batch that fits in memory, against a
 * library F of any size. Every mapper reads Q whole into four tables and looks up its piece of F. In: the lines of a
 * signature export, Q among them, so that Q is compared with itself too. Between and out: `page of Q<TAB>near
 * page<TAB>distance`, each pair once. Of the pages of Q with one fingerprint and length, the one with the least URL
 * stands for all. The mapper judges distances, since four tables give 4|F||Q|/65536 candidates. A piece that is read
 * twice adds nothing.
 */
export const incomingPairs: MapReduceJob = {
  description: 'pages near those of a new batch',
  needsQuery: true,
  async *map(lines, query) {
    if (query === undefined) throw new TypeError('the mapper needs a query set');
    const library = await readQuery(query);
    const read = signedLines();
    for await (const line of lines) {
      const page = read(line);
      if (page !== null) yield* library.near(page);
    }
  },
  async *reduce(lines) {
    let last: string | null = null;
    for await (const line of lines) {
      if (line !== last && line.split('\t').length === FIELDS) yield line;
      last = line;
    }
  },
};

const FIELDS = 3;

interface QuerySet {
  /** Lines of the pages of Q that a page is near to. */
  near(page: SignedLine): Generator<string>;
}

async function readQuery(lines: AsyncIterable<string>): Promise<QuerySet> {
  const read = signedLines();
  /** The page with the least URL of each fingerprint, scope and length. */
  const leaders = new Map<string, SignedLine>();
  for await (const line of lines) {
    const page = read(line);
    if (page === null) continue;
    const leader = leaders.get(textOf(page));
    if (leader === undefined || page.url < leader.url) leaders.set(textOf(page), page);
  }
  const pages = [...leaders.values()];
  const tables = new FingerprintTables();
  for (const [id, { fingerprint }] of pages.entries()) tables.add(fingerprint, id);
  return {
    *near(page) {
      const isLeader = leaders.get(textOf(page))?.url === page.url;
      const isAlike = (id: number): boolean =>
        pages[id]!.scope === page.scope && isAlikeInLength(pages[id]!.chars, page.chars);
      for (const { id, distance } of tables.near(page.fingerprint, MAX_EXACT_DISTANCE, isAlike)) {
        const { url } = pages[id]!;
        // Two leaders meet twice, as each is looked up.
        if (isLeader ? url < page.url : url !== page.url) yield `${url}\t${page.url}\t${distance}`;
      }
    },
  };
}

const textOf = ({ fingerprint: { high, low }, scope, chars }: SignedLine): string => `${high} ${low} ${scope} ${chars}`;
