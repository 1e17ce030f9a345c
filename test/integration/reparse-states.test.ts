import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY, reparsedSite, words } from './reparsed-site.ts';

const page = (title: string, article: string, advert: string, links: readonly string[] = []): string =>
  `<!doctype html><title>${title}</title><p>${article}</p><aside>${advert}</aside>` +
  links.map((to) => `<a href="${to}">${to}</a>`).join(' ');

/** The content is in `aside` first, then in `p`; `<hr>` breaks the first filter, `<br>` the second. */
const FIRST = `
    if (page.content.includes('<hr>')) throw new Error('no rulers');
    page.result.mainText = page.$('aside').text();
    page.result.blocks = [];`;
const SECOND = `
    if (page.content.includes('<br>')) throw new Error('no breaks');
    page.result.mainText = page.$('p').text();
    page.result.blocks = [];`;

const PATHS = ['/a', '/b', '/c', '/d', '/e', '/f'];
const site = reparsedSite(({ served, plugin }) => {
  served['/'] = { body: page('Home', words(1), words(101), PATHS) };
  // Repeat each other by the first rule alone, by the second alone, and by both.
  served['/a'] = { body: page('A', words(2), words(102)) };
  served['/b'] = { body: page('B', words(3), words(102)) };
  served['/c'] = { body: page('C', words(4), words(104)) };
  served['/d'] = { body: page('D', words(4), words(105)) };
  served['/e'] = { body: page('E', words(6), words(106)) };
  served['/f'] = { body: page('F', words(6), words(106)) };
  plugin(FIRST);
});

const duplicates = async () =>
  Object.entries(await site.records())
    .filter(([, { state }]) => state === 'duplicate')
    .map(([path, { target }]) => `${path} of ${String(target).slice(site.origin.length)}`)
    .sort();
/** Entries that the feed has got since. */
const gained = async (before: readonly string[]) => (await site.changes()).filter((change) => !before.includes(change));

describe('near duplicates by new signatures', () => {
  it('are judged when all are written: those that stay so have no entry in the feed', async () => {
    await site.crawl();
    expect(await duplicates()).toEqual(['/b of /a', '/f of /e']);
    const before = await site.changes();
    site.plugin(SECOND);
    site.now += DAY;
    const summary = await site.reparse();
    expect(summary).toMatchObject({ parsed: 7, differing: 7, duplicates: { marked: 1, restored: 1 } });
    expect(await duplicates()).toEqual(['/d of /c', '/f of /e']);
    expect(await gained(before)).toEqual(['back /b', 'duplicate /d']);
    expect(await site.reparse()).toMatchObject({ differing: 0, duplicates: { marked: 0, restored: 0 } });
    expect(await site.isSound()).toBe(true);
  });

  it('are judged by the next run where a signal came before', async () => {
    await site.crawl();
    site.plugin(SECOND);
    const stop = new AbortController();
    site.onWork = ({ work, done }) => {
      if (work === 'parsing stored pages' && done === 6) stop.abort();
    };
    const cut = await site.reparse({}, { signal: stop.signal });
    expect(cut).toMatchObject({ parsed: 6, isCutShort: true, duplicates: { marked: 0, restored: 0 } });
    expect(await site.reparse()).toMatchObject({ parsed: 7, differing: 1, duplicates: { marked: 1, restored: 1 } });
    expect(await duplicates()).toEqual(['/d of /c', '/f of /e']);
    // A run that had nothing left but the judging.
    expect(await site.reparse()).toMatchObject({ differing: 0, duplicates: { marked: 0, restored: 0 } });
  });

  it('are left alone with dedup.mode off', async () => {
    await site.crawl('dedup.mode=off');
    site.plugin(SECOND);
    expect(await site.reparse({}, {}, 'dedup.mode=off')).toMatchObject({ differing: 7, duplicates: { marked: 0 } });
    expect(await duplicates()).toEqual([]);
  });

  it('lose their links with dedup.mode skip-outlinks', async () => {
    site.served['/d'] = { body: page('D', words(4), words(105), ['/a']) };
    await site.crawl('dedup.mode=skip-outlinks');
    site.plugin(SECOND);
    await site.reparse({}, {}, 'dedup.mode=skip-outlinks');
    expect(await duplicates()).toEqual(['/d of /c', '/f of /e']);
    expect(await site.reparse({}, {}, 'dedup.mode=skip-outlinks')).toMatchObject({ differing: 0 });
  });
});

