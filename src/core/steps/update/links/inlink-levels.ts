import {
  endHash,
  type InlinkFactors,
  joinedLevels,
  levelsOfLink,
  withInlinks,
} from '../../../domain/crawl/discovery/inlinks.ts';
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import type { CrawlDb, CrawlDbPut } from '../../../ports/crawl-db.ts';

/** A slot of the table of levels holds those of one target beside bits of its hash, in 2 MB together. */
const TAG_BITS = 13;
const SLOTS = 1 << (32 - TAG_BITS);
const TAGS = (1 << TAG_BITS) - 1;
const LEVELS_BITS = 16;
const LEVELS = (1 << LEVELS_BITS) - 1;

/**
 * Levels of the links of a chunk, by their targets. Links of its own host count by the page that has them, those of
 * another host once for all its pages. What is kept in memory only saves reads: the records have the levels.
 */
export class InlinkLevels {
  readonly #factorsOf: (inlinks: number) => InlinkFactors;
  readonly #known = new Uint32Array(SLOTS);
  #raised = new Map<string, number>();

  constructor(factorsOf: (inlinks: number) => InlinkFactors) {
    this.#factorsOf = factorsOf;
  }

  /** Called for each link of a page. */
  counterOf(page: string): (target: string) => void {
    const origin = page.slice(0, page.indexOf('/', page.indexOf('//') + 2) + 1);
    const ofPage = endHash(page);
    const ofHost = endHash(hostOf(page));
    return (target) => {
      const hash = endHash(target);
      const levels = levelsOfLink(target.startsWith(origin) ? ofPage : ofHost, hash);
      if (levels === 0) return;
      const [slot, tag] = [hash >>> TAG_BITS, hash & TAGS];
      const entry = this.#known[slot] as number;
      const known = entry >>> LEVELS_BITS === tag ? entry & LEVELS : 0;
      const joined = joinedLevels(known, levels);
      if (joined === known) return;
      this.#known[slot] = ((tag << LEVELS_BITS) | joined) >>> 0;
      this.#raised.set(target, joinedLevels(this.#raised.get(target) ?? 0, levels));
    };
  }

  /**
   * Adds what the links since the last call say of their targets to a batch: to records that it writes anyway,
   * otherwise as further ones. Targets without a record are forgotten until a link to them is read again.
   * @param puts records of the batch, replaced where they stand
   * @returns the new records
   */
  async addTo(
    db: Pick<CrawlDb, 'getMany'>,
    puts: CrawlDbPut[],
    deletes: readonly CrawlDatum[],
    added: readonly CrawlDatum[],
  ): Promise<readonly CrawlDatum[]> {
    const raised = this.#raised;
    if (raised.size === 0) return added;
    this.#raised = new Map();
    const after = (datum: CrawlDatum): CrawlDatum => {
      const levels = raised.get(datum.url);
      if (levels === undefined) return datum;
      raised.delete(datum.url);
      return withInlinks(datum, levels, this.#factorsOf) ?? datum;
    };
    for (const [i, put] of puts.entries()) puts[i] = { ...put, datum: after(put.datum) };
    const entering = added.map(after);
    for (const { url } of deletes) raised.delete(url);
    const urls = [...raised.keys()];
    for (const [i, previous] of (await db.getMany(urls)).entries()) {
      const url = urls[i] as string;
      if (previous === undefined) this.#known[endHash(url) >>> TAG_BITS] = 0;
      const datum = previous && withInlinks(previous, raised.get(url) as number, this.#factorsOf);
      if (previous !== undefined && datum) puts.push({ datum, previous });
    }
    return entering;
  }
}
