import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { drawing } from '../../../bench/histories/drawing.ts';
import { familiesOf } from '../../../bench/histories/families.ts';
import { meanOf } from '../../../bench/histories/figures.ts';
import { judgedReplay } from '../../../bench/histories/judged-replay.ts';
import { packsIn, readPack } from '../../../bench/histories/pack.ts';
import { truthOf } from '../../../bench/histories/truth.ts';
import { type MadeTree, madePack, writePack } from './made-history.ts';

const DAYS = 20;
const PAGES = 11;
const WORDS = 'harbour lantern meadow copper willow anchor saddle thunder velvet orchard'.split(' ');

/** Words that no other page and version shares. */
const textOf = (page: number, version: number): string =>
  Array.from({ length: 40 }, (_, i) => `${WORDS[(i * (page + 3) + version) % 10]}${page}${version}`).join(' ');

/** A site deployed on days 0, 4, 8, ..: each time with another footer, on day 8 with a page more and one changed. */
function siteOn(day: number): MadeTree {
  const deploys = Math.floor(day / 4);
  const pages = day < 8 ? PAGES : PAGES + 1;
  const files = Array.from({ length: pages }, (_, i) => `part/${i}/index.html`);
  const page = (text: string, links: readonly string[]): string =>
    `<html><title>${text.slice(0, 12)}</title><body><p>${text}</p>${links.map((to) => `<a href="/${to}">${to}</a>`).join(' ')}<footer>Made by version${deploys}</footer></body></html>`;
  return {
    'index.html': page(textOf(99, 0), [
      ...files.map((file, i) => file.replace(i === 1 ? '/index.html' : 'index.html', '')),
      'dead.html',
    ]),
    ...Object.fromEntries(files.map((file, i) => [file, page(textOf(i, i === 3 && day >= 8 ? 1 : 0), ['part/0/'])])),
  };
}

const pack = madePack(Array.from({ length: DAYS }, (_, day) => siteOn(day)));
const folder = mkdtempSync(join(tmpdir(), 'incrawl-pack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const local = { address: '127.0.0.1', port: 0 };
/** Shorter than a day by more than visits are spread. */
const daily = ['schedule.name=fixed', 'schedule.interval=12h'];

describe('a pack', () => {
  it('is found and read, its bodies by gzip', () => {
    writePack(join(folder, 'made'), pack);
    expect(packsIn(folder)).toEqual([join(folder, 'made')]);
    expect(packsIn(join(folder, 'made'))).toEqual([join(folder, 'made')]);
    const history = readPack(join(folder, 'made'));
    expect(history).toMatchObject({ name: 'made', daysPerStep: 1 });
    expect(history.steps).toHaveLength(DAYS);
    expect([history.steps[7], history.steps[8]].map((step) => step?.reached.size)).toEqual([PAGES + 1, PAGES + 2]);
    expect(history.bodies[0]?.toString()).toBe(siteOn(0)['index.html']);
  });

  it('says what is missing', () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    expect(() => packsIn(empty)).toThrow('none has steps.jsonl.gz');
    expect(() => packsIn(join(empty, 'none'))).toThrow('expected a folder of histories, there is none');
    expect(() => readPack(empty)).toThrow('is no pack of a history: it has no steps.jsonl.gz');
    writePack(empty, pack);
    rmSync(join(empty, 'bodies.gz'));
    expect(() => readPack(empty)).toThrow('it has neither bodies.xz nor bodies.gz');
    writeFileSync(join(empty, 'bodies.xz'), 'not compressed');
    expect(() => readPack(empty)).toThrow(/xz cannot read|xz, which is not installed/);
  });
});

describe('a replay through the crawler', () => {
  const truth = truthOf(readPackOf(folder));

  it('visits daily see each change on its day, and all pages alike', async () => {
    const judged = await judgedReplay(truth, { ...local, variant: 'honest', budget: null, settings: daily });
    expect(judged.figures).toMatchObject({ freshMajor: 1, changes: 2, seen: 2, within7: 2, lagP50: 0, lagP90: 0 });
    expect(judged.reported).toMatchObject({ wrong: 0 });
    // A dozen pages on seven days, one more on twelve. The redirect and the dead link are not requested again so soon.
    expect({ ...judged.laterByKind, 'robots.txt': 0 }).toEqual({ page: 7 * 12 + 12 * 13, 'robots.txt': 0 });
  });

  it('under a budget no run asks for more pages, and the plot has it beside the baselines', async () => {
    const judged = await judgedReplay(truth, { ...local, variant: 'dynamic', budget: 0.25, settings: [] });
    expect(judged.figures.pageRequests).toBeLessThanOrEqual(12 + 19 * 3);
    expect(judged.figures.changes).toBe(2);
    const families = familiesOf(truth, 0.25);
    expect(meanOf([judged.figures, { ...judged.figures, seen: 0, lagP50: null }])).toEqual({
      ...judged.figures,
      seen: judged.figures.seen / 2,
      lagP50: null,
    });
    const drawn = drawing({ title: 'made', own: [judged.figures], families });
    // One for freshness, one for changes seen within a week, one for the median lag.
    expect(drawn.match(/<circle /g)).toHaveLength(3);
  });
});

function readPackOf(parent: string) {
  writePack(join(parent, 'made'), pack);
  return readPack(join(parent, 'made'));
}
