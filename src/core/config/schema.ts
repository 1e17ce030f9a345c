import { z } from 'zod';
import { parseExpression } from '../domain/query/parse.ts';
import { hostEntries } from './hosts/host-entries.ts';
import { parseIntervalRule } from './interval-rule.ts';
import { cluster } from './sections/cluster.ts';
import { linkclusters, outlinks, parse, partition } from './sections/content.ts';
import { crawl } from './sections/crawl.ts';
import { agent, fetch, http } from './sections/fetching.ts';
import { changes, db, log, plugins, reports, seen } from './sections/machinery.ts';
import { s3, segments } from './sections/objects.ts';
import { render } from './sections/rendering.ts';
import { dedup, generate, schedule, sitemaps, updatedb } from './sections/revisits.ts';
import { formatDuration } from './units.ts';

/** The sections by name: what {@link configSchema} is made of, for code that walks over all keys. */
export const SECTIONS = {
  agent,
  http,
  fetch,
  render,
  parse,
  outlinks,
  linkclusters,
  partition,
  crawl,
  generate,
  updatedb,
  dedup,
  schedule,
  sitemaps,
  segments,
  s3,
  seen,
  db,
  cluster,
  changes,
  reports,
  plugins,
  log,
};

/**
 * Every key of the configuration: type, default, unit, limits and meaning. Keys of durations end in `Ms` here and in
 * {@link Config}; operators write them without (`fetch.delay: 5s`).
 */
export const configSchema = z
  .strictObject({
    agent: agent.prefault({}),
    http: http.prefault({}),
    fetch: fetch.prefault({}),
    hosts: hostEntries,
    render: render.prefault({}),
    parse: parse.prefault({}),
    outlinks: outlinks.prefault({}),
    linkclusters: linkclusters.prefault({}),
    partition: partition.prefault({}),
    crawl: crawl.prefault({}),
    generate: generate.prefault({}),
    updatedb: updatedb.prefault({}),
    dedup: dedup.prefault({}),
    schedule: schedule.prefault({}),
    sitemaps: sitemaps.prefault({}),
    segments: segments.prefault({}),
    s3: s3.prefault({}),
    seen: seen.prefault({}),
    db: db.prefault({}),
    cluster: cluster.prefault({}),
    changes: changes.prefault({}),
    reports: reports.prefault({}),
    plugins: plugins.prefault({}),
    log: log.prefault({}),
  })
  .superRefine((config, context) => {
    const { intervalMs, minIntervalMs, maxIntervalMs, retryIntervalMs, maxRetryIntervalMs } = config.schedule;
    const refuse = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: ['schedule', key], message });
    if (minIntervalMs > maxIntervalMs) {
      refuse('minIntervalMs', `expected at most schedule.maxInterval (${formatDuration(maxIntervalMs)})`);
    } else if (intervalMs < minIntervalMs || intervalMs > maxIntervalMs) {
      const range = `${formatDuration(minIntervalMs)} to ${formatDuration(maxIntervalMs)}`;
      refuse('intervalMs', `expected a value between schedule.minInterval and schedule.maxInterval (${range})`);
    }
    for (const [i, entry] of config.schedule.bounds.entries()) {
      try {
        parseIntervalRule(entry);
      } catch (error) {
        context.addIssue({ code: 'custom', path: ['schedule', 'bounds', i], message: (error as Error).message });
      }
    }
    try {
      if (config.generate.where !== '') parseExpression(config.generate.where, 0);
    } catch (error) {
      context.addIssue({ code: 'custom', path: ['generate', 'where'], message: (error as Error).message });
    }
    if (retryIntervalMs > maxRetryIntervalMs) {
      refuse('retryIntervalMs', `expected at most schedule.maxRetryInterval (${formatDuration(maxRetryIntervalMs)})`);
    }
  });

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

/** The configuration in force: validated and deeply frozen. Durations in ms, sizes in bytes. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
