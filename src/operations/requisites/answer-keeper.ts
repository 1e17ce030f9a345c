// operations/requisites/: style sheets, scripts, pictures, fonts and media of pages, as a crawl of their own.

import { createHash } from 'node:crypto';
import { dueFacts } from '../../core/domain/crawl/revisit/next-visit.ts';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../core/domain/crawl/states/datum.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { Exchange, FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import type { FetchItem, Segment } from '../../core/ports/segment-store.ts';
import { factsOf } from '../../core/steps/facts/host-observations.ts';
import { visit } from '../../core/steps/fetch/visit.ts';
import type { VisitResult } from '../../core/steps/fetch/visit-result.ts';
import { newSegmentId } from '../../core/steps/generate/fetch-list.ts';
import { fetchItem } from '../../core/steps/generate/generate-from-list.ts';
import type { PageAnswer } from '../../core/steps/render/rendering.ts';
import type { CrawlDeps, Store } from '../deps.ts';

/** The crawl of requisites: its dependencies and its open store. */
export interface OwnCrawl extends Omit<CrawlDeps, 'store'> {
  readonly store: () => Pick<Store, 'db' | 'seen'>;
}

/** An answer with the URL by which the crawl of requisites knows it, and its record there. */
interface Candidate {
  readonly url: string;
  readonly answer: PageAnswer;
  readonly record: CrawlDatum | undefined;
}

interface Kept extends Candidate {
  readonly item: FetchItem;
  readonly result: VisitResult;
}

/**
 * Keeps what browsers are answered while they render pages, as visits of the crawl of requisites: in a segment that
 * grows while pages are fetched, and that its loop then finds as a round that was interrupted. So what a kill leaves,
 * what an equal body means and when a URL is asked for again are as for any visit. Of each URL the first answer of a
 * run is kept: pages that share it were made from it, too, or soon after.
 */
export class AnswerKeeper {
  readonly #own: OwnCrawl;
  readonly #limit: number;
  readonly #kept = new UrlSet();
  #waiting: PageAnswer[] = [];
  #work: Promise<void> | null = null;
  #segment: Segment | null = null;
  /** Answers kept, those that a 304 or an equal body confirmed included. */
  count = 0;

  /** @param limit most requisites of the crawl */
  constructor(own: OwnCrawl, limit: number) {
    this.#own = own;
    this.#limit = limit;
  }

  /** What comes while others are being written is written together. */
  keep(answer: PageAnswer): Promise<void> {
    this.#waiting.push(answer);
    this.#work ??= this.#writeAll().finally(() => {
      this.#work = null;
    });
    return this.#work;
  }

  async close(): Promise<void> {
    await this.#work;
    const segment = this.#segment;
    this.#segment = null;
    await segment?.close();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answers = this.#waiting;
      this.#waiting = [];
      await this.#write(await this.#candidates(answers));
    }
  }

  /** Those of URLs that no round has on its list, each once. */
  async #candidates(answers: readonly PageAnswer[]): Promise<Candidate[]> {
    const { plugins, store } = this.#own;
    const { db } = store();
    const byUrl = new Map<string, PageAnswer>();
    for (const answer of answers) {
      const context = { from: answer.from, depth: 0, seedHosts: new Set<string>(), scope: 'outlink' } as const;
      const { url } = plugins.urls.apply(answer.url, context);
      if (url !== null && !byUrl.has(url) && !this.#kept.has(url)) byUrl.set(url, answer);
    }
    const urls = [...byUrl.keys()];
    const [records, leases] = [await db.getMany(urls), await db.leases(urls)];
    let left = Math.max(0, this.#limit - (await db.counters()).urls);
    return urls.flatMap((url, i) => {
      const [answer, record] = [byUrl.get(url)!, records[i]];
      if (leases[i] !== undefined || (record === undefined && left-- <= 0)) return [];
      return [{ url, answer, record }];
    });
  }

  /** In the order of a redirect that is followed: item, record and lease, visit. */
  async #write(candidates: readonly Candidate[]): Promise<void> {
    const visits: Kept[] = [];
    if (candidates.length === 0) return;
    this.#segment ??= await this.#newSegment();
    const { info } = this.#segment;
    for (const candidate of candidates) {
      const item = itemOf(candidate, info.urls + visits.length);
      const result = await visitBy(this.#own, candidate, item);
      if (result !== null) visits.push({ ...candidate, item, result });
    }
    if (visits.length === 0) return;
    const { db, seen } = this.#own.store();
    const hosts = new Set(visits.map(({ item }) => item.host).filter((host) => !(host in info.hosts)));
    await this.#segment.addItems(
      visits.map(({ item }) => item),
      await factsOf(db, [...hosts]),
    );
    const added = visits.flatMap((each) => (each.record === undefined ? [this.#newRecord(each)] : []));
    const leased = [...added, ...visits.flatMap(({ record }) => record ?? [])];
    const entries = leased.flatMap((datum) =>
      datum.nextFetchAt === null ? [] : [{ ...dueFacts(datum), dueAt: datum.nextFetchAt }],
    );
    await db.write({
      puts: added.map((datum) => ({ datum, previous: null })),
      lease: { segment: info.id, entries },
    });
    seen.add(added.map(({ url }) => url));
    for (const each of visits) await this.#store(this.#segment, each);
  }

  async #store(segment: Segment, { url, item, result }: Kept): Promise<void> {
    const { outcome, response, body, observation, headers } = result;
    const { index, host } = item;
    await segment.addFetched({ index, url, host, outcome, observation }, response);
    this.#kept.add(url);
    this.count++;
    if (body === null) return;
    const contentType = headers['content-type'] ?? null;
    const page = { index, url, contentType, headers, body, metadata: item.metadata };
    await segment.addParsed(index, (await this.#own.pages.parser().parse(page)).encoded);
  }

  #newRecord({ url, answer }: Candidate): CrawlDatum {
    const { plugins, runtime } = this.#own;
    const intervalMs = plugins.policy.schedule.initialIntervalMs;
    return newDatum({ url, now: runtime.clock.now(), intervalMs, referrer: answer.from });
  }

  /** Its row comes behind it: a segment without one is removed at the next start. */
  async #newSegment(): Promise<Segment> {
    const { segments, runtime, store } = this.#own;
    const { db } = store();
    const createdAt = runtime.clock.now();
    const id = await newSegmentId({ db, segments }, createdAt);
    await segments.create({ id, createdAt, hosts: {} }, []);
    const row = { id, state: 'generated', createdAt, urls: 0, applied: 0 } as const;
    await db.write({ segments: [row] }, { durable: true });
    return segments.open(id, 'write');
  }
}

const NO_AUDITS = { next: () => false };

function itemOf({ url, record }: Candidate, index: number): FetchItem {
  const place = { index, host: hostOf(url), partition: 0 };
  if (record !== undefined) return fetchItem(record, place, NO_AUDITS);
  return { ...place, url, depth: 0, score: 1, validators: NO_VALIDATORS, digest: null, audit: false, metadata: {} };
}

const UNKNOWN_HOST = { conditionalHits: 0, conditionalMisses: 0, headHits: 0, headMisses: 0, distrustedUntil: null };
const WHOLE = { probe: 'off', maxBodyBytes: Number.POSITIVE_INFINITY, timeoutMs: 0 } as const;

/** The visit that had this answer; `null`: it confirms what is not stored. */
async function visitBy(
  { runtime }: Pick<OwnCrawl, 'runtime'>,
  { answer }: Candidate,
  item: FetchItem,
): Promise<VisitResult | null> {
  const { exchange, confirms } = answer;
  if (confirms !== undefined && item.digest !== confirms) return null;
  const asked = confirms === undefined ? { ...item, validators: NO_VALIDATORS } : item;
  const given = { protocol: answeredBy(exchange), item: asked, host: UNKNOWN_HOST };
  const result = await visit({ clock: runtime.clock, sha256Of }, WHOLE, given);
  return confirms === undefined || result.outcome.kind === 'unchanged' ? result : null;
}

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** A protocol whose exchange has taken place. */
const answeredBy = (exchange: Exchange): FetchProtocol => ({
  schemes: [],
  exchange: async ({ onHead }) =>
    onHead?.(exchange.head) === 'drop' ? { ...exchange, wireBody: null, body: null } : exchange,
  close: async () => {},
});
