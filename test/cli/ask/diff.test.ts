import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeView, PageDiff } from '../../../src/crawler/index.ts';
import type { PageVersion } from '../../../src/crawler/views.ts';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const HOSTILE = '&lt;script&gt;alert(1)&lt;/script&gt; \u001b[31m \u202e';
const page = (price: string): string =>
  `<!doctype html><html lang="en"><title>Price ${HOSTILE}</title><main><h1>What it costs</h1>
  <p>The price of the thing is ${price} euro today, and it has been so for as long as anybody here can remember.</p>
  <p>${HOSTILE} ${'Other words stay what they are. '.repeat(20)}</p></main></html>`;

const parts = (title: string, heading: string, menu: readonly string[]): string =>
  `<!doctype html><html lang="en"><title>${title}</title><nav><ul>${menu.map((entry) => `<li><a href="/">${entry}</a></li>`).join('')}</ul></nav>
  <main><h1>${heading}</h1><p>${'The mill stands by the river, and turns when the water is high. '.repeat(10)}</p></main></html>`;
const link = (href: string): string => `<main><p>See <a href="${href}">this page</a>, which says more.</p></main>`;

let site: ChangingSite;
let url = '';
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
beforeAll(async () => {
  site = await startChangingSite({ '/price': page('10'), '/once': page('1') });
  site.pages.set('/parts', parts('A mill', 'The old mill', ['Home', 'News']));
  site.pages.set('/link', link('/a'));
  url = `${site.origin}/price`;
  const others = ['/once', '/parts', '/link'].map((path) => site.origin + path);
  await prepare(['crawl', url, ...others, ...network], { cwd });
  site.pages.set('/parts', parts('The mill', 'The new mill', ['Home', 'News', 'Contact']));
  site.pages.set('/link', link('/b'));
  site.pages.set('/price', page('twelve or thirteen'));
  for (const again of [url, ...others]) await prepare(['due', 'touch', again], { cwd });
  await prepare(['crawl', ...network], { cwd });
});
afterAll(() => site.close());

describe('diff', () => {
  it('shows changes word by word', async () => {
    const diff = await json<PageDiff>(['diff', url], { cwd });
    expect(diff.edits.filter(({ op }) => op !== 'equal')).toEqual([
      { op: 'delete', text: '10 ' },
      { op: 'insert', text: 'twelve or thirteen ' },
    ]);
    expect(diff).toMatchObject({ url, deleted: 1, inserted: 3 });
    expect(diff.from.digest).not.toBe(diff.to.digest);
    expect(diff.distance).toBeGreaterThan(0);
    const { stdout, code } = await run(['diff', url], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('the thing is [-10 -]{+twelve or thirteen +}euro today');
    expect(stdout).toContain('…');
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
    const full = await run(['diff', url, '--full'], { cwd });
    expect(full.stdout).not.toContain('…');
    expect(full.stdout.length).toBeGreaterThan(stdout.length);
  });

  it('shows the places that the change feed names, and says so where no text differs', async () => {
    const feed = await json<ChangeView[]>(['changes', '--kind', 'modified'], { cwd });
    const named = new Map(feed.map(({ url: changed, blocks }) => [changed, blocks]));
    expect(named.get(`${site.origin}/parts`)).toEqual(['main>h1', 'nav>ul>li', 'title']);
    expect(named.has(`${site.origin}/link`)).toBe(true);
    expect(named.get(`${site.origin}/link`)).toBeUndefined();
    for (const [changed, blocks = []] of named) {
      const { where, places } = await json<PageDiff>(['diff', changed], { cwd });
      expect(where).toEqual(blocks);
      expect(new Set(places.map(({ place }) => place))).toEqual(new Set(blocks));
    }
    const parts = await run(['diff', `${site.origin}/parts`], { cwd });
    expect(parts.stdout).toContain('changed in: main>h1, nav>ul>li, title\n');
    expect(parts.stdout).toMatch(/@@ title @@\n\[-A -\]\{\+The \+\}mill/);
    expect(parts.stdout).toMatch(/@@ nav>ul>li @@\n[\s\S]*\{\+Contact\+\}/);
    const link = await run(['diff', `${site.origin}/link`], { cwd });
    expect(link.stdout).toContain('No text differs: only links, markup or hidden parts do.');
    const html = await run(['diff', `${site.origin}/link`, '--html', 'link.html'], { cwd });
    expect(html.code).toBe(0);
    expect(readFileSync(join(cwd, 'link.html'), 'utf8')).toContain('No text differs');
  });

  it('writes an HTML file in which nothing of the page is active', async () => {
    await prepare(['diff', url, '--html', 'changes.html', '--quiet'], { cwd });
    const html = readFileSync(join(cwd, 'changes.html'), 'utf8');
    expect(html).toContain('<del>10 </del>');
    expect(html).toContain('<ins>twelve or thirteen </ins>');
    expect(html).toContain("default-src 'none'");
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/<script|[\u001b\u202e]/);
  });

  it('takes versions by segment and by time', async () => {
    const { versions } = await json<{ versions: PageVersion[] }>(['diff', url, '--list'], { cwd });
    expect(versions).toHaveLength(2);
    const [first, second] = versions as [PageVersion, PageVersion];
    const back = await json<PageDiff>(['diff', url, '--from', second.segment, '--to', first.segment], { cwd });
    expect(back).toMatchObject({ deleted: 3, inserted: 1, from: second, to: first });
    const same = await json<PageDiff>(['diff', url, '--from', second.at, '--to', second.segment], { cwd });
    expect(same).toMatchObject({ deleted: 0, inserted: 0, distance: 0 });
  });

  it('says what is missing', async () => {
    const once = await run(['diff', `${site.origin}/once`], { cwd });
    expect(once).toMatchObject({ code: 1, stdout: '' });
    expect(once.stderr).toContain('a difference needs two');
    const early = await run(['diff', url, '--from', '2001-01-01'], { cwd });
    expect(early.stderr).toMatch(/--from: no content of .* at or before 2001-01-01.*stored are: /);
    const odd = await run(['diff', url, '--from', 'yesteryear'], { cwd });
    expect(odd).toMatchObject({ code: 2 });
    expect(odd.stderr).toContain('expected a segment');
    expect((await run(['diff', `${site.origin}/never`], { cwd })).code).toBe(1);
  });
});
