import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChangeView } from '../../../src/crawler/index.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import { changeOf } from '../../contracts/crawl-db-exam.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const HOUR = 3_600_000;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const url = (i: number): string => `https://a.example/${i}`;
let cwd = '';

/** A hundred entries, half of them of last week, the oldest ten not kept. */
beforeAll(async () => {
  cwd = workDir();
  const db = await openLevelCrawlDb({ dir: join(cwd, 'crawldb', 'db'), log });
  const now = Date.now();
  for (const [ago, from] of [
    [170 * HOUR, 1],
    [2 * HOUR, 51],
  ] as const) {
    const changes = Array.from({ length: 50 }, (_, i) => changeOf(url(from + i), { distance: i % 10 }));
    changes[3] = changeOf(url(from + 3), { kind: 'moved', distance: null, target: 'https://b.example/\u001b[31mred' });
    await db.write({ feed: { add: { notedAt: now - ago, changes } } });
  }
  await db.write({ feed: { trimThrough: 10 } });
  await db.close();
});

describe('incrawl changes', () => {
  it('shows the newest fifty without --since, as a table and as JSON', async () => {
    const newest = await json<ChangeView[]>(['changes'], { cwd });
    expect(newest.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => 51 + i));
    const { stdout } = await run(['changes', '--limit', '47'], { cwd });
    expect(stdout).toContain('-> https://b.example/\\x1b[31mred');
    expect(stdout.trim().split('\n')).toHaveLength(48);
  });

  it('since a time, since a number', async () => {
    const csv = await run(['changes', '--since', 'yesterday', '--min-distance', '9', '--format', 'csv'], { cwd });
    expect(csv.stdout.trim().split('\n')).toHaveLength(1 + 5 + 1);
    const lines = await run(['changes', '--since', '98', '--format', 'jsonl'], { cwd });
    expect(lines.stdout.trim().split('\n')).toHaveLength(2);
    expect(JSON.parse(lines.stdout.split('\n')[0]!)).toMatchObject({ seq: 99, url: url(99), kind: 'modified' });
  });

  it('says what is missing', async () => {
    const missed = await run(['changes', '--since', '4', '--kind', 'moved,gone', '--json'], { cwd });
    expect(missed.stderr).toContain('6 entries after 4 are no longer kept');
    expect(JSON.parse(missed.stdout)).toHaveLength(1);
    expect((await run(['changes', '--since', '101'], { cwd })).stderr).toContain('ends at 100');
  });

  it.each([
    [['--since', 'tomorrow'], 'Expected yesterday'],
    [['--since', '2026-02-30'], 'Expected yesterday'],
    [['--kind', 'modifid'], 'Did you mean modified?'],
  ])('refuses %j', async (words, message) => {
    expect(await run(['changes', ...words], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});
