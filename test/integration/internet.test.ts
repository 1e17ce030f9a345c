import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/core/config/load.ts';
import { findPackage } from '../../src/core/packages/find-package.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';
import * as internet from '../site/internet.ts';
import { html, type Part } from '../site/internet.ts';
import { madeWord, TYPES } from '../site/made-office.ts';
import { bookPages, madePdf } from '../site/made-pdf.ts';
import { unknownIdentity } from '../site/tls-identity.ts';
import { noBrowser } from '../system/transports/rendering/browser.ts';

const DAY = 86_400_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ENV = {
  PROXY_PASSWORD: 'proxy-1',
  SITE_PASSWORD: 'site-1',
  MEMBERS_USER: 'reader',
  MEMBERS_PASSWORD: 'members-1',
};
const hasPdf = findPackage('pdfjs').length > 0;
const canRender = noBrowser === null;

/** Scattered, so that no two pages share a run of words. */
const words = (seed: number, count = 150): string =>
  Array.from({ length: count }, (_, i) => `w${(Math.imul(seed * 1_009 + i, 0x9e37_79b1) >>> 8) % 997}`).join(' ');
const page = (name: string, seed: number, links: readonly string[] = []) =>
  html(
    `<title>${name}</title><nav>${links.map((to) => `<a href="${to}">${to}</a>`).join(' ')}</nav><main><p>${words(seed)}</p></main>`,
  );
const word = (seed: number) => ({
  type: TYPES.word,
  bytes: madeWord(Array.from({ length: 20 }, (_, i) => words(seed * 50 + i, 12))),
});
const pdf = (seed: number) => ({
  type: 'application/pdf',
  bytes: madePdf({
    pages: bookPages(3, (at, line) => words(seed + at * 40 + line, 8)),
    info: { Title: `Book ${seed}` },
  }),
});

/** Front page with links, and the page that changes before the second crawl, of each site. */
interface Site {
  readonly part: Part;
  readonly changes: readonly [path: string, () => internet.Body];
}

const baseDir = mkdtempSync(join(tmpdir(), 'incrawl-internet-'));
const parses = join(baseDir, 'parses.txt');
const sites: Site[] = [];
let crawler: Crawler;
let now = Date.UTC(2026, 5, 1);
let expire = (): void => {};
let application: internet.Application | null = null;

/** A site of pages: another one is one more line in `beforeAll`. */
function add(part: Part, seed: number): void {
  part.pages.set('/', page(`${part.name} front`, seed, ['/a', '/b']));
  part.pages.set('/a', page(`${part.name} a`, seed + 1));
  part.pages.set('/b', page(`${part.name} b`, seed + 2));
  sites.push({ part, changes: ['/b', () => page(`${part.name} b`, seed + 3)] });
}

function addLibrary(part: Part): void {
  const books = hasPdf ? ['/one.pdf', '/two.pdf'] : [];
  part.pages.set('/', page('library front', 900, ['/a.docx', '/b.docx', ...books]));
  part.pages.set('/a.docx', word(901));
  part.pages.set('/b.docx', word(902));
  for (const [i, path] of books.entries()) part.pages.set(path, pdf(903 + i));
  sites.push({ part, changes: hasPdf ? ['/two.pdf', () => pdf(950)] : ['/b.docx', () => word(951)] });
}

beforeAll(async () => {
  writeFileSync(join(baseDir, 'ca.pem'), unknownIdentity.cert);
  const form = await internet.siteBehindForm({ user: ENV.MEMBERS_USER, password: ENV.MEMBERS_PASSWORD });
  expire = form.expire;
  add(
    await internet.siteBehindProxy({ user: 'crawler', passwordAt: 'PROXY_PASSWORD', password: ENV.PROXY_PASSWORD }),
    100,
  );
  add(
    await internet.siteBehindBasicAuth({ user: 'reader', passwordAt: 'SITE_PASSWORD', password: ENV.SITE_PASSWORD }),
    200,
  );
  add(form, 300);
  add(await internet.http2Site('ca.pem'), 400);
  const ipv6 = await internet.ipv6Site();
  if (ipv6 !== null) add(ipv6, 500);
  addLibrary(await internet.library());
  if (canRender) {
    application = await internet.application();
    add(application, 600);
  }

  const hosts = sites.map(({ part: { origin, entry } }) =>
    [`  - match: "${new URL(origin).host}"`, '    delay: 0', ...entry.map((line) => `    ${line}`)].join('\n'),
  );
  writeFileSync(
    join(baseDir, 'incrawl.yaml'),
    `hosts:
${hosts.join('\n')}
http: { allowAddresses: ["127.0.0.1", "::1", localhost] }
fetch: { delay: 0, auditShare: 0 }
`,
  );
  writeFileSync(join(baseDir, 'rules.txt'), '+.\n');
  // Tells of each page that is parsed, in whatever thread.
  writeFileSync(
    join(baseDir, 'count.ts'),
    `import { appendFileSync } from 'node:fs';
import { definePlugin } from 'incrawl/plugin';
export default definePlugin({
  name: 'parsefilter-count',
  api: 1,
  setup: () => ({ content: '', filter: (page) => appendFileSync(${JSON.stringify(parses)}, page.url + '\\n') }),
});
`,
  );
  const login = resolve(import.meta.dirname, '../../examples/members/conf/plugins/protocol-form-login/plugin.ts');
  writeFileSync(
    join(baseDir, 'plugins.yaml'),
    `plugins:
  - use: ${login}
    options:
      login: ${form.origin}/login
      user: { field: username, value: { env: MEMBERS_USER } }
      password: { field: password, value: { env: MEMBERS_PASSWORD } }
  - urlnormalizer-basic
  - urlfilter-rules: { file: rules.txt }
  - urlfilter-scope
  - parse-html
${hasPdf ? '  - parse-pdf\n' : ''}  - parse-office
  - parsefilter-main-content
  - use: ./count.ts
  - signature-simhash
  - schedule-freshness
  - scoring-depth
  - exporter-jsonl
`,
  );
  Object.assign(process.env, { MEMBERS_USER: ENV.MEMBERS_USER, MEMBERS_PASSWORD: ENV.MEMBERS_PASSWORD });
  const { config } = await loadConfig({ file: join(baseDir, 'incrawl.yaml') });
  const clock = { now: () => now, sleep: async () => {} };
  crawler = await openCrawler({ config, baseDir, dir: join(baseDir, 'crawldb'), log: silent, clock, env: ENV });
});
afterAll(async () => {
  await crawler?.close();
  for (const name of ['MEMBERS_USER', 'MEMBERS_PASSWORD']) delete process.env[name];
  for (const { part } of sites) await part.close();
  rmSync(baseDir, { recursive: true, force: true });
});

