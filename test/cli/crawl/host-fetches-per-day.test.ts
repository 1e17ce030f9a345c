import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const asked: string[] = [];
const pages = () =>
  served(
    createServer((request, response) => {
      const { url = '' } = request;
      if (url === '/robots.txt') return response.writeHead(404).end();
      asked.push(`http://${request.headers.host}${url}`);
      const text = `<main><p>Words of ${url}, which stand on no other page of this host.</p></main>`;
      return response.setHeader('content-type', 'text/html').end(`<title>${url}</title>${text}`);
    }),
  );
const site = pages();
const other = pages();
const ANY = ['--allow', '127.0.0.1', '--delay', '0'];
const NOON = Date.UTC(2026, 2, 2, 12);
const DAY = 86_400_000;

function configured(entry: string): string {
  const cwd = workDir();
  writeFileSync(join(cwd, 'incrawl.yaml'), `sitemaps:\n  mode: "off"\nhosts:\n  - ${entry}\n`);
  return cwd;
}
const boundOf = (fetches: string): string =>
  `{ match: "${site.origin.slice('http://'.length)}", fetchesPerDay: ${fetches} }`;

describe('the fetches a day of a host', () => {
  it('hold over two runs of a day; table, explain and skipped say so', async () => {
    const cwd = configured(boundOf('2'));
    const clock = clockByHand(NOON);
    const seeds = [1, 2, 3].flatMap((i) => [`${site.origin}/${i}`, `${other.origin}/${i}`]);
    const askedOfSite = (): number => asked.filter((url) => url.startsWith(site.origin) && /\d$/.test(url)).length;
    const first = await run(['crawl', ...seeds, ...ANY], { cwd, clock });
    expect(first.code).toBe(0);
    expect(askedOfSite()).toBe(2);
    expect(asked.filter((url) => url.startsWith(other.origin) && /\d$/.test(url))).toHaveLength(3);
    const host = site.origin.slice('http://'.length);
    const reason = 'hosts[0].fetchesPerDay: 2 of 2 asked today';
    expect(first.output).toContain(`  ${host}: 1 URL, not before 2026-03-03T00:00:00.000Z; ${reason}\n`);
    clock.pass(3_600_000);
    const second = await run(['crawl', ...ANY], { cwd, clock });
    expect(second.output).toContain(reason);
    expect(askedOfSite()).toBe(2);

    const [left = ''] = seeds.filter((url) => !asked.includes(url));
    const said = (await run(['explain', left], { cwd, clock })).stdout;
    expect(said).toContain(`No round selects it today: ${reason}; again at 2026-03-03T00:00:00.000Z.`);
    const skipped = await json<{ urls: unknown[] }>(['skipped', '--reason', 'host-day-used'], { cwd, clock });
    expect(JSON.stringify(skipped)).toContain(`${reason}; again at 2026-03-03T00:00:00.000Z`);
    clock.pass(DAY / 2);
    await run(['crawl', ...ANY], { cwd, clock });
    expect(askedOfSite()).toBe(3);
  });

  it.each(['0', '1.5', 'many'])('refuse %s', async (fetches) => {
    const { code, stderr } = await run(['crawl', `${site.origin}/1`], { cwd: configured(boundOf(fetches)) });
    expect(code).toBe(2);
    expect(stderr).toMatch(/hosts\[0\]\.fetchesPerDay: expected .*1.*1000000000/);
  });

  it('refuse an entry for a URL prefix', async () => {
    const cwd = configured(`{ match: "${site.origin}/a/", fetchesPerDay: 5 }`);
    const { code, stderr } = await run(['crawl', `${site.origin}/1`], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('hosts[0].fetchesPerDay: expected an entry for a host or *.domain');
  });
});
