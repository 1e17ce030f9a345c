import type { Crawler } from '../../crawler/types.ts';
import { unknownName } from '../../plugin-host/loading/load-parsing.ts';
import { planAhead } from '../../steps/inspect/plan.ts';
import { simulateSchedules } from '../../steps/inspect/simulate.ts';
import { isoTime } from '../../steps/inspect/views.ts';
import { nearUrl } from '../dedup/dedup-settings.ts';
import type { CrawlDeps } from '../deps.ts';
import { pluginViews } from '../plugins/plugin-views.ts';
import type { DbQuestions } from '../questions.ts';
import { seenView } from '../state/seen-urls.ts';
import { dbQuestions } from './db-questions.ts';
import { explainUrl } from './explain-url.ts';
import { diffPage, pageVersions } from './page-diff.ts';
import { segmentRecord, segmentRecords } from './segment-records.ts';
import { storedBody } from './stored-body.ts';

/** What can be asked of a crawl; nothing is changed. */
export type CrawlAnswers = Pick<
  Crawler,
  | 'plan'
  | 'simulate'
  | 'stats'
  | 'groups'
  | 'seen'
  | 'record'
  | 'records'
  | 'select'
  | 'topN'
  | 'due'
  | 'hosts'
  | 'segments'
  | 'segmentRecord'
  | 'segmentRecords'
  | 'changes'
  | 'changeFeed'
  | 'explain'
  | 'versions'
  | 'storedBody'
  | 'diff'
  | 'plugins'
  | 'near'
>;

export function crawlAnswers(deps: CrawlDeps): CrawlAnswers {
  const questions = (): DbQuestions =>
    dbQuestions({ db: deps.store().db, clock: deps.wiring.clock, random: deps.random });
  return {
    plan(options: { days?: number; budgetPerDay?: number } = {}): ReturnType<Crawler['plan']> {
      const { clock, config } = deps.wiring;
      const { days = 7, budgetPerDay = config.generate.budgetPerDay } = options;
      return planAhead(deps.store().db, { now: clock.now(), days, budgetPerDay });
    },

    async simulate(options: { schedules: readonly string[]; host?: string }): ReturnType<Crawler['simulate']> {
      const { plugins, policy } = deps.wiring;
      const schedules = options.schedules.map((name) => {
        const schedule = plugins.schedules.get(name);
        if (schedule === undefined) throw unknownName('--schedule', name, plugins.schedules.keys());
        return schedule;
      });
      return simulateSchedules(
        deps.store().db,
        schedules,
        policy,
        options.host === undefined ? {} : { host: options.host },
      );
    },

    stats(...asked: Parameters<Crawler['stats']>): ReturnType<Crawler['stats']> {
      return questions().stats(...asked);
    },

    groups(...asked: Parameters<Crawler['groups']>): ReturnType<Crawler['groups']> {
      return questions().groups(...asked);
    },

    seen(): ReturnType<Crawler['seen']> {
      const { db } = deps.store();
      return seenView(deps.wiring.config, db, db.seenFilter);
    },

    record(...asked: Parameters<Crawler['record']>): ReturnType<Crawler['record']> {
      return questions().record(...asked);
    },

    records(...asked: Parameters<Crawler['records']>): ReturnType<Crawler['records']> {
      return questions().records(...asked);
    },

    select(...asked: Parameters<Crawler['select']>): ReturnType<Crawler['select']> {
      return questions().select(...asked);
    },

    topN(...asked: Parameters<Crawler['topN']>): ReturnType<Crawler['topN']> {
      return questions().topN(...asked);
    },

    due(...asked: Parameters<Crawler['due']>): ReturnType<Crawler['due']> {
      return questions().due(...asked);
    },

    hosts(...asked: Parameters<Crawler['hosts']>): ReturnType<Crawler['hosts']> {
      return questions().hosts(...asked);
    },

    async segments(): ReturnType<Crawler['segments']> {
      const views: Awaited<ReturnType<Crawler['segments']>> = [];
      for (const { id, state, createdAt, urls } of await deps.wiring.segments.list()) {
        const segment = await deps.wiring.segments.open(id, 'read');
        const { fetchedCount: fetched, parsedCount: parsed } = segment;
        views.push({ id, state, createdAt: isoTime(createdAt), urls, fetched, parsed });
        await segment.close();
      }
      return views;
    },

    segmentRecord(url: string, segment?: string): ReturnType<Crawler['segmentRecord']> {
      return segmentRecord(deps.wiring, url, segment);
    },

    segmentRecords(segment?: string): ReturnType<Crawler['segmentRecords']> {
      return segmentRecords(deps.wiring, segment);
    },

    changes(...asked: Parameters<Crawler['changes']>): ReturnType<Crawler['changes']> {
      return questions().changes(...asked);
    },

    changeFeed(): ReturnType<Crawler['changeFeed']> {
      return questions().changeFeed();
    },

    explain(url: string): ReturnType<Crawler['explain']> {
      return explainUrl(deps.wiring, { ...deps.store(), dir: deps.dir }, url);
    },

    versions(url: string): ReturnType<Crawler['versions']> {
      return pageVersions(deps.wiring.segments, url);
    },

    storedBody(url: string): ReturnType<Crawler['storedBody']> {
      return storedBody(deps.wiring, url);
    },

    diff(...[url, choice]: Parameters<Crawler['diff']>): ReturnType<Crawler['diff']> {
      return diffPage(deps.wiring.segments, url, choice);
    },

    plugins(): ReturnType<Crawler['plugins']> {
      return pluginViews(deps.wiring.plugins);
    },

    near(url: string, options: Parameters<Crawler['near']>[1]): ReturnType<Crawler['near']> {
      return nearUrl(deps.wiring.config, deps.store().db, url, options);
    },
  };
}
