import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeView, Explanation, RecordView } from '../../../src/crawler.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const PARAGRAPHS = Array.from(
  { length: 8 },
  (_, i) =>
    `<p>Part ${i} of the story tells how the people of the valley built their mill, and who paid for the ${i + 20} stones of its wall.</p>`,
).join('\n');
const QUOTES = [
  'A mill is a friend to all.',
  'Who grinds late sleeps late.',
  'Water knows the way home.',
  'No corn, no bread.',
];
const page = (quote: string): string =>
  `<!doctype html><html lang="en"><title>The mill</title><body><main><article><h1>The mill</h1>${PARAGRAPHS}
  <section><p>The saying of the day, which a reader sent us from the far end of the valley, is this one. ${quote}</p></section></article></main></body></html>`;

const [head, tail] = [PARAGRAPHS.split('\n').slice(0, 3).join('\n'), PARAGRAPHS.split('\n').slice(3).join('\n')];
const counted = (readers: number, rest = tail): string =>
  `<!doctype html><html lang="en"><title>The mill</title><body><main><article><h1>The mill</h1>${head}
  <p>By this hour ${readers} people of the valley have read the story.</p>${rest}</article></main></body></html>`;

let site: ChangingSite;
let url = '';
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
beforeAll(async () => {
  site = await startChangingSite({ '/mill': page(QUOTES[0]!) });
  url = `${site.origin}/mill`;
  await run(['crawl', url, ...network], { cwd });
  for (const quote of QUOTES.slice(1)) {
    site.pages.set('/mill', page(quote));
    await run(['touch', url], { cwd });
    await run(['crawl', ...network], { cwd });
  }
}, 60_000);
afterAll(() => site.close());

describe('a part of a page that changes alone at each visit', () => {
  const place = expect.stringMatching(/section>p$/);

  it('is named by readdb, changes and explain', async () => {
    const record = await json<RecordView>(['readdb', '--url', url], { cwd });
    expect(record.changedBlocks).toEqual([place]);
    const changes = await json<ChangeView[]>(['changes', '--kind', 'modified'], { cwd });
    expect(changes.map(({ blocks }) => blocks)).toEqual([[place], [place], [place]]);
    const { why } = await json<Explanation>(['explain', url], { cwd });
    expect(why).toContainEqual(expect.stringMatching(/^The last change was in these parts: .*section>p\.$/));
    expect(why).toContainEqual(
      expect.stringMatching(/^These parts differ at most visits, so they do not count as a change: /),
    );
    const { stdout } = await run(['explain', url], { cwd });
    expect(stdout).toContain('section>p');
    expect(stdout).toContain('none yet; at most 10 % of the visits that headers say are unchanged');
  });

  it('counts for no change once that is known', async () => {
    const { visits, volatileBlocks } = await json<RecordView>(['readdb', '--url', url], { cwd });
    expect(visits.map(({ outcome }) => outcome)).toEqual(['new', 'modified', 'modified', 'modified']);
    expect(visits.at(-1)?.distance).toBe(0);
    expect(volatileBlocks).toEqual([place]);
  });
});

describe('a paragraph among others that changes alone at each visit', () => {
  const place = expect.stringMatching(/article>p:4$/);
  const visit = async (at: string, html: string): Promise<void> => {
    site.pages.set('/read', html);
    await run(['touch', at], { cwd });
    await run(['crawl', ...network], { cwd });
  };
  const record = (at: string): Promise<RecordView> => json<RecordView>(['readdb', '--url', at], { cwd });

  it('counts for no change from the fifth visit on, and is named; a change beside it counts', async () => {
    const at = `${site.origin}/read`;
    site.pages.set('/read', counted(1_203));
    await run(['inject', at], { cwd });
    await run(['crawl', ...network], { cwd });
    for (const readers of [1_377, 1_541, 1_702, 1_899]) await visit(at, counted(readers));
    const calm = await record(at);
    expect(calm.visits.map(({ outcome }) => outcome)).toEqual(['new', 'modified', 'modified', 'modified', 'modified']);
    expect(calm.visits.at(-1)?.distance).toBe(0);
    expect(calm.volatileBlocks).toEqual([place]);
    const { why } = await json<Explanation>(['explain', at], { cwd });
    expect(why).toContainEqual(expect.stringMatching(/do not count as a change: .*article>p:4\.$/));
    expect(why).toContainEqual(expect.stringMatching(/^The number of a part is that among its like siblings/));
    expect(why).toContainEqual(expect.stringMatching(/^Nothing else that counts differed at the last visit/));
    await visit(at, counted(2_100, `${tail}<p>The mill was sold to the miller of the next valley.</p>`));
    const grown = await record(at);
    expect(grown.visits.at(-1)?.distance).toBeGreaterThan(0);
    expect(grown.volatileBlocks).toEqual([place]);
  }, 180_000);
});
