import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

/** /0 links to /1, that to /2, and so on. */
const chain = () =>
  served(
    createServer((request, response) => {
      const number = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
      if (Number.isNaN(number)) return response.writeHead(404).end();
      const text = `<main><p>Part ${number} of a tale that has ${number * 7 + 3} chapters, told twice.</p></main>`;
      return response
        .setHeader('content-type', 'text/html')
        .end(`<title>${number}</title>${text}<a href="/${number + 1}">next part</a>`);
    }),
  );
const site = chain();
const other = chain();
const ANY = ['--allow', '127.0.0.1', '--delay', '0'];
const NEXT = ['crawl', ...ANY, '--rounds', '6'];
const hostOf = ({ origin }: { readonly origin: string }): string => origin.slice('http://'.length);

async function fetchedOf({ origin }: { readonly origin: string }, cwd: string): Promise<string[]> {
  const where = `url ~ '${origin}' and visitCount > 0`;
  const rows = await json<{ url: string }[]>(['readdb', '--where', where, '--fields', 'url'], { cwd });
  return rows.map(({ url }) => url.slice(origin.length)).sort();
}

describe('the depth of a host', () => {
  const configure = (cwd: string, depth: string): void =>
    writeFileSync(join(cwd, 'incrawl.yaml'), `hosts:\n  - { match: "${hostOf(site)}", depth: ${depth} }\n`);

  it('holds for its pages alone, and explain says when it keeps one out', async () => {
    const cwd = workDir();
    configure(cwd, '2');
    await run(['crawl', `${site.origin}/0`, `${other.origin}/0`, ...ANY, '--rounds', '4'], { cwd });
    expect(await fetchedOf(site, cwd)).toEqual(['/0', '/1']);
    expect(await fetchedOf(other, cwd)).toEqual(['/0', '/1', '/2', '/3']);
    const unknown = await run(['explain', `${site.origin}/2`], { cwd });
    expect(unknown.stdout).toContain('beyond-depth (depth 2)');
    expect(unknown.stdout).toContain('Decided by: crawl --depth, depth of hosts:, depth= of its seed.');
    // Wider: the links of the stored pages are judged again.
    configure(cwd, '3');
    await json<CrawlSummary>(NEXT, { cwd });
    expect(await fetchedOf(site, cwd)).toEqual(['/0', '/1', '/2']);
    configure(cwd, '1');
    await run(['due', 'touch', '--host', hostOf(site)], { cwd });
    const said = (await run(['explain', `${site.origin}/1`], { cwd })).stdout;
    expect(said).toContain('No round selects it: it is 1 link from a seed, and depth of "hosts:" is 1 for it.');
    const plan = await json<{ urls: string[] }>(['generate', '--dry-run'], { cwd });
    expect(plan.urls.filter((url) => url.startsWith(site.origin))).toEqual([`${site.origin}/0`]);
    expect((await run(['explain', `${site.origin}/0`], { cwd })).stdout).not.toContain('No round selects it');
  });

  it('of a seed, in a seed file, holds for the pages first found from it', async () => {
    const cwd = workDir();
    writeFileSync(join(cwd, 'seeds.txt'), `${site.origin}/0\tdepth=2\n${other.origin}/0\n${other.origin}/7\tdepth=1\n`);
    await run(['crawl', 'seeds.txt', ...ANY, '--rounds', '4'], { cwd });
    expect(await fetchedOf(site, cwd)).toEqual(['/0', '/1']);
    expect(await fetchedOf(other, cwd)).toEqual(['/0', '/1', '/2', '/3', '/7']);
    const unknown = await run(['explain', `${site.origin}/2`], { cwd });
    expect(unknown.stdout).toContain('beyond-depth (depth 2; its seed has depth=2)');
  });

  it.each(['0', '1.5', '', '1001'])('of a seed refuses depth=%s with its line', async (depth) => {
    const cwd = workDir();
    const { code, stderr } = await run(['inject', '-'], { cwd, input: `${site.origin}/0\tdepth=${depth}\n` });
    expect(code).toBe(1);
    expect(stderr).toContain(
      `stdin:1: expected depth= a whole number from 1 (the seed alone) to 1000, found "${depth}"`,
    );
  });

  it.each(['0', '1.5', 'deep'])('refuses %s', async (depth) => {
    const cwd = workDir();
    configure(cwd, depth);
    const { code, stderr } = await run(['crawl', `${site.origin}/0`], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/hosts\[0\]\.depth: expected .*1.*1000/);
  });
});
