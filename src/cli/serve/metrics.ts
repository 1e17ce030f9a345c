import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { RoundEntry } from '../../crawler.ts';
import type { Activity } from './run-watch.ts';
import type { Snapshot } from './snapshot.ts';

export interface MetricsInput {
  readonly activity: Activity;
  readonly snapshot: Snapshot | null;
  /** The last ones, oldest first. */
  readonly rounds: readonly RoundEntry[];
}

export interface Metrics {
  readonly contentType: string;
  /** In the text format of Prometheus. What is not known is left out. */
  text(input: MetricsInput): Promise<string>;
}

/** Figures of the crawl; those of the serving process begin with `incrawl_serve_`. */
export function createMetrics(): Metrics {
  const own = new Registry();
  collectDefaultMetrics({ register: own, prefix: 'incrawl_serve_' });
  return {
    contentType: own.contentType,
    text: async (input) => `${await figures(input).metrics()}\n${await own.metrics()}`,
  };
}

/** A registry for each scrape: no value outlives what it was taken from. */
function figures({ activity, snapshot, rounds }: MetricsInput): Registry {
  const lastRound = rounds.at(-1);
  const sample = rounds.findLast((round) => round.sample !== null)?.sample;
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number | null | undefined): void => {
    if (value === null || value === undefined) return;
    new Gauge({ name: `incrawl_${name}`, help, registers: [registry] }).set(value);
  };
  const counter = (name: string, help: string, value: number | undefined): void => {
    if (value === undefined) return;
    new Counter({ name: `incrawl_${name}_total`, help, registers: [registry] }).inc(value);
  };
  const stats = snapshot?.stats;
  const byStatus = stats?.byStatus ?? lastRound?.byStatus;
  if (byStatus !== undefined) {
    const help = 'URLs in the crawl db, by state';
    const urls = new Gauge({ name: 'incrawl_urls', help, labelNames: ['state'], registers: [registry] });
    for (const [state, count] of Object.entries(byStatus)) urls.set({ state }, count);
  }
  gauge('hosts', 'Hosts in the crawl db', stats?.hosts ?? lastRound?.hosts);
  gauge('due_urls', 'URLs that are due', stats?.due);
  gauge('overdue_urls', 'URLs that have been due for more than a day', stats?.overdue);
  gauge('fresh_ratio', 'Expected share of copies that lack no major change', stats?.freshness?.fresh ?? sample?.fresh);
  gauge(
    'expected_changes_per_day',
    'Major changes expected a day',
    stats?.freshness?.changesPerDay ?? sample?.changesPerDay,
  );
  gauge('db_figures_timestamp_seconds', 'When the figures of the crawl db were taken', seconds(snapshot?.at));

  const { run, schedule } = activity;
  gauge('run_active', '1 while a crawl runs', run === null ? 0 : 1);
  gauge('run_round', 'Round of the run that is going', run?.progress?.round);
  gauge('run_round_urls', 'URLs of the round', run?.progress?.urls);
  gauge('run_round_done_urls', 'URLs of the round that are done', run?.progress?.done);
  gauge('run_in_flight', 'Requests in flight', run?.progress?.inFlight);
  gauge('run_waiting', 'Requests that wait for their host', run?.progress?.waiting);
  gauge('run_parsing', 'Pages being parsed', run?.progress?.parsing);
  gauge('run_pages_per_second', 'Pages a second in the round', run?.progress?.pagesPerSecond);

  const sums = lastRound?.sums;
  counter('rounds', 'Rounds that are over', sums?.rounds);
  counter('requests', 'Requests of those rounds', sums?.requests);
  counter('received_bytes', 'Bytes received in those rounds', sums?.bytesReceived);
  counter('found_urls', 'New URLs found in those rounds', sums?.newUrls);
  if (sums !== undefined) {
    const { new: fresh, modified, unchanged, gone, redirected, failed, robotsDenied: denied } = sums;
    const help = 'Visits of those rounds, by outcome';
    const name = 'incrawl_visits_total';
    const visits = new Counter({ name, help, labelNames: ['outcome'], registers: [registry] });
    for (const [outcome, count] of Object.entries({
      new: fresh,
      modified,
      unchanged,
      gone,
      redirected,
      failed,
      denied,
    })) {
      visits.inc({ outcome }, count);
    }
  }
  gauge('last_round_timestamp_seconds', 'End of the last round', isoSeconds(lastRound?.at));
  gauge('schedule_next_run_timestamp_seconds', 'Begin of the next scheduled run', isoSeconds(schedule?.nextRunAt));
  gauge('schedule_last_run_ok', '1 when the last scheduled run went well', flag(schedule?.lastRun?.ok));
  return registry;
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
const isoSeconds = (iso: string | null | undefined): number | null =>
  iso === null || iso === undefined ? null : Date.parse(iso) / 1_000;
const flag = (value: boolean | undefined): number | undefined => (value === undefined ? undefined : Number(value));
