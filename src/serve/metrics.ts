import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { RoundEntry, WorkersView } from '../crawler/views.ts';
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
  /** The text format of Prometheus; unknown figures are left out. */
  text(input: MetricsInput): Promise<string>;
}

/** Metrics of the crawl; those of the serving process begin with `incrawl_serve_`. */
export function createMetrics(): Metrics {
  const own = new Registry();
  collectDefaultMetrics({ register: own, prefix: 'incrawl_serve_' });
  return {
    contentType: own.contentType,
    text: async (input) => `${await figures(input).metrics()}\n${await own.metrics()}`,
  };
}

/** One registry for each scrape, so that no figure outlives its source. */
function figures({ activity, snapshot, rounds }: MetricsInput): Registry {
  const lastRound = rounds.at(-1);
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
  gauge(
    'fresh_ratio',
    'Estimated share of stored copies that lack no major change',
    stats?.freshness?.fresh ?? lastRound?.sample.fresh,
  );
  gauge(
    'expected_changes_per_day',
    'Expected major changes a day',
    stats?.freshness?.changesPerDay ?? lastRound?.sample.changesPerDay,
  );
  gauge('db_figures_timestamp_seconds', 'Time of the figures of the crawl db', seconds(snapshot?.at));

  const { run, schedule } = activity;
  gauge('run_active', '1 while a crawl runs', run === null ? 0 : 1);
  gauge('run_paused', '1 while the run is paused', run === null ? 0 : Number(run.steering?.paused ?? false));
  gauge('run_round', 'Current round of the run', run?.progress?.round);
  gauge('run_round_urls', 'URLs in the round', run?.progress?.urls);
  gauge('run_round_done_urls', 'Finished URLs of the round', run?.progress?.done);
  gauge('run_in_flight', 'Requests in flight', run?.progress?.inFlight);
  gauge('run_waiting', 'Requests waiting for their host', run?.progress?.waiting);
  gauge('run_parsing', 'Pages being parsed', run?.progress?.parsing);
  gauge('run_pages_per_second', 'Pages a second in the round', run?.progress?.pagesPerSecond);

  if (activity.workers !== null) addWorkers(registry, activity.workers);

  const sums = lastRound?.sums;
  counter('rounds', 'Finished rounds', sums?.rounds);
  counter('requests', 'Requests of finished rounds', sums?.requests);
  counter('received_bytes', 'Bytes received in finished rounds', sums?.bytesReceived);
  counter('found_urls', 'New URLs found in finished rounds', sums?.newUrls);
  if (sums !== undefined) {
    const { new: fresh, modified, unchanged, gone, redirected, failed, robotsDenied: denied } = sums;
    const help = 'Visits of finished rounds, by outcome';
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
  gauge('schedule_next_run_timestamp_seconds', 'Start of the next scheduled run', isoSeconds(schedule?.nextRunAt));
  gauge('schedule_last_run_ok', '1 when the last scheduled run succeeded', flag(schedule?.lastRun?.ok));
  if (schedule?.lastRun?.failures !== undefined) {
    const help = 'Visits of the last scheduled run that failed or were refused, by reason and HTTP status';
    const name = 'incrawl_schedule_last_run_failures';
    const failures = new Gauge({ name, help, labelNames: ['reason', 'status'], registers: [registry] });
    for (const { code, status, visits } of schedule.lastRun.failures) {
      failures.set({ reason: code, status: String(status ?? '') }, visits);
    }
  }
  return registry;
}

const WORKER_STATES = ['crawling', 'idle', 'dead', 'failed'] as const;
const PARTITION_STATES = ['held', 'due', 'resting', 'retrying', 'failed', 'done'] as const;

/** All states are listed, so that an alert can tell none from unknown. */
function addWorkers(registry: Registry, { workers, partitions }: WorkersView): void {
  const gauge = (name: string, help: string, label: string) =>
    new Gauge({ name: `incrawl_${name}`, help, labelNames: [label], registers: [registry] });
  const byState = gauge(
    'workers',
    'Workers of the shared crawl, by state; dead and failed ones of the last hour',
    'state',
  );
  for (const state of WORKER_STATES) byState.set({ state }, workers.filter((each) => each.state === state).length);
  const parts = gauge('partitions', 'Partitions of the shared crawl, by state', 'state');
  for (const state of PARTITION_STATES) parts.set({ state }, partitions.filter((each) => each.state === state).length);
  const due = gauge('partition_due_urls', 'URLs of a partition that are due', 'partition');
  for (const { partition, due: urls } of partitions) if (urls !== null) due.set({ partition }, urls);
  const rate = gauge('worker_pages_per_second', 'Pages a second of a worker, over ten seconds', 'worker');
  const heard = gauge('worker_heard_timestamp_seconds', 'Last sign of life of a worker', 'worker');
  const name = 'incrawl_worker_pages_total';
  const help = 'Pages that a worker has visited since its start';
  const pages = new Counter({ name, help, labelNames: ['worker'], registers: [registry] });
  for (const { worker, heardAt } of workers) heard.set({ worker }, Date.parse(heardAt) / 1_000);
  for (const { worker, visits, visitsPerSecond, state } of workers) {
    // A worker restarted in a container may have the name of one that died.
    if (state === 'dead' || state === 'failed') continue;
    rate.set({ worker }, visitsPerSecond);
    pages.inc({ worker }, visits);
  }
}

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
const isoSeconds = (iso: string | null | undefined): number | null =>
  iso === null || iso === undefined ? null : Date.parse(iso) / 1_000;
const flag = (value: boolean | undefined): number | undefined => (value === undefined ? undefined : Number(value));
