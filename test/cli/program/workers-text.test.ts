import { describe, expect, it } from 'vitest';
import type { PartitionRow, WorkerReport, WorkerRow } from '../../../src/cluster/ports/workers.ts';
import { livingOf, workersView } from '../../../src/cluster/workers/workers-view.ts';
import { PLAIN_STYLE } from '../../../src/render/table.ts';
import { workersLines } from '../../../src/render/workers-columns.ts';
import { createMetrics } from '../../../src/serve/metrics.ts';
import { layout } from '../../../src/serve/pages/layout.ts';
import { workersPage } from '../../../src/serve/pages/run.ts';
import { createWorkersSource } from '../../../src/serve/run-watch.ts';

const AT = Date.parse('2026-03-04T07:30:00Z');

const report = (pid: number, underWay: WorkerReport['underWay'] = []): WorkerReport => ({
  ...{ host: 'alpha', pid, visits: 1_200 * pid, visitsPerSecond: 12.5, bytesReceived: 4_096, rounds: 3 },
  ...{ inFlight: 2, waiting: 40, underWay },
});
const worker = (id: string, more: Partial<WorkerRow>): WorkerRow => ({
  ...{ id, since: AT - 3_600_000, heardAt: AT - 2_000, isAlive: true, report: null, fault: null, ...more },
});
const partition = (number: number, more: Partial<PartitionRow> = {}): PartitionRow => ({
  ...{ name: `crawl:00${number}`, holder: null, until: null, wantedAt: null, failures: 0, fault: null, resting: null },
  ...more,
});
const held = (by: string) => ({ holder: JSON.stringify({ host: 'alpha', pid: 1, worker: by }), until: AT + 21_000 });

const VIEW = workersView(
  'crawl',
  {
    at: AT,
    workers: [
      worker('w1', { report: report(1, [{ partition: 0, stage: 'fetch', urls: 200, done: 30 }]) }),
      worker('w2', { report: report(2) }),
      worker('w3', { report: report(3), isAlive: false, heardAt: AT - 95_000 }),
      worker('w4', { report: report(4), isAlive: false, fault: 'disk-full: no space on /data' }),
      worker('w5-has-told-nothing', {}),
    ],
    partitions: [
      partition(0, held('w1')),
      partition(1, { holder: '{"host":"beta","pid":9}', until: AT + 5_000 }),
      partition(2, { wantedAt: AT - 1 }),
      partition(3, { wantedAt: AT + 9_000, resting: { hosts: 3, urls: 120, next: 'a.example' } }),
      partition(4, { wantedAt: AT + 1_000, failures: 1, fault: 'internal: no' }),
      partition(5, { wantedAt: AT + 300_000, failures: 3, fault: 'db-corrupt: a row' }),
      partition(6),
    ],
  },
  new Map([
    ['crawl:000', 1_500],
    ['crawl:003', 120],
  ]),
);

describe('the workers of a shared crawl', () => {
  it('are told with what each holds, dead ones as dead, and each partition with what it waits for', () => {
    expect(workersLines(VIEW, PLAIN_STYLE).join('\n')).toMatchInlineSnapshot(`
      "crawl crawl · 3 workers, 1 dead, 1 failed · 25 pages/s · 1,620 due · 7 partitions: 2 held, 1 due, 1 resting, 1 retrying, 1 failed, 1 done

      worker    state     since (UTC)       heard         pages  pages/s  in flight  waiting  received  holds
      alpha/1   crawling  2026-03-04 06:30  2 s ago       1,200     12.5          2       40     4 KiB  000
      alpha/2   idle      2026-03-04 06:30  2 s ago       2,400     12.5          2       40     4 KiB  -
      alpha/3   dead      2026-03-04 06:30  1.58 min ago  3,600        0          0        0     4 KiB  -
      alpha/4   failed    2026-03-04 06:30  2 s ago       4,800        0          0        0     4 KiB  -
      w5-has-t  idle      2026-03-04 06:30  2 s ago           0        0          0        0       0 B  -
      alpha/4 ended at 07:29:58 by a fault of its own: disk-full: no space on /data

      partition  state     held by  lease    due  round            waits for
      000        held      alpha/1  21 s   1,500  fetch 30 of 200  -
      001        held      beta/9   5 s        -  -                -
      002        due       -        -          -  -                a worker
      003        resting   -        -        120  -                3 hosts at rest with 120 URLs: a.example in 9 s
      004        retrying  -        -          -  -                a try in 1 s after 1 failure: internal: no
      005        failed    -        -          -  -                a try in 5 min after 3 failures: db-corrupt: a row
      006        done      -        -          -  -                -"
    `);
    expect(livingOf(VIEW).map(({ worker: name }) => name)).toEqual(['alpha/1', 'alpha/2', 'w5-has-t']);
  });

  it('fit a terminal: partitions that need a look first, the rest counted', () => {
    const lines = workersLines(VIEW, { bold: (text) => text, width: 80 }, 3);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const text = lines.join('\n');
    for (const name of ['005', '004', '000', 'and 4 other partitions']) expect(text).toContain(name);
    expect(text).not.toContain('\n006');
  });

  it('are a page, a line on every page, and metrics', async () => {
    const activity = { state: 'running', run: null, schedule: null, workers: VIEW } as const;
    const page = String(layout({ title: 'Workers', dir: '/crawl', activity, content: workersPage(VIEW) }));
    expect(page).toContain(
      '3 workers hold 2 of 7 partitions: 25 pages a second. 2 died or failed within the last hour.',
    );
    expect(page).toContain('<strong class="bad">dead</strong>');
    expect(page).toContain('alpha/4 ended at 07:29:58 by a fault of its own: disk-full: no space on /data');
    expect(page).toContain('<a href="/workers">Workers</a>');
    const own = String(layout({ title: 'x', dir: '/crawl', activity: { ...activity, workers: null }, content: null }));
    expect(own).not.toContain('/workers');
    const metrics = await createMetrics().text({ activity, snapshot: null, rounds: [] });
    for (const line of [
      'incrawl_workers{state="dead"} 1',
      'incrawl_partitions{state="failed"} 1',
      'incrawl_partition_due_urls{partition="003"} 120',
      'incrawl_worker_pages_total{worker="alpha/2"} 2400',
    ]) {
      expect(metrics).toContain(`${line}\n`);
    }
    expect(metrics).not.toContain('incrawl_worker_pages_total{worker="alpha/3"}');
  });

  it('are read when somebody looks, once at a time; a server that is away leaves what was read, and says so', async () => {
    let now = 0;
    let reads = 0;
    let fault: Error | null = null;
    const read = async () => {
      reads++;
      if (fault !== null) throw fault;
      return VIEW;
    };
    const source = createWorkersSource({ read }, () => now);
    expect(source.last).toEqual({ view: null, fault: null });
    await Promise.all([source.get(2_000), source.get(2_000)]);
    expect([reads, source.last]).toEqual([1, { view: VIEW, fault: null }]);
    now = 2_000;
    fault = new Error('PostgreSQL does not answer');
    expect(await source.get(2_000)).toEqual({ view: VIEW, fault: 'PostgreSQL does not answer' });
    now = 5_000;
    await source.get(2_000);
    expect(reads).toBe(2);
    const silent = createWorkersSource({ read: () => new Promise(() => {}) }, () => now, 10);
    expect(await silent.get(2_000)).toEqual({ view: null, fault: null });
    expect(await createWorkersSource(null, () => now).get(0)).toEqual({ view: null, fault: null });
  });
});
