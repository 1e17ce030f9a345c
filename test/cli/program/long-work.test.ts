import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { openCrawler, type WorkProgress } from '../../../src/crawler/index.ts';
import { createLive } from '../../../src/render/live/live.ts';
import { NO_LIVE, type WorkShown } from '../../../src/render/live/no-live.ts';
import { workLine } from '../../../src/render/live/progress.ts';
import { slowWork } from '../../../src/render/live/slow-work.ts';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

describe('long work', () => {
  const shown: (WorkShown | null)[] = [];
  const live = { ...NO_LIVE, work: (work: WorkShown | null) => void shown.push(work) };
  const at = async (work: ReturnType<typeof slowWork>, done: number): Promise<void> => {
    work.onWork({ work: 'reading records', done, total: 10_000 });
    // The display opens meanwhile.
    await null;
  };

  it('is shown after a second, with its speed, and again a second after output', async () => {
    let now = 5_000;
    let opened = 0;
    const work = slowWork(
      async () => {
        opened++;
        return live;
      },
      () => now,
    );
    await at(work, 0);
    now += 999;
    await at(work, 1_000);
    expect(opened).toBe(0);
    now += 1;
    await at(work, 2_000);
    now += 1_000;
    await at(work, 4_000);
    expect(shown).toEqual([{ work: 'reading records', done: 4_000, total: 10_000, perSecond: 2_000 }]);
    work.hide();
    await at(work, 5_000);
    expect(shown.splice(0)).toEqual([expect.objectContaining({ done: 4_000 }), null]);
    now += 1_000;
    await at(work, 6_000);
    work.onWork({ work: 'reading the due index', done: 10, total: null });
    expect([opened, ...shown]).toEqual([
      1,
      expect.objectContaining({ done: 6_000, perSecond: 2_000 }),
      { work: 'reading the due index', done: 10, total: null, perSecond: null },
    ]);
  });

  it('is one line that fits the terminal and cuts no number', () => {
    const work = { work: 'reading records', done: 1_234_567, total: 2_000_000, perSecond: 45_678.9 };
    const full = 'reading records · 61 % · 1,234,567 of 2,000,000 · 45,679 a second';
    expect(workLine(work, 80)).toBe(full);
    for (let width = 15; width <= full.length; width++) {
      const line = workLine(work, width);
      expect(full.startsWith(line) && line.length <= width, line).toBe(true);
      expect(full.slice(line.length)).toMatch(/^(?: · |$)/);
    }
    expect(workLine({ ...work, total: null, perSecond: null }, 80)).toBe('reading records · 1,234,567');
  });

  it('is drawn below the progress of a crawl, and gone once it is quiet', async () => {
    let written = '';
    const terminal = { isTTY: true, columns: 60, rows: 20, write: (text: string) => (written += text) };
    let now = 0;
    const drawn = await createLive({
      terminal: terminal as unknown as NodeJS.WriteStream,
      record: () => {},
      now: () => now,
    });
    const frame = (): string => {
      const text = stripVTControlCharacters(written);
      written = '';
      return text;
    };
    now = 1_000;
    drawn.work({ work: 'adding seeds', done: 1_000, total: null, perSecond: 500 });
    expect(frame()).toBe('adding seeds · 1,000 · 500 a second\n');
    drawn.work(null);
    drawn.around(() => {});
    expect(frame()).toBe('');
  });
});

describe.each([
  ['on a terminal', 80, []],
  ['under --quiet', 80, ['--quiet']],
  ['without a terminal', undefined, []],
] as const)('db import %s', (where, columns, options) => {
  const isShown = where === 'on a terminal';
  it(`${isShown ? 'shows' : 'does not show'} how far it is`, async () => {
    const clock = clockByHand();
    let isSaid = false;
    /** Takes ten seconds in all, so that a line appears, and goes on until it does. */
    async function* rows(): AsyncGenerator<string> {
      yield `${NUTCH_HEADING}\n`;
      for (let sent = 0; sent < 20 || (isShown && !isSaid && sent < 600); sent++) {
        clock.pass(500);
        yield Array.from({ length: 100 }, (_, i) => nutchRow(`https://example.org/${sent}/${i}`)).join('');
      }
    }
    const running = start(['db', 'import', '--dir', workDir(), ...options], {
      input: Readable.from(rows()),
      clock,
      env: { TERM: 'xterm' },
      ...(columns === undefined ? {} : { columns }),
    });
    const said = running.saying(/importing rows/).then(
      () => {
        isSaid = true;
      },
      () => {},
    );
    const { code, stderr } = await running.finished;
    await said;
    expect(code).toBe(0);
    const lines = stripVTControlCharacters(stderr);
    if (isShown) expect(lines).toMatch(/importing rows · [\d,]+ · [\d,]+ a second/);
    else expect(lines).not.toContain('importing rows');
  });
});

const NUTCH_HEADING =
  'Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata';
const nutchRow = (url: string): string =>
  `"${url}",1,"db_unfetched",Sun Nov 01 00:00:00 UTC 2015,Thu Jan 01 00:00:00 UTC 1970,0,86400.0,1.0,0.5,"null",""\n`;

it('seeds are reported as they are added', async () => {
  const work: WorkProgress[] = [];
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const onWork = (each: WorkProgress) => void work.push(each);
  const crawler = await openCrawler({ dir: workDir(), config: defaultConfig(), log, onWork });
  await crawler.inject([{ name: 'test', lines: ['https://example.org/'] }]);
  await crawler.close();
  expect(work).toContainEqual({ work: 'adding seeds', done: 1, total: null });
});
