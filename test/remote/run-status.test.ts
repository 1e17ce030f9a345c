import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CrawlProgress, RoundSummary } from '../../src/crawler/index.ts';
import { announceRun, askRun, followRun, runPath } from '../../src/remote/run-status/announce.ts';
import type { RunStatus } from '../../src/remote/run-status/run-status.ts';
import { topLines } from '../../src/remote/run-status/run-text.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-run-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const progressOf = (done: number): CrawlProgress => ({
  round: 1,
  stage: 'fetch',
  segment: 's',
  urls: 10,
  done,
  inFlight: 1,
  waiting: 2,
  parsing: 0,
  pagesPerSecond: 3,
  bytesReceived: 4,
  bytesSaved: 5,
  busiest: [{ host: 'a\u001b[31m.test', waiting: 1, running: 1 }],
});
const ROUND = {
  round: 1,
  segment: 's',
  generated: 10,
  fetched: 6,
  notModified: 1,
  skippedByHeaders: 2,
  unchanged: 1,
  modified: 2,
  new: 4,
  gone: 0,
  redirected: 0,
  followed: 0,
  failed: 0,
  partial: 0,
  robotsDenied: 0,
  requests: 10,
  bytesReceived: 100,
  bodyBytes: 90,
  outlinks: 3,
  newUrls: 1,
  filteredBy: {},
  demotedBy: {},
  failures: [],
  layers: [],
  hosts: { busiest: [], failing: [] },
  meanDistance: null,
  duplicates: 0,
  restored: 0,
  ms: 1_000,
  cpuMs: 100,
} satisfies RoundSummary;

const announced = (dir: string, everyMs = 5) =>
  announceRun({ dir, command: 'crawl', pid: 7, log: silent, now: () => 1_000, everyMs });

describe('a run that is announced', () => {
  it('of two workers one is shown, and the other one when that has ended', async () => {
    const dir = mkdtempSync(join(root, 'work-'));
    const options = { dir, command: 'work', log: silent, takeOverMs: 20 } as const;
    const [first, second] = [await announceRun({ ...options, pid: 1 }), await announceRun({ ...options, pid: 2 })];
    second.progress(progressOf(7));
    expect(await askRun(runPath(dir))).toMatchObject({ pid: 1, command: 'work' });
    await first.close();
    await expect.poll(() => askRun(runPath(dir)), { timeout: 30_000 }).toMatchObject({ pid: 2, progress: { done: 7 } });
    await second.close();
    expect(await askRun(runPath(dir))).toBeNull();
  });

  it('of a worker that asks again before it had its answer nothing is left at its end', async () => {
    const dir = mkdtempSync(join(root, 'work-'));
    const options = { dir, command: 'work', log: silent, takeOverMs: 1 } as const;
    for (let i = 0; i < 10; i += 1) {
      const [first, second] = [await announceRun({ ...options, pid: 1 }), await announceRun({ ...options, pid: 2 })];
      await first.close();
      await expect.poll(() => askRun(runPath(dir)), { timeout: 30_000, interval: 1 }).toMatchObject({ pid: 2 });
      await second.close();
      expect(await askRun(runPath(dir))).toBeNull();
    }
  });

  it('is sent at once, on change, and at the end, to all listeners', async () => {
    const dir = mkdtempSync(join(root, 'dir-'));
    const run = await announced(dir);
    run.progress(progressOf(1));
    const heard: RunStatus[] = [];
    let first: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => {
      first = resolve;
    });
    const followers = [1, 2].map(() =>
      followRun(runPath(dir), (status) => {
        heard.push(status);
        first?.();
      }),
    );
    await begun;
    expect(await askRun(runPath(dir))).toMatchObject({ pid: 7, progress: { done: 1 }, roundsDone: 0 });
    run.progress(progressOf(9));
    run.round(ROUND);
    await run.close();
    expect(await Promise.all(followers)).toEqual([true, true]);
    expect(heard.at(-1)).toMatchObject({
      progress: { done: 9 },
      roundsDone: 1,
      totals: { requests: 10, unchanged: 4, modified: 2 },
    });
    expect(heard.at(-1)?.rounds[0]).not.toHaveProperty('filteredBy');
    expect(await askRun(runPath(dir))).toBeNull();
  });

  it('can be connected to by its owner only, and does not wait for one who never reads', async () => {
    const dir = mkdtempSync(join(root, 'dir-'));
    const run = await announced(dir);
    if (process.platform !== 'win32') expect(statSync(runPath(dir)).mode & 0o077).toBe(0);
    const deaf = connect(runPath(dir)).pause();
    await once(deaf, 'connect');
    await run.close();
    deaf.destroy();
  });

  it('goes on without a socket where none can be opened', async () => {
    const warnings: string[] = [];
    const log = { ...silent, warn: (text: string) => void warnings.push(text) };
    const file = join(root, 'a-file');
    writeFileSync(file, '');
    const run = await announceRun({ dir: file, command: 'crawl', pid: 7, log });
    run.progress(progressOf(1));
    await run.close();
    expect(warnings).toEqual([expect.stringContaining('cannot show this run')]);
  });

  it('is drawn within the width, without what a terminal obeys', async () => {
    const dir = mkdtempSync(join(root, 'dir-'));
    const run = await announced(dir);
    run.progress(progressOf(1));
    run.round(ROUND);
    const status = (await askRun(runPath(dir))) as RunStatus;
    await run.close();
    for (const width of [20, 80]) {
      for (const line of topLines(status, width, (text) => text)) expect(line.length).toBeLessThanOrEqual(width);
    }
    for (const width of [40, 60, 80]) {
      const shown = topLines(status, width, (text) => text).join('\n');
      expect(shown).toMatch(/running for \S+ (?:ms|s|min)(?:$| ·)/m);
      for (const sum of ['10 requests', '4 new', '2 changed', '4 unchanged']) expect(shown).toMatch(wholly(sum));
    }
    const lines = topLines(status, 200, (text) => text);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines).toEqual(
      expect.arrayContaining([expect.stringContaining('total: 10 requests · 4 new · 2 changed · 4 unchanged')]),
    );
  });
});

/** A part of a line, with nothing cut off before or behind it. */
const wholly = (part: string): RegExp => new RegExp(`(?:^ *|· |total: )${part}(?:$| ·)`, 'm');
