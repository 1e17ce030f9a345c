import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics, type MetricsInput } from '../../../src/serve/metrics.ts';
import { DAY, LAST, NOW, STATS } from '../../serve/live-fixtures.ts';

const folder = resolve(import.meta.dirname, '../../../deploy/monitoring');
const alertsFile = join(folder, 'alerts.yaml');

/** A crawl of which everything is known: so /metrics has all that it can have. */
const FULL = {
  activity: {
    state: 'running',
    run: {
      progress: { round: 3, urls: 100, done: 40, inFlight: 4, waiting: 9, parsing: 2, pagesPerSecond: 12.5 },
    },
    schedule: {
      nextRunAt: new Date(NOW + DAY).toISOString(),
      lastRun: { ok: true, failures: [{ code: 'login-required', status: 302, visits: 2 }] },
    },
    workers: {
      workers: [
        { worker: 'a/1', state: 'crawling', heardAt: new Date(NOW).toISOString(), visits: 7, visitsPerSecond: 2 },
      ],
      partitions: [{ partition: '000', state: 'held', due: 3 }],
    },
  },
  snapshot: { at: NOW, stats: { ...STATS, freshness: { fresh: 0.9, changesPerDay: 120 } } },
  rounds: [
    {
      ...LAST,
      sums: {
        ...LAST,
        rounds: 12,
        unchanged: 1,
        requests: 5,
        bytesReceived: 9,
        newUrls: 4,
      },
    },
  ],
} as unknown as MetricsInput;

const text = await createMetrics().text(FULL);
const offered = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
const labels = new Set(
  [...text.matchAll(/^(\w+)\{(\w+)="([^"]*)"\}/gm)].map(([, name, label, value]) => `${name} ${label} ${value}`),
);

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(readFileSync(join(folder, 'grafana.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
const { groups } = parse(readFileSync(alertsFile, 'utf8')) as {
  readonly groups: readonly { readonly rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const expressions: readonly (readonly [string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
];

describe('expressions of the dashboard and the alerts', () => {
  it.each(expressions)('%s: %s', (_title, expr) => {
    const named = [...expr.matchAll(/\bincrawl_\w+/g)].map(([name]) => name);
    expect(named.length + Number(expr.includes('up{'))).toBeGreaterThan(0);
    expect(named.filter((name) => !offered.has(name))).toEqual([]);
    for (const [, name, label, values] of expr.matchAll(/(incrawl_\w+)\{[^}]*?\b(state|outcome)=~?"([^"]+)"/g)) {
      for (const value of values!.split('|')) expect([...labels]).toContain(`${name} ${label} ${value}`);
    }
    const open = (pattern: RegExp): number => expr.match(pattern)?.length ?? 0;
    expect([open(/\(/g), open(/\{/g), open(/"/g) % 2]).toEqual([open(/\)/g), open(/\}/g), 0]);
  });

  it('use each figure of the crawl, or it is named here', () => {
    const used = expressions.map(([, expr]) => expr).join('\n');
    const unused = [...offered].filter(
      (name) => !name.startsWith('incrawl_serve_') && !new RegExp(`${name}\\b`).test(used),
    );
    expect(unused).toEqual([
      'incrawl_hosts',
      'incrawl_db_figures_timestamp_seconds',
      'incrawl_run_round',
      // For questions by hand: a series each worker, or each partition.
      'incrawl_partition_due_urls',
      'incrawl_worker_pages_total',
    ]);
  });
});

describe('the dashboard', () => {
  it('has panels of their own ids that do not overlap, and variables that are there', () => {
    const { panels, templating } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const variables = templating.list.map(({ name }) => name);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name!);
    expect(used.filter((name) => !variables.includes(name))).toEqual([]);
  });
});

describe('the alerts', () => {
  it('say what is wrong and what to do, under names of their own', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const {
      labels: { severity },
      annotations,
    } of rules) {
      expect(['info', 'warning', 'critical']).toContain(severity);
      expect(annotations.summary.length * annotations.description.length).toBeGreaterThan(100);
    }
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0;
  it.skipIf(!promtool)('promtool finds no fault (skipped without promtool)', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', alertsFile], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  });
});
