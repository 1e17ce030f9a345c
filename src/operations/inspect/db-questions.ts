import { domainOf } from '../../adapters/system/domain-of.ts';
import type { DueOptions } from '../../crawler/types.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import { dueEntries, findRecords, type RecordQuery } from '../../steps/inspect/find-records.ts';
import { groupHosts } from '../../steps/inspect/host-groups.ts';
import { rowMaker } from '../../steps/inspect/record-columns.ts';
import { changesPerDay, isDueIndexRead, statsOf } from '../../steps/inspect/stats.ts';
import { dueView, hostView, type RecordView, recordView } from '../../steps/inspect/views.ts';
import { changeViews, feedView } from '../changes/changes.ts';
import type { DbQuestions } from '../questions.ts';
import { shaped } from './shaped.ts';

export interface DbQuestionDeps {
  readonly db: CrawlDb;
  readonly clock: Pick<Clock, 'now'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Questions to the crawl db, each answered from an index or a point read where one serves. */
export function dbQuestions({ db, clock, random }: DbQuestionDeps): DbQuestions {
  const deps = () => ({ db, now: clock.now(), domainOf, random });
  const records = (query: RecordQuery = {}) => shaped(findRecords(deps(), query), recordView);
  return {
    stats: (options = {}) => statsOf(db, clock.now(), options.full),
    groups: (by) => groupHosts(db, by, domainOf),
    async record(url) {
      const canonical = canonicalUrl(url);
      if ('error' in canonical) throw new CrawlError('url-invalid', `${url}: ${canonical.error}`);
      const datum = await db.get(canonical.url);
      return datum === undefined ? null : recordView(datum);
    },
    records,
    select(query, fields) {
      const asked = deps();
      return shaped(findRecords(asked, query), rowMaker(fields, asked));
    },
    async topN(count) {
      const best: RecordView[] = [];
      for await (const record of records({ sort: 'score:desc', limit: count })) best.push(record);
      return best;
    },
    due({ limit, at = clock.now(), forMs = 0 }: DueOptions = {}) {
      return shaped(dueEntries(db, at - forMs, limit), dueView);
    },
    async *hosts({ full = false, ...query } = {}) {
      const changes = (await isDueIndexRead(db, full)) ? await changesPerDay(db) : null;
      for await (const row of db.hosts(query)) yield hostView(row, clock.now(), changes?.get(row.host) ?? null);
    },
    changes: (query = {}) => changeViews(db, query),
    changeFeed: () => feedView(db),
  };
}
