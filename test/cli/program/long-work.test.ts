import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createLive } from '../../../src/cli/render/live/live.ts';
import { NO_LIVE, type WorkShown } from '../../../src/cli/render/live/no-live.ts';
import { workLine } from '../../../src/cli/render/live/progress.ts';
import { slowWork } from '../../../src/cli/render/live/slow-work.ts';
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
] as const)('inject %s', (where, columns, options) => {
  const isShown = where === 'on a terminal';
  it(`${isShown ? 'shows' : 'does not show'} how far it is`, async () => {
    const clock = clockByHand();
    let isSaid = false;
    const T0 = clock.now(),
      P0 = performance.now();
    /** Takes seconds in all, so that a line appears, and goes on until it does. */
    async function* seeds(): AsyncGenerator<string> {
      for (let sent = 0; sent < 8 || (isShown && !isSaid && sent < 600); sent++) {
        clock.pass(500);
        yield Array.from({ length: 1_000 }, (_, i) => `https://example.org/${sent}/${i}\n`).join('');
      }
    }
    const running = start(['inject', '-', '--dir', workDir(), ...options], {
      input: Readable.from(seeds()),
      clock,
      env: { TERM: 'xterm' },
      ...(columns === undefined ? {} : { columns }),
    });
    const said = running.saying(/adding seeds/).then(
      () => {
        isSaid = true;
      },
      () => {},
    );
    const { code, stderr } = await running.finished;
    await said;
    console.error('NOW', clock.now() - T0, performance.now() - P0);
    expect(code).toBe(0);
    const lines = stripVTControlCharacters(stderr);
    if (isShown) expect(lines).toMatch(/adding seeds · [\d,]+ · [\d,]+ a second/);
    else expect(lines).not.toContain('adding seeds');
  });
});
