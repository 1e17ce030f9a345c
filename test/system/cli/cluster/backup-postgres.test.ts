import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, programOf, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace, URLS } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

function program(name: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(programOf(name), args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  expect([name, status, stderr]).toEqual([name, 0, '']);
  return stdout;
}

describe.skipIf(NO_POSTGRES !== null)(`a dump of PostgreSQL, taken beside the workers of a crawl${SKIPPED}`, () => {
  const place = spreadPlace(startPostgres);
  const within = (dir: string, url: string): string[] => spreadAt(dir, url, 'dumped');
  const pagesOf = async (where: readonly string[]): Promise<readonly unknown[]> =>
    (await prepare(['readdb', '--dump', '--format', 'jsonl', ...where])).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { url, state, depth, httpStatus, title, digest, signature, target } = JSON.parse(line);
        return { url, state, depth, httpStatus, title, digest, signature, target };
      });

  it('is a crawl that goes on from there, and ends as the first one did', { timeout: 180_000 }, async () => {
    const dir = join(workDir(), 'crawl');
    const workers = [place.seeds(), null].map((file) =>
      start(['work', ...(file === null ? [] : [file]), ...within(dir, place.url), ...NETWORK]),
    );
    await place.hosts.seen(30);
    const dump = program('pg_dump', place.url);
    expect(place.hosts.asked.length).toBeLessThan(URLS);
    for (const { finished } of workers) expect(await finished).toMatchObject({ code: 0, stderr: '' });
    const first = await pagesOf(within(dir, place.url));
    expect(first).toHaveLength(URLS);

    const restored = new URL(place.url);
    restored.pathname = '/restored';
    const file = join(workDir(), 'dump.sql');
    writeFileSync(file, dump);
    program('psql', place.url, '--quiet', '--command', 'CREATE DATABASE restored');
    program('psql', restored.href, '--quiet', '--set', 'ON_ERROR_STOP=1', '--file', file);
    const where = within(dir, restored.href);
    const before = await pagesOf(where);
    expect(before).not.toEqual(first);
    expect(await start(['work', ...where, ...NETWORK]).finished).toMatchObject({ code: 0, stderr: '' });
    expect(await pagesOf(where)).toEqual(first);
    expect(await json(['state', 'verify', ...where])).toMatchObject({
      sound: true,
      rows: { records: URLS, leases: 0 },
    });
    expect(place.hosts.overlaps).toEqual([]);
  });
});
