import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RecordView } from '../../../src/query/records/views.ts';
import { prose } from '../../site/trap-pages.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const PAGES: Readonly<Record<string, string>> = {
  '/': '',
  '/harbour': '<meta name="keywords" content="Harbour, ships"><meta name="description" content="All about the quay">',
  '/orchard': '<meta name="keywords" content="orchard, apples">',
  '/plain': '',
};
const site = served(
  createServer((request, response) => {
    const head = PAGES[request.url ?? ''];
    if (head === undefined) return response.writeHead(404).end();
    const links = Object.keys(PAGES).map((path) => `<p>${prose(path, 30)} <a href="${path}">a link</a></p>`);
    response.setHeader('content-type', 'text/html');
    const main = request.url === '/' ? `${links.join('')}<p><a href="/gone">gone</a>` : prose(request.url ?? '', 120);
    return response.end(`<!doctype html><title>${request.url}</title>${head}<main>${main}</main>`);
  }),
);

describe('--where by what only stored pages say', () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = workDir();
    await json(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
  });

  const found = async (where: string, ...more: string[]): Promise<string[]> => {
    const records = await json<RecordView[]>(['readdb', '--where', where, ...more], { cwd });
    return records.map(({ url }) => url.slice(site.origin.length)).sort();
  };

  it.each([
    ['keywords ~ harbour', ['/harbour']],
    ['keywords = "orchard, apples"', ['/orchard']],
    ['description like "all about*"', ['/harbour']],
    ['keywords = null and state = fetched', ['/', '/plain']],
    ['keywords !~ ships', ['/', '/gone', '/orchard', '/plain']],
    ['not (Keywords ~ ships or depth = 0) and httpStatus = 200', ['/orchard', '/plain']],
    ['topics ~ nothing', []],
  ])('readdb: %s', async (where, paths) => {
    expect(await found(where)).toEqual(paths);
  });

  it('export, touch and reparse take it', async () => {
    const { stdout } = await run(['export', '--format', 'jsonl', '--where', 'keywords ~ apples'], { cwd });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { url: string }).url),
    ).toEqual([`${site.origin}/orchard`]);
    const touched = await run(['due', 'touch', '--where', 'description ~ quay', '--dry-run'], { cwd });
    expect(touched.stdout).toContain('1 made due');
    expect(await json(['reparse', '--where', 'keywords != null', '--dry-run'], { cwd })).toMatchObject({ selected: 2 });
  });

  it('what reads records alone says where it is known', async () => {
    const known = 'keywords is read from stored pages, by --where of readdb, export, due touch and reparse alone';
    for (const args of [
      ['generate', '--where', 'keywords ~ x'],
      ['crawl', '-D', 'generate.where=Keywords ~ x'],
    ]) {
      const { code, stderr } = await run(args, { cwd });
      expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(known)]);
    }
    expect((await run(['readdb', '--sort', 'keywords'], { cwd })).stderr).toContain('there is no field "keywords"');
  });

  it('a page whose copy was pruned is named, unless another condition leaves it out before', async () => {
    const [segment] = await json<{ id: string }[]>(['readseg', '--list'], { cwd });
    rmSync(join(cwd, 'crawldb', 'segments', segment?.id ?? '-'), { recursive: true });
    const { code, stderr } = await run(['readdb', '--where', 'keywords ~ harbour'], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`that of ${site.origin}/ is in no segment any more`)]);
    expect(await found('depth = 1 and keywords ~ harbour')).toEqual(['/harbour']);
    expect(await found('depth > 5 and keywords ~ harbour')).toEqual([]);
  });
});
