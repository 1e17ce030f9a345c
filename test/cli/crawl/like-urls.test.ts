import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/domain/time.ts';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import { OrdinarySite } from '../../site/ordinary-pages.ts';
import { PAGES_PER_SECTION, prose, TRAPS, type TrapPage, trapPage } from '../../site/trap-pages.ts';
import { startTrapServer, type TrapServer } from '../../site/trap-server.ts';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, run } from '../../support/program.ts';
import { SHIPPED_PLUGINS } from '../../support/shipped-plugins.ts';
import { workDir } from '../../support/work-dir.ts';

let server: TrapServer | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

const QUOTA = 20;
/** The twenty pages that all sessions share are new once, and each makes room for four more. */
const MOST = 6 * QUOTA;

/** Sections of ordinary pages beside the traps. */
const SECTIONS = 4;
const CONTROL_PAGES = SECTIONS * (1 + PAGES_PER_SECTION);
const trapsAndFewPages = (path: string): TrapPage | null => {
  const page = trapPage(path);
  return page !== null && path === '/docs/' ? { ...page, links: page.links.slice(0, SECTIONS) } : page;
};

/** A crawl with a fifth of the quota as shipped, so that a test takes seconds. */
function folder(options: string): string {
  const cwd = workDir();
  mkdirSync(join(cwd, 'conf'));
  writeFileSync(
    join(cwd, 'conf', 'plugins.yaml'),
    SHIPPED_PLUGINS.replace('urlfilter-similarity', `urlfilter-similarity: ${options}`),
  );
  return cwd;
}

async function crawlOf(page: (path: string) => TrapPage | null, cwd: string, more: readonly string[] = []) {
  server ??= await startTrapServer(page);
  const args = ['crawl', `${server.origin}/`, '--allow', '127.0.0.1', '--delay', '0', ...more];
  return { server, summary: await json<CrawlSummary>(args, { cwd }) };
}

