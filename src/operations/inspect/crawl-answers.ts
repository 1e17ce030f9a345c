import type { CrawlRoom } from '../../crawler/crawl-room.ts';
import type { Crawler } from '../../crawler/types.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import { unknownName } from '../../plugin-host/loading/load-parsing.ts';
import { planAhead } from '../../steps/inspect/plan.ts';
import { simulateSchedules } from '../../steps/inspect/simulate.ts';
import { isoTime } from '../../steps/inspect/views.ts';
import { nearUrl } from '../dedup/dedup-settings.ts';
import { dbQuestions } from './db-questions.ts';
import { explainUrl } from './explain-url.ts';
import { diffPage, pageVersions } from './page-diff.ts';
import { pluginViews } from './plugin-views.ts';
import type { DbQuestions } from './questions.ts';
import { seenView } from './seen.ts';
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

export function crawlAnswers(room: CrawlRoom): CrawlAnswers {
  const questions = (): DbQuestions =>
    dbQuestions({ db: room.store().db, clock: room.wiring.clock, random: room.random });
  return {
    plan(options: { days?: number; budgetPerDay?: number } = {}): ReturnType<Crawler['plan']> {
      const { clock, config } = room.wiring;
      const { days = 7, budgetPerDay = config.generate.budgetPerDay } = options;
      return planAhead(room.store().db, { now: clock.now(), days, budgetPerDay, hostOf });
    },

    async simulate(options: { schedules: readonly string[]; host?: string }): ReturnType<Crawler['simulate']> {
      const { plugins, policy } = room.wiring;
      const schedules = options.schedules.map((name) => {
        const schedule = plugins.schedules.get(name);
        if (schedule === undefined) throw unknownName('--schedule', name, plugins.schedules.keys());
        return schedule;
      });
      return simulateSchedules(
        room.store().db,
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
      const { db } = room.store();
      return seenView(room.wiring.config, db, db.seenFilter);
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
      for (const { id, state, createdAt, urls } of await room.wiring.segments.list()) {
        const segment = await room.wiring.segments.open(id, 'read');
        const { fetchedCount: fetched, parsedCount: parsed } = segment;
        views.push({ id, state, createdAt: isoTime(createdAt), urls, fetched, parsed });
        await segment.close();
      }
      return views;
    },

    segmentRecord(url: string, segment?: string): ReturnType<Crawler['segmentRecord']> {
      return segmentRecord(room.wiring, url, segment);
    },

    segmentRecords(segment?: string): ReturnType<Crawler['segmentRecords']> {
      return segmentRecords(room.wiring, segment);
    },

    changes(...asked: Parameters<Crawler['changes']>): ReturnType<Crawler['changes']> {
      return questions().changes(...asked);
    },

    changeFeed(): ReturnType<Crawler['changeFeed']> {
      return questions().changeFeed();
    },

    explain(url: string): ReturnType<Crawler['explain']> {
      return explainUrl(room.wiring, { ...room.store(), dir: room.dir }, url);
    },

    versions(url: string): ReturnType<Crawler['versions']> {
      return pageVersions(room.wiring.segments, url);
    },

    storedBody(url: string): ReturnType<Crawler['storedBody']> {
      return storedBody(room.wiring, url);
    },

    diff(...[url, choice]: Parameters<Crawler['diff']>): ReturnType<Crawler['diff']> {
      return diffPage(room.wiring.segments, url, choice);
    },

    plugins(): ReturnType<Crawler['plugins']> {
      return pluginViews(room.wiring.plugins);
    },

    near(url: string, options: Parameters<Crawler['near']>[1]): ReturnType<Crawler['near']> {
      return nearUrl(room.wiring.config, room.store().db, url, options);
    },
  };
}
