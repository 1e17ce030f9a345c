import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, type Running, run, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace, URLS } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

interface Change {
  readonly url: string;
  readonly seq: number;
  readonly partition: string;
}

describe.skipIf(NO_POSTGRES !== null)(`a spread crawl, while its workers run${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());
  const within = (dir: string): string[] => spreadAt(dir, place.url, 'live');

  it('is followed with a cursor, each change once, and answers as one crawl db does', {
    timeout: 180_000,
  }, async () => {
    const own = ['--dir', join(workDir(), 'own')];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    const before = place.hosts.asked.length;

    const dir = join(workDir(), 'spread');
    const cursor = join(workDir(), 'cursor.txt');
    const worker = start(['work', place.seeds(), ...within(dir), ...NETWORK]);
    await place.hosts.seen(before + 10);
    const follow = ['changes', '--follow', '--since', '1h', '--cursor', cursor, '--json', ...within(dir)];
    const first = start(follow);
    const seen = linesOf(first);
    const top = await run(['top', '--json', ...within(dir)]);
    expect(JSON.parse(top.stdout)).toMatchObject({
      run: { command: 'work', pid: worker.child.pid },
      workers: { crawl: 'live', workers: [{ pid: worker.child.pid, state: expect.stringMatching(/crawling|idle/) }] },
    });
    // The reader ends amid the crawl, and another one goes on with its cursor.
    while (seen.lines.length === 0) await delay(20);
    first.child.kill('SIGTERM');
    expect((await first.finished).code).toBe(0);
    const second = start(follow);
    const more = linesOf(second);
    expect(await worker.finished).toMatchObject({ code: 0, stderr: '' });
    const expected = (await json<Change[]>(['changes', '--since', '1h', ...own])).map(({ url }) => url).sort();
    while (seen.lines.length + more.lines.length < expected.length) await delay(50);
    await delay(3_000);
    second.child.kill('SIGTERM');
    await second.finished;
    const changes = [...seen.lines, ...more.lines].map((line) => JSON.parse(line) as Change);
    expect(changes.map(({ url }) => url).sort()).toEqual(expected);
    expect(new Set(changes.map(({ partition, seq }) => `${partition}:${seq}`)).size).toBe(changes.length);
    expect(new Set(changes.map(({ partition }) => partition)).size).toBeGreaterThan(1);
    expect(readFileSync(cursor, 'utf8')).toMatch(/^v4(\.[0-9a-z]+){4}\n$/);
    expect((await run(['changes', '--cursor', cursor, '--format', 'jsonl', ...within(dir)])).stdout).toBe('');

    for (const command of [
      ['readdb', '--stats'],
      ['readdb', '--hosts'],
      ['readdb', '--by', 'host'],
      ['readdb', '--where', 'state = gone'],
      ['readdb', '--where', 'depth = 1', '--sort', 'url', '--limit', '7'],
    ]) {
      const answers = [own, within(dir)].map((where) => json<object>([...command, ...where]));
      const [alone, spread] = (await Promise.all(answers)).map(shapeOf);
      expect(spread, command.join(' ')).toEqual(alone);
    }
    // A forecast counts visits by the time to come: the same ones in one crawl db, asked for at nearly the same moment.
    const moved = ['--dir', join(workDir(), 'moved')];
    await prepare(['db', 'import', '-', ...moved], { input: (await run(['db', 'export', ...within(dir)])).stdout });
    const forecasts = (): Promise<unknown[]> =>
      Promise.all(
        [moved, within(dir)].map(async (where) => shapeOf(await json(['forecast', 'plan', '--days', '400', ...where]))),
      );
    const isForecastEqual = async (): Promise<boolean> => {
      const [one, spread] = await forecasts();
      return isDeepStrictEqual(one, spread);
    };
    await expect.poll(isForecastEqual, { timeout: 60_000, interval: 100 }).toBe(true);
    const [origin = ''] = place.hosts.origins;
    const explained = await run(['explain', `${origin}/page/1`, ...within(dir)]);
    const alone = await run(['explain', `${origin}/page/1`, ...own]);
    expect(withoutTimes(explained.stdout)).toBe(withoutTimes(alone.stdout));
    expect(await json(['state', 'verify', ...within(dir)])).toMatchObject({ sound: true, rows: { records: URLS } });
  });
});

interface Top {
  readonly run: object | null;
  readonly workers: {
    readonly workers: readonly { readonly pid: number; readonly state: string; readonly fault: string | null }[];
    readonly partitions: readonly { readonly holder: string | null }[];
  };
}

describe.skipIf(NO_POSTGRES !== null)(`the workers of a spread crawl, from anywhere${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());

  it('are shown by top and serve: those that work, one that was killed, one that ended by its own fault', async () => {
    const dir = join(workDir(), 'watched');
    const at = (folder: string): string[] => [...spreadAt(folder, place.url, 'watched'), '-D', 'cluster.lease=6s'];
    const within = at(dir);
    // A machine that has no part in the crawl, but reaches the server.
    const elsewhere = at(workDir());
    expect(await run(['top', ...elsewhere])).toMatchObject({ code: 1, stdout: '' });
    const stays = ['work', '--daemon', ...within, ...NETWORK];
    const workers = [start([...stays, place.seeds()]), start(stays)];
    const seen = async (): Promise<Top> => JSON.parse((await run(['top', '--json', ...elsewhere])).stdout) as Top;
    const statesOf = ({ workers: view }: Top): Record<string, string> =>
      Object.fromEntries(view?.workers.map(({ pid, state }) => [pid, state]) ?? []);
    const [one, other] = workers.map(({ child }) => String(child.pid));
    await expect.poll(async () => Object.keys(statesOf(await seen())), { timeout: 60_000 }).toEqual([one, other]);
    expect((await seen()).run).toBeNull();

    const view = start(['serve', '--port', '0', '--json', ...elsewhere]);
    const { lines } = linesOf(view);
    await expect.poll(() => lines.length, { timeout: 30_000 }).toBe(1);
    const { url } = JSON.parse(lines[0] as string) as { url: string };
    const textOf = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
    expect(await textOf('workers')).toContain(`/${one}</td>`);
    expect(JSON.parse(await textOf('healthz'))).toMatchObject({ crawl: 'running', workers: 2, failedPartitions: 0 });

    workers[1]?.child.kill('SIGKILL');
    await expect
      .poll(async () => statesOf(await seen())[other as string], { timeout: 30_000, interval: 500 })
      .toBe('dead');
    // One that may not ask a public host ends, and says why; the other one goes on.
    const alone = ['work', ...within, '--quiet', '-D', 'agent.contact='];
    const seeds = join(workDir(), 'public.txt');
    writeFileSync(seeds, 'https://example.org/\n');
    workers[0]?.child.kill('SIGTERM');
    await workers[0]?.finished;
    const faulty = await run([...alone, seeds]);
    expect([faulty.code, faulty.stderr]).toEqual([2, expect.stringContaining('agent.contact')]);
    const { workers: ended } = (await seen()).workers;
    expect(ended.find(({ state }) => state === 'failed')?.fault).toMatch(/^contact-missing: /);
    await expect.poll(() => textOf('metrics'), { timeout: 20_000, interval: 500 }).toMatch(/workers{state="failed"} 1/);
    view.child.kill('SIGTERM');
    await view.finished;
  }, 180_000);
});

/** An answer without times, sizes of intervals and what each crawl measures for itself. */
function shapeOf(answer: unknown): unknown {
  const text = JSON.stringify(answer, (key, value) =>
    /(?:At|Ms|intervals?|delay|day|from|traffic|latencyP\d+)$/i.test(key) ? 0 : value,
  );
  return JSON.parse(text);
}

const withoutTimes = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\d[T ]?[\d:.]*Z?|\b\d+(\.\d+)? ?(ms|s|minutes?|hours?|days?)\b/g, '');

/** Whole lines of stdout, as they come. */
function linesOf({ child }: Running): { readonly lines: readonly string[] } {
  const read = { lines: [] as string[] };
  let rest = '';
  child.stdout?.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    read.lines.push(...parts);
  });
  return read;
}