describe('pages that could not be parsed', () => {
  it('are back once they can be, at the time they were due before', async () => {
    site.served['/a'] = { body: `<hr>${page('A', words(2), words(102), ['/late'])}` };
    await site.crawl();
    expect(await site.record('/a')).toMatchObject({ state: 'parse_failed', title: null });
    const [before, visited] = [await site.changes(), await site.visited()];
    site.plugin(SECOND);
    site.now += DAY;
    const summary = await site.reparse({ where: 'state = parse_failed' });
    expect(summary).toMatchObject({ selected: 1, parsed: 1, differing: 1, links: { newUrls: 1 } });
    expect(summary.fields).toMatchObject({ state: 1, title: 1, signature: 1 });
    expect(await site.record('/a')).toMatchObject({ state: 'fetched', title: 'A', lastError: null });
    expect(await gained(before)).toEqual(['back /a']);
    expect(await site.visited()).toEqual(visited);
    expect(Object.keys(await site.exported())).toContain('/a');
    expect(await site.reparse({ where: 'url ~ "/a"' })).toMatchObject({ parsed: 1, differing: 0 });
  });

  it('and those that cannot now keep all that they have', async () => {
    site.served['/c'] = { body: `<br>${page('C', words(4), words(104))}` };
    await site.crawl();
    const before = [(await site.records())['/c'], (await site.exported())['/c']];
    site.plugin(SECOND);
    const summary = await site.reparse();
    expect(summary).toMatchObject({ parsed: 6, failed: 1 });
    expect(summary.failures).toEqual([
      expect.objectContaining({ code: 'parse-failed', visits: 1, url: `${site.origin}/c` }),
    ]);
    expect([(await site.records())['/c'], (await site.exported())['/c']]).toEqual(before);
  });
});

describe('pages without a stored body', () => {
  it('are counted, and keep their records', async () => {
    await site.crawl();
    const segments = join(site.dir, 'segments');
    const [first] = readdirSync(segments).sort();
    const before = (await site.records())['/'];
    rmSync(join(segments, first as string), { recursive: true });
    site.plugin(SECOND);
    expect(await site.reparse()).toMatchObject({ selected: 7, parsed: 6, notStored: 1, differing: 6 });
    expect((await site.records())['/']).toEqual(before);
  });
});

describe('links that are gone', () => {
  it('make orphans at the sweep, as with updatedb', async () => {
    await site.crawl();
    site.plugin(`${FIRST}
    page.result.outlinks = page.result.outlinks.filter(({ url }) => !url.endsWith('/e'));`);
    site.now += 60 * DAY;
    const summary = await site.reparse({}, {}, 'updatedb.orphans=mark');
    expect(summary).toMatchObject({ differing: 1, links: { pages: 1, added: 0, removed: 1 }, orphans: 1 });
    expect(await site.record('/e')).toMatchObject({ state: 'orphan' });
  });
});

describe('soft 404s', () => {
  it.each([true, false])('are recognised by the answer that was parsed anew: %s', async (isReparsed) => {
    const nothing = page('Sorry', words(90), words(190));
    site.elsewhere = { body: nothing };
    await site.crawl('fetch.soft404=true');
    site.plugin(SECOND);
    if (isReparsed) expect((await site.reparse({}, {}, 'fetch.soft404=true')).missingPages).toBe(1);
    site.now += 20 * DAY;
    site.served['/c'] = { body: nothing.replace('Sorry', 'Sorry!') };
    await site.opened(async (crawler) => {
      await crawler.touch([`${site.origin}/c`]);
      await crawler.crawl();
    }, 'fetch.soft404=true');
    expect((await site.record('/c'))?.state).toBe(isReparsed ? 'gone' : 'fetched');
  });
});
