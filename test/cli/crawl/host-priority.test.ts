import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const asked: string[] = [];
const site = served(
  createServer((request, response) => {
    const { url = '/' } = request;
    if (url === '/robots.txt' || url === '/sitemap.xml') return response.writeHead(404).end();
    asked.push(url);
    return response.setHeader('content-type', 'text/html').end(`<title>${url}</title><p>page ${url}</p>`);
  }),
);

/** Two parts of a site, whose pages are due at once; the round has room for half of them. */
async function halfOfThem(hosts: string): Promise<string[]> {
  const cwd = workDir();
  writeFileSync(join(cwd, 'incrawl.yaml'), hosts);
  const paths = Array.from({ length: 5 }, (_, i) => [`/archive/${i}`, `/news/${i}`]).flat();
  writeFileSync(join(cwd, 'seeds.txt'), paths.map((path) => `${site.origin}${path}\n`).join(''));
  const args = ['crawl', 'seeds.txt', '--rounds', '1', '--top-n', '5', '--allow', '127.0.0.1', '--delay', '0'];
  const { code, stderr } = await run(args, { cwd });
  expect(code, stderr).toBe(0);
  return asked.map((path) => path.replace(/\d$/, ''));
}

describe('priority of hosts:', () => {
  it('decides which of the due URLs a round takes', async () => {
    const entry = (part: string, priority: number): string =>
      `hosts:\n  - match: ${site.origin}/${part}/\n    priority: ${priority}\n`;
    for (const [hosts, taken] of [
      ['hosts: []\n', '/archive/'],
      [entry('news', 10), '/news/'],
      [entry('archive', 0.1), '/news/'],
    ] as const) {
      asked.splice(0);
      expect(await halfOfThem(hosts), hosts).toEqual(Array(5).fill(taken));
    }
  });
});
