import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../adapters/postgres/postgres-server.ts';
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
    expect(JSON.parse(top.stdout)).toMatchObject({ run: { command: 'work', pid: worker.child.pid } });
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
    await prepare(['import-db', '-', ...moved], { input: (await run(['export-db', ...within(dir)])).stdout });
    const forecasts = (): Promise<unknown[]> =>
      Promise.all([moved, within(dir)].map(async (where) => shapeOf(await json(['plan', '--days', '400', ...where]))));
    const isForecastEqual = async (): Promise<boolean> => {
      const [one, spread] = await forecasts();
      return isDeepStrictEqual(one, spread);
    };
    await expect.poll(isForecastEqual, { timeout: 60_000, interval: 100 }).toBe(true);
    const [origin = ''] = place.hosts.origins;
    const explained = await run(['explain', `${origin}/page/1`, ...within(dir)]);
    const alone = await run(['explain', `${origin}/page/1`, ...own]);
    expect(withoutTimes(explained.stdout)).toBe(withoutTimes(alone.stdout));
    expect(await json(['verify', ...within(dir)])).toMatchObject({ sound: true, rows: { records: URLS } });
  });
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
