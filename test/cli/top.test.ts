import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, run, start, workDir } from './binary.ts';
import { type LocalSite, startSite } from './local-site.ts';

let site: LocalSite;
beforeAll(async () => {
  site = await startSite({ pages: 12, answerAfterMs: 100 });
});
afterAll(() => site.close());

describe('top', () => {
  it('shows a crawl that runs, and leaves by code 1 when nothing does', async () => {
    const dir = workDir();
    expect(await run(['top', '--dir', dir])).toMatchObject({ code: 1, stderr: expect.stringContaining('No crawl') });
    const crawl = start(['crawl', `${site.origin}/`, '--dir', dir, '--allow', '127.0.0.1', '--delay', '0', '--json']);
    await site.seen(3);
    const seen = await json<{ run: { pid: number; progress: { urls: number } }; schedule: unknown }>([
      'top',
      '--dir',
      dir,
    ]);
    expect(seen).toMatchObject({ run: { version: 1, pid: crawl.child.pid, command: 'crawl' }, schedule: null });
    expect((await run(['top', '--once', '--dir', dir])).stdout).toMatch(/^crawl · process \d+ · for .+\nround \d/);
    const { stdout } = await crawl.finished;
    expect(await json(['top', '--dir', dir], { code: 1 })).toEqual({ run: null, schedule: null });

    const summary = JSON.parse(stdout) as { rounds: { requests: number }[] };
    const kept = readFileSync(join(dir, 'reports', 'rounds.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const rounds = kept.map((line) => JSON.parse(line) as { requests: number; urls: number; sample: object | null });
    expect(rounds.map(({ requests }) => requests)).toEqual(summary.rounds.map(({ requests }) => requests));
    expect(rounds.at(-1)).toMatchObject({ version: 1, urls: 16, byStatus: { fetched: 13 }, hosts: 1, sample: null });
    expect(rounds[0]?.sample).toMatchObject({ due: expect.any(Number) });
  });
});
