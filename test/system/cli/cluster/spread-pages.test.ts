import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PruneSummary } from '../../../../src/crawler/views.ts';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { run, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe.skipIf(NO_POSTGRES !== null)(`commands on all pages of a spread crawl${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());
  let farm: Server[] = [];
  let own: readonly string[];
  let where: readonly string[];
  beforeAll(async () => {
    farm = await startFarm(6);
    const seeds = join(workDir(), 'farm.txt');
    const lines = farm.map((each) => `http://127.0.0.1:${(each.address() as AddressInfo).port}/`);
    writeFileSync(seeds, `${lines.join('\n')}\n`);
    own = ['--dir', join(workDir(), 'own')];
    where = spreadAt(join(workDir(), 'spread'), place.url, 'pages');
    await prepare(['crawl', seeds, ...own, ...NETWORK]);
    await prepare(['work', seeds, ...where, ...NETWORK]);
  }, 240_000);
  afterAll(() => {
    for (const each of farm) each.close();
  });

  /** What the records say, one a line. */
  async function recordsOf(at: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...at]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { url, state, target, title, signature } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return `${url} ${state} ${target} ${title} ${signature}`;
    });
  }
  const worked = async (): Promise<void> => void (await prepare(['work', ...where, ...NETWORK]));
  const requireSound = async (): Promise<void> =>
    expect(await json(['state', 'verify', ...where])).toMatchObject({ sound: true });

  it('dedup marks copies on sites of several partitions, as on one crawl db, whoever dies over it', async () => {
    // Times and scores of two crawls differ.
    const dedup = ['dedup', '--scope', 'all', '--prefer', 'shortest'];
    const before = await recordsOf(where);
    expect(before).toEqual(await recordsOf(own));
    const { list: _, ...dry } = await json([...dedup, '--dry-run', ...own]);
    expect(dry).toMatchObject({ duplicates: expect.any(Number) });
    expect((dry as { duplicates: number }).duplicates).toBeGreaterThan(10);
    const { list: __, ...spread } = await json([...dedup, '--dry-run', ...where]);
    expect(spread).toEqual(dry);
    expect(await recordsOf(where)).toEqual(before);

    await prepare([...dedup, ...own]);
    const sent = await run([...dedup, ...where]);
    expect([sent.code, sent.stderr]).toEqual([
      0,
      expect.stringMatching(/^Sent to \d partitions: workers carry it out/m),
    ]);
    expect(await recordsOf(where)).toEqual(before);
    const victim = start(['work', ...where, ...NETWORK]);
    await expect
      .poll(async () => (await recordsOf(where)).join('\n'), { interval: 5, timeout: 60_000 })
      .not.toBe(before.join('\n'));
    victim.child.kill('SIGKILL');
    await victim.finished;
    await worked();
    expect(await recordsOf(where)).toEqual(await recordsOf(own));
    expect(await json([...dedup, ...where])).toMatchObject({ marked: 0, restored: 0 });
    await requireSound();

    expect(await json(['dedup', '--undo', ...where])).toMatchObject({ restored: (dry as { marked: number }).marked });
    await worked();
    expect(await recordsOf(where)).toEqual(before);
    await prepare(['dedup', '--undo', ...own]);
  }, 240_000);

  it('reparse brings new parse output to all partitions, beside a worker, and after it was killed', async () => {
    const changed = ['-D', 'parse.signature=digest'];
    const before = await recordsOf(where);
    const ofOwn = await json(['reparse', ...own, ...changed]);
    expect(ofOwn).toMatchObject({ failed: 0 });
    const { examples: _, ...dry } = await json(['reparse', '--dry-run', ...where, ...changed]);
    const { examples: __, ...whole } = ofOwn as { examples: unknown };
    expect(dry).toEqual({ ...whole, dryRun: true });
    expect(await recordsOf(where)).toEqual(before);

    const daemon = start(['work', '--daemon', ...where, ...NETWORK, ...changed]);
    const victim = start(['reparse', ...where, ...changed]);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    victim.child.kill('SIGKILL');
    await victim.finished;
    const { selected, notStored, failed } = await json<{ selected: number; notStored: number; failed: number }>([
      ...['reparse', ...where, ...changed],
    ]);
    expect({ selected, notStored, failed }).toEqual({
      selected: (whole as { selected: number }).selected,
      notStored: 0,
      failed: 0,
    });
    daemon.child.kill('SIGTERM');
    expect((await daemon.finished).code).toBe(11);
    expect(await json(['reparse', ...where, ...changed])).toMatchObject({ differing: 0 });
    await worked();
    expect(await recordsOf(where)).toEqual(await recordsOf(own));
    await requireSound();
  }, 240_000);

  it('duplicates families finds the noise of all pages, keeps it in all partitions, and takes it back', async () => {
    const lines = async (at: readonly string[]): Promise<readonly string[]> =>
      (await prepare(['duplicates', 'families', '--format', 'tsv', ...at])).stdout.split('\n').sort();
    expect(await lines(where)).toEqual(await lines(own));
    const applied = await json(['duplicates', 'families', '--apply', ...own]);
    expect(await json(['duplicates', 'families', '--apply', '--dry-run', ...where])).toMatchObject(applied);
    expect(await json(['duplicates', 'families', '--applied', ...where])).toEqual([]);
    expect(await json(['duplicates', 'families', '--apply', ...where])).toEqual(applied);
    const kept = async (at: readonly string[]): Promise<readonly unknown[]> =>
      (await json<readonly { appliedAt: string }[]>(['duplicates', 'families', '--applied', ...at])).map(
        ({ appliedAt: _, ...row }) => row,
      );
    expect(await kept(where)).toEqual(await kept(own));
    const undone = await json(['duplicates', 'families', '--undo', ...own]);
    expect(await json(['duplicates', 'families', '--undo', ...where])).toEqual(undone);
    expect(await kept(where)).toEqual([]);
    await requireSound();
  }, 240_000);

  it('state prune removes what no page needs from all partitions, beside a worker, and keeps what exports read', async () => {
    await prepare(['due', 'touch', '--all', ...where]);
    await worked();
    const exported = async (): Promise<readonly string[]> =>
      (await prepare(['export', '--format', 'jsonl', ...where])).stdout.split('\n').sort();
    const before = await exported();
    const prune = ['state', 'prune', '--keep-days', '0', ...where];
    const dry = await json<PruneSummary>([...prune, '--dry-run']);
    // The hosts' ports decide how many of the partitions have pages.
    const partitions = [...new Set(dry.segments.map(({ id }) => id.slice(0, 4)))];
    expect(partitions.length).toBeGreaterThan(1);
    expect(dry.removed).toBeGreaterThanOrEqual(partitions.length);

    const daemon = start(['work', '--daemon', ...where, ...NETWORK]);
    const seen = async (): Promise<string> => (await run(['top', '--json', ...where])).stdout;
    await expect.poll(seen, { timeout: 60_000 }).toContain(`"pid":${daemon.child.pid}`);
    const pruned = await json<PruneSummary>(prune);
    daemon.child.kill('SIGTERM');
    expect((await daemon.finished).code).toBe(11);
    expect(pruned).toEqual({ ...dry, dryRun: false });
    expect(await exported()).toEqual(before);
    expect(await json<PruneSummary>(prune)).toMatchObject({ removed: 0 });
    await requireSound();

    // Killed half way, it leaves what exports read, and goes on when it is run again.
    await prepare(['due', 'touch', '--all', ...where]);
    await worked();
    const again = await exported();
    const victim = start(prune);
    await new Promise((resolve) => setTimeout(resolve, 700));
    victim.child.kill('SIGKILL');
    await victim.finished;
    expect(await exported()).toEqual(again);
    await prepare(prune);
    expect(await json<PruneSummary>(prune)).toMatchObject({ removed: 0 });
    expect(await exported()).toEqual(again);
    await requireSound();
  }, 240_000);
});

/** Hosts with copies of the same articles, a page of their own each, and a trap of links that bring nothing. */
async function startFarm(count: number): Promise<Server[]> {
  const servers: Server[] = [];
  const origins: string[] = [];
  for (let i = 0; i < count; i++) {
    const server = createServer((request, response) => {
      const path = request.url ?? '/';
      if (path === '/robots.txt') return void response.writeHead(404).end();
      response.setHeader('content-type', 'text/html');
      const article = /^\/article\/(\d)$/.exec(path)?.[1];
      const words = (seed: string): string =>
        Array.from({ length: 120 }, (_, n) => `w${(n * n * (seed.charCodeAt(0) + 3) + seed.length * n) % 977}`).join(
          ' ',
        );
      const next = origins[(i + 1) % count] as string;
      const links = path === '/' ? [1, 2, 3, 4, 5].map((n) => `/article/${n}`).concat(`${next}/own`) : [];
      const text = article === undefined ? words(`${path}${i}`.repeat(i + 1)) : words(article);
      response.end(
        `<html lang="en"><title>${path}</title><p>${text}</p>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</html>`,
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return servers;
}
