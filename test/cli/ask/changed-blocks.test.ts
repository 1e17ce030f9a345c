import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeView, Explanation, RecordView } from '../../../src/crawler/index.ts';
import { json, prepare, run } from '../../support/program.ts';
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
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
const url = (path: string): string => `${site.origin}${path}`;
const record = (path: string): Promise<RecordView> => json<RecordView>(['readdb', '--url', url(path)], { cwd });

/** The visits of both pages: from the second on each finds another version. */
const VERSIONS: readonly Readonly<Record<string, string>>[] = [1_203, 1_377, 1_541, 1_702].map((readers, i) => ({
  '/mill': page(QUOTES[i]!),
  '/read': counted(readers),
}));

async function visit(pages: Readonly<Record<string, string>>): Promise<void> {
  const paths = Object.keys(pages);
  for (const path of paths) site.pages.set(path, pages[path]!);
  await prepare(['due', 'touch', ...paths.map(url)], { cwd });
  await prepare(['crawl', ...network], { cwd });
}

beforeAll(async () => {
  const [first, ...others] = VERSIONS;
  site = await startChangingSite(first!);
  await prepare(['crawl', ...Object.keys(first!).map(url), ...network], { cwd });
  for (const pages of others) await visit(pages);
});
afterAll(() => site.close());

describe('a part of a page that changes alone at each visit', () => {
  const place = expect.stringMatching(/section>p$/);

  it('is named by readdb, changes and explain', async () => {
    expect((await record('/mill')).changedBlocks).toEqual([place]);
    const where = ['--kind', 'modified', '--where', `url = "${url('/mill')}"`];
    const changes = await json<ChangeView[]>(['changes', ...where], { cwd });
    // From the visit on at which it is known to change always, it is no news.
    expect(changes.map(({ blocks }) => blocks)).toEqual([[place], [place]]);
    const { why } = await json<Explanation>(['explain', url('/mill')], { cwd });
    expect(why).toContainEqual(expect.stringMatching(/^The last change was in these parts: .*section>p\.$/));
    expect(why).toContainEqual(
      expect.stringMatching(/^These parts differ at most visits, so they do not count as a change: /),
    );
    const { stdout } = await run(['explain', url('/mill')], { cwd });
    expect(stdout).toContain('section>p');
    expect(stdout).toContain('none yet; at most 10 % of the visits that headers say are unchanged');
  });

  it('counts for no change once that is known', async () => {
    const { visits, volatileBlocks } = await record('/mill');
    expect(visits.map(({ outcome }) => outcome)).toEqual(['new', 'modified', 'modified', 'modified']);
    expect(visits.at(-1)?.distance).toBe(0);
    expect(volatileBlocks).toEqual([place]);
  });
});

describe('a paragraph among others that changes alone at each visit', () => {
  const place = expect.stringMatching(/article>p:4$/);

  it('counts for no change from the fifth visit on, and is named; a change beside it counts', async () => {
    await visit({ '/read': counted(1_899) });
    const calm = await record('/read');
    expect(calm.visits.map(({ outcome }) => outcome)).toEqual(['new', 'modified', 'modified', 'modified', 'modified']);
    expect(calm.visits.at(-1)?.distance).toBe(0);
    expect(calm.volatileBlocks).toEqual([place]);
    const { why } = await json<Explanation>(['explain', url('/read')], { cwd });
    expect(why).toContainEqual(expect.stringMatching(/do not count as a change: .*article>p:4\.$/));
    expect(why).toContainEqual(expect.stringMatching(/^The number of a part is its place among siblings/));
    expect(why).toContainEqual(expect.stringMatching(/^Nothing else that counts differed at the last visit/));
    await visit({ '/read': counted(2_100, `${tail}<p>The mill was sold to the miller of the next valley.</p>`) });
    const grown = await record('/read');
    expect(grown.visits.at(-1)?.distance).toBeGreaterThan(0);
    expect(grown.volatileBlocks).toEqual([place]);
  });
});