const parsed = (): string[] => {
  const lines = existsSync(parses) ? readFileSync(parses, 'utf8').split('\n').filter(Boolean) : [];
  writeFileSync(parses, '');
  return lines.sort();
};
/** Requests for pages that were answered as pages, by site; those of the login aside. */
const asked = (): Record<string, string[]> =>
  Object.fromEntries(
    sites.map(({ part: { name, log } }) => {
      const lines = log.splice(0).filter((line) => /^(200|304|404) (GET )?\/(?!login)/.test(line));
      return [name, lines.map((line) => line.replace('GET ', '')).sort()];
    }),
  );
const allPages = (): string[] =>
  sites.flatMap(({ part: { origin, pages } }) => [...pages.keys()].map((path) => `${origin}${path}`)).sort();
const logins = (): string[] => sites.flatMap(({ part }) => part.log.filter((line) => line.endsWith('POST /session')));

/** Sites behind a proxy, credentials, a login form; documents; an application; HTTP/2; IPv6, where it is there. */
describe('one internet, one configuration', { timeout: 180_000 }, () => {
  /** Paths of pages rendered since the last call, and their texts. */
  const rendered = async (): Promise<readonly (readonly [path: string, text: string | undefined])[]> => {
    const paths = application?.shells.splice(0).sort() ?? [];
    const shown = async (path: string): Promise<readonly [string, string | undefined]> => {
      const text = (await crawler.segmentRecord(`${application?.origin}${path}`))?.parsed?.text;
      return [path, text?.match(/\bw\d+\b/g)?.join(' ')];
    };
    return Promise.all(paths.map(shown));
  };

  it('the first crawl reaches all of it', async () => {
    const seeds = [{ name: 'test', lines: sites.map(({ part }) => `${part.origin}/`) }];
    const { totals, stoppedBy } = await crawler.crawl({ seeds });
    expect(stoppedBy).toBe('nothing-due');
    expect(logins()).toEqual(['ok POST /session']);
    expect(asked()).toEqual(
      Object.fromEntries(
        sites.map(({ part }) => [part.name, [...part.pages.keys()].map((path) => `200 ${path}`).sort()]),
      ),
    );
    expect(parsed()).toEqual(allPages());
    expect(totals).toMatchObject({ new: allPages().length, modified: 0, failed: 0, notModified: 0 });
    for (const { part } of sites) {
      const record = await crawler.record(`${part.origin}/`);
      expect(record, part.name).toMatchObject({ state: 'fetched', lastError: null, title: `${part.name} front` });
    }
    const texts = [600, 601, 602].map((seed) => words(seed));
    if (canRender) expect(await rendered()).toEqual(['/', '/a', '/b'].map((path, i) => [path, texts[i]]));
  });

  it('the second one transfers and parses what has changed alone, and logs in again', async () => {
    for (const { part, changes } of sites) part.pages.set(changes[0], changes[1]());
    expire();
    const sentBefore = sites.reduce((sum, { part }) => sum + part.sent, 0);
    now += 60 * DAY;
    const { totals } = await crawler.crawl();
    expect(logins()).toEqual(['ok POST /session']);
    const changed = sites.map(({ part, changes: [path] }) => `${part.origin}${path}`).sort();
    const wanted = sites.map(({ part, changes: [path] }) => [
      part.name,
      [...part.pages.keys()].map((each) => `${each === path ? 200 : 304} ${each}`).sort(),
    ]);
    expect(asked()).toEqual(Object.fromEntries(wanted));
    expect(parsed()).toEqual(changed);
    const [pages, news] = [allPages().length, changed.length];
    expect(totals).toMatchObject({ new: 0, modified: news, notModified: pages - news, failed: 0, gone: 0 });
    const bodies = sites.map(
      ({ part, changes: [path] }) => (part.pages.get(path)?.bytes.length ?? 0) + (part.besides ?? 0),
    );
    expect(totals.bodyBytes).toBe(bodies.reduce((sum, bytes) => sum + bytes, 0));
    const sent = sites.reduce((sum, { part }) => sum + part.sent, 0) - sentBefore;
    expect(sent).toBeLessThanOrEqual(totals.bodyBytes);
    // A browser renders one page, and no other.
    if (canRender) expect(await rendered()).toEqual([['/b', words(603)]]);
  });
});