describe('like URLs', () => {
  it('of traps take a bounded share, and the other pages are all fetched', async () => {
    const cwd = folder(`{ quota: ${QUOTA} }`);
    const { server: site, summary } = await crawlOf(trapsAndFewPages, cwd, ['--rounds', '25']);
    const control = [...site.answered].filter((path) => path.startsWith('/docs/part')).length;
    expect(control).toBe(CONTROL_PAGES);
    for (const trap of TRAPS) {
      const fetches = site.requests.get(trap) ?? 0;
      expect(fetches, trap).toBeGreaterThanOrEqual(QUOTA);
      expect(fetches, trap).toBeLessThanOrEqual(MOST);
    }
    const { urls } = await json<{ readonly urls: number }>(['readdb', '--stats'], { cwd });
    expect(urls).toBeLessThanOrEqual(CONTROL_PAGES + 2 + TRAPS.length * MOST);
    expect(summary.totals.demotedBy['urlfilter-similarity: like URLs wait']).toBeGreaterThan(1_000);

    // A link that waits: the report of the round and the explanation give the same figures.
    const waiting = await json<readonly { readonly url: string; readonly detail: string; readonly from: string }[]>(
      ['skipped', '--reason', 'like-urls-wait', '--limit', '100000'],
      { cwd },
    );
    const counted = await json<{ counts: Record<string, number> }>(['skipped', '--counts'], { cwd });
    expect(counted.counts['like-urls-wait']).toBeGreaterThan(1_000);
    const last = waiting.filter(({ url }) => url.includes('/random/')).at(-1);
    expect(last?.detail).toMatch(/\|random: 20 of 20 URLs, [\d.]+ of 20 visits brought something new$/);
    const why = await json<{ readonly ifFound: readonly string[] }>(['explain', last?.url ?? ''], { cwd });
    expect(why.ifFound[0]).toContain(`it would wait: its family of like URLs has used its share (${last?.detail})`);
    const page = await json<{ readonly why: readonly string[] }>(['explain', last?.from ?? ''], { cwd });
    expect(page.why.join(' ')).toMatch(/\d+ of its links wait for the share of a family of like URLs/);

    // Another process finds the same shares used up.
    const again = await crawlOf(trapsAndFewPages, cwd, ['--rounds', '5']);
    expect(again.summary.totals.newUrls).toBeLessThanOrEqual(5);
  });

  it('of calendars without an end take at most 200 pages at defaults, and --stats says what links wait for', async () => {
    const cwd = workDir();
    const calendars = ['days', 'notices'];
    const start = { title: 'Start', text: '', links: calendars.map((name) => `/${name}/`) };
    const { server: site } = await crawlOf((path) => (path === '/' ? start : trapPage(path)), cwd, ['--rounds', '12']);
    for (const calendar of calendars) {
      expect(site.requests.get(calendar), calendar).toBeGreaterThanOrEqual(100);
      expect(site.requests.get(calendar), calendar).toBeLessThanOrEqual(200);
    }
    const { stdout } = await run(['readdb', '--stats'], { cwd });
    expect(stdout).toMatch(/links wait {2,}on one host: like URLs have a share\n/);
    for (const calendar of calendars) {
      expect(stdout).toMatch(
        new RegExp(
          `of \\d+ pages for [\\d.:]+\\|${calendar}/#\\|#\\.html: it has 1\\d\\d URLs, \\d+ of its 1\\d\\d visits`,
        ),
      );
    }
    const [waiting] = await json<readonly { readonly url: string }[]>(
      ['skipped', '--reason', 'like-urls-wait', '--limit', '1'],
      { cwd },
    );
    const why = await run(['explain', waiting?.url ?? ''], { cwd });
    expect(why.stdout.replace(/\s+/g, ' ')).toContain('"incrawl inject" lets it in now.');
  });

  it('of an archive by months and days, some with few words, are all fetched', async () => {
    const two = (number: number): string => String(number).padStart(2, '0');
    const months = Array.from({ length: 18 }, (_, i) => `/${2024 + Math.floor(i / 12)}/${two(1 + (i % 12))}/`);
    const days = months.flatMap((month) => Array.from({ length: 20 }, (_, i) => `${month}${two(1 + i)}.html`));
    const archive = (path: string): TrapPage | null => {
      if (path === '/') return { title: 'Log', text: '', links: months };
      if (months.includes(path)) return { title: path, text: '', links: days.filter((day) => day.startsWith(path)) };
      const at = days.indexOf(path);
      if (at < 0) return null;
      const beside = days.filter((_, i) => Math.abs(i - at) === 1);
      return { title: path, text: prose(path, at % 4 === 0 ? 6 : 80), links: [path.slice(0, 9), ...beside] };
    };
    const { server: site, summary } = await crawlOf(archive, folder(`{ quota: ${QUOTA} }`));
    expect(days.filter((day) => !site.answered.has(day))).toEqual([]);
    expect(summary.rounds.length).toBeLessThanOrEqual(12);
  });

  it('enter without room as a few of a day', async () => {
    const cwd = folder(`{ quota: ${QUOTA}, trial: 3 }`);
    const only = (path: string) => (path === '/' ? { title: '', text: '', links: ['/random/'] } : trapPage(path));
    const first = await crawlOf(only, cwd);
    const before = first.server.requests.get('random') ?? 0;
    // With the page that leads to the trap.
    expect(before).toBe(QUOTA + 1);
    const clock = clockByHand(Date.now() + 60_000);
    // The next runs are a day and two later.
    for (const days of [1, 0, 1]) {
      clock.pass(days * DAY_MS + 60_000);
      const { code, stderr } = await run(['crawl', '--allow', '127.0.0.1', '--delay', '0'], { cwd, clock });
      expect(code, stderr).toBe(0);
    }
    expect((first.server.requests.get('random') ?? 0) - before).toBe(6);
    const demoted = await json<readonly unknown[]>(['readdb', '--where', 'score < 0.05'], { cwd });
    expect(demoted.length).toBeGreaterThanOrEqual(6);
  });

  it('of an ordinary site are all fetched in a few rounds', async () => {
    const site = new OrdinarySite({ messages: 100, articles: 60, products: 60, manual: 30 });
    const cwd = folder(`{ quota: ${QUOTA} }`);
    const { server: served, summary } = await crawlOf((path) => site.page(path), cwd);
    expect([...site.pages].filter((path) => !served.answered.has(path))).toEqual([]);
    expect(summary.stoppedBy).toBe('nothing-due');
    expect(summary.rounds.length).toBeLessThanOrEqual(12);
    // Links waited, and all of them have entered since.
    expect(summary.totals.demotedBy['urlfilter-similarity: like URLs wait']).toBeGreaterThan(0);
    const { counts } = await json<{ counts: Record<string, number> }>(['skipped', '--counts'], { cwd });
    expect(counts['like-urls-wait'] ?? 0).toBe(0);
  });

  it('go by a feature of a plugin of the user', async () => {
    const cwd = folder('{ quota: 5, families: [[site, shelf]] }');
    const plugin = `import { definePlugin } from 'incrawl/plugin';
export default definePlugin({
  name: 'urlfilter-shelf',
  api: 1,
  setup: () => ({
    filter: () => ({ accept: true }),
    features: { shelf: ([, first = '']) => /^item(a|b)/.exec(first)?.[1] ?? null },
  }),
});
`;
    mkdirSync(join(cwd, 'conf', 'plugins', 'urlfilter-shelf'), { recursive: true });
    writeFileSync(join(cwd, 'conf', 'plugins', 'urlfilter-shelf', 'plugin.ts'), plugin);
    appendFileSync(join(cwd, 'conf', 'plugins.yaml'), '  - use: ./plugins/urlfilter-shelf\n');
    const names = ['a', 'b', 'c'].flatMap((shelf) =>
      Array.from({ length: 9 }, (_, i) => `/item${shelf}-${'x'.repeat(i)}`),
    );
    const page = (path: string): TrapPage => ({
      title: 'One text',
      text: 'word '.repeat(60),
      links: path === '/' ? names : [],
    });
    const { server: site } = await crawlOf(page, cwd);
    const fetched = (shelf: string): number =>
      [...site.answered].filter((path) => path.startsWith(`/item${shelf}`)).length;
    expect(['a', 'b', 'c'].map(fetched)).toEqual([5, 5, 9]);
  });
});
