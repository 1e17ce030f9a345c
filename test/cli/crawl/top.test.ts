import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';

const gate = createGate();
let site: Server;
let origin: string;
beforeAll(async () => {
  site = createServer((asked, answer) => {
    if (asked.url === '/robots.txt' || asked.url === '/sitemap.xml') return void answer.writeHead(404).end();
    answer.setHeader('content-type', 'text/html');
    const links = [1, 2, 3, 4].map((i) => `<a href="/${i}">${i}</a>`).join(' ');
    gate.pass(() => answer.end(`<title>${asked.url}</title><p>Page ${asked.url} of a small site.</p>${links}`));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

/** The output of `top` once a page of the second round is done. */
async function seenIn(dir: string): Promise<{ run: { progress: { round: number; done: number } | null } | null }> {
  const { stdout } = await run(['top', '--json', '--dir', dir]);
  const reported = JSON.parse(stdout) as Awaited<ReturnType<typeof seenIn>>;
  const progress = reported.run?.progress;
  return progress?.round === 2 && progress.done > 0 ? reported : seenIn(dir);
}

describe('top', () => {
  it('shows a running crawl, and ends with code 1 when none runs', async () => {
    const dir = workDir();
    expect(await run(['top', '--dir', dir])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Neither a crawl nor a scheduler'),
    });
    gate.closeAfter(2);
    const crawl = start(['crawl', `${origin}/`, '--dir', dir, '--allow', '127.0.0.1', '--delay', '0', '--json']);
    expect(await seenIn(dir)).toMatchObject({
      run: { version: 1, pid: process.pid, command: 'crawl', roundsDone: 1, totals: { requests: 1, new: 1 } },
      schedule: null,
    });
    expect((await run(['top', '--once', '--dir', dir])).stdout).toMatch(
      /^crawl · process \d+ · running for .+\nround \d/,
    );
    gate.open();
    const { stdout } = await crawl.finished;
    expect(await json(['top', '--dir', dir], { code: 1 })).toEqual({ run: null, schedule: null, workers: null });

    const summary = JSON.parse(stdout) as { rounds: { requests: number }[] };
    const kept = readFileSync(join(dir, 'reports', 'rounds.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const rounds = kept.map((line) => JSON.parse(line) as { requests: number; urls: number; sample: object | null });
    expect(rounds.map(({ requests }) => requests)).toEqual(summary.rounds.map(({ requests }) => requests));
    expect(rounds.at(-1)).toMatchObject({
      version: 1,
      urls: 5,
      byStatus: { fetched: 5 },
      hosts: 1,
      sample: { due: 0, fresh: expect.any(Number) },
    });
    expect(rounds[0]?.sample).toMatchObject({ due: expect.any(Number) });
  });

  it('shows a scheduler between its runs', async () => {
    const dir = workDir();
    const scheduler = start(['schedule', '--every', '1h', '--dir', dir]);
    // The second one comes after its first run.
    await scheduler.saying(/(?:"next run"[\s\S]*){2}/);
    expect(await json(['top', '--dir', dir])).toMatchObject({
      schedule: { state: 'waiting', runs: 1, timetable: 'every 1h' },
    });
    expect((await run(['top', '--dir', dir])).stdout).toMatch(/state +waiting/);
    scheduler.stop();
    const { code, stderr } = await scheduler.finished;
    expect([code, stderr]).toEqual([0, expect.stringContaining(`the crawl db in ${dir} is empty`)]);
  });
});
