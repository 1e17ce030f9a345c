import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageDiff, PageVersion } from '../../../src/crawler.ts';
import { json, run, workDir } from '../support/binary.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';
import { jsonStaying, prepare, runStaying } from '../support/staying.ts';

const HOSTILE = '&lt;script&gt;alert(1)&lt;/script&gt; \u001b[31m \u202e';
const page = (price: string): string =>
  `<!doctype html><html lang="en"><title>Price ${HOSTILE}</title><main><h1>What it costs</h1>
  <p>The price of the thing is ${price} euro today, and it has been so for as long as anybody here can remember.</p>
  <p>${HOSTILE} ${'Other words stay what they are. '.repeat(20)}</p></main></html>`;

let site: ChangingSite;
let url = '';
const cwd = workDir();
const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
beforeAll(async () => {
  site = await startChangingSite({ '/price': page('10'), '/once': page('1') });
  url = `${site.origin}/price`;
  await prepare(['crawl', url, `${site.origin}/once`, ...network], { cwd });
  site.pages.set('/price', page('twelve or thirteen'));
  for (const again of [url, `${site.origin}/once`]) await prepare(['touch', again], { cwd });
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
    const full = await runStaying(['diff', url, '--full'], { cwd });
    expect(full.stdout).not.toContain('…');
    expect(full.stdout.length).toBeGreaterThan(stdout.length);
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
    const { versions } = await jsonStaying<{ versions: PageVersion[] }>(['diff', url, '--list'], { cwd });
    expect(versions).toHaveLength(2);
    const [first, second] = versions as [PageVersion, PageVersion];
    const back = await jsonStaying<PageDiff>(['diff', url, '--from', second.segment, '--to', first.segment], { cwd });
    expect(back).toMatchObject({ deleted: 3, inserted: 1, from: second, to: first });
    const same = await jsonStaying<PageDiff>(['diff', url, '--from', second.at, '--to', second.segment], { cwd });
    expect(same).toMatchObject({ deleted: 0, inserted: 0, distance: 0 });
  });

  it('says what is missing', async () => {
    const once = await run(['diff', `${site.origin}/once`], { cwd });
    expect(once).toMatchObject({ code: 1, stdout: '' });
    expect(once.stderr).toContain('a difference needs two');
    const early = await runStaying(['diff', url, '--from', '2001-01-01'], { cwd });
    expect(early.stderr).toMatch(/--from: no content of .* at or before 2001-01-01.*stored are: /);
    const odd = await runStaying(['diff', url, '--from', 'yesteryear'], { cwd });
    expect(odd).toMatchObject({ code: 2 });
    expect(odd.stderr).toContain('expected a segment');
    expect((await runStaying(['diff', `${site.origin}/never`], { cwd })).code).toBe(1);
  });
});
