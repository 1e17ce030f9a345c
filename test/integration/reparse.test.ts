import { describe, expect, it } from 'vitest';
import { DAY, reparsedSite, type Served, words } from './reparsed-site.ts';

/** Advertisement that the first version of the plugin takes for content: it fills most of the text. */
const AD = `<aside>${words(77, 200)}</aside>`;

const page = (title: string, seed: number, links: readonly string[], nonce = ''): string =>
  `<!doctype html><title>${title}</title><p>${words(seed)}</p>${AD}<!-- ${nonce} -->` +
  links.map((to) => `<a href="${to}">${to}</a>`).join(' ');

/** Everything is text, the title is shouted, links with a query are lost, and a topic is given. */
const FIRST = `
    page.result.title = page.result.title.toUpperCase();
    page.result.outlinks = page.result.outlinks.filter(({ url }) => !url.includes('?'));
    page.result.metadata.topic = 'old';
    page.result.metadata.stale = 1;
    page.result.mainText = page.result.text;
    page.result.blocks = [];`;
/** The mended one: content without the advertisement, the title as it is, links repaired. */
const MENDED = `
    page.result.outlinks = page.result.outlinks.map((link) => ({ ...link, url: link.url.replace('?x=1', '') }));
    page.result.metadata.topic = 'new';
    page.result.mainText = page.$('p').text();
    page.result.blocks = [];`;

const site = reparsedSite(({ served, plugin }) => {
  served['/'] = { body: page('Home', 1, ['/a', '/b', '/hidden?x=1']) };
  served['/a'] = { body: page('About us', 2, ['/']) };
  served['/b'] = { body: page('Blog', 3, ['/a']) };
  served['/hidden'] = { body: page('Hidden', 4, []) };
  plugin(FIRST);
});
/** The same bytes under a type that names the charset. */
function nameCharset(): void {
  for (const path of ['/a', '/b']) {
    site.served[path] = { ...(site.served[path] as Served), type: 'text/html; charset=utf-8' };
  }
}
const modified = async () => (await site.changes()).filter((change) => change.startsWith('modified'));

describe('a mended plugin', () => {
  it('reaches the pages that are there: records, links, exports, and the next run finds nothing', async () => {
    await site.crawl();
    const [before, feed] = [await site.visited(), await site.changes()];
    expect((await site.record('/a'))?.title).toBe('ABOUT US');
    site.plugin(MENDED);
    site.now += DAY;
    site.asked.length = 0;
    const summary = await site.reparse();
    expect(site.asked).toEqual([]);
    expect(summary).toMatchObject({ selected: 3, parsed: 3, notStored: 0, failed: 0, differing: 3, isCutShort: false });
    expect(summary.fields).toMatchObject({
      title: 3,
      signature: 3,
      textChars: 3,
      text: 3,
      'metadata.topic': 3,
      'metadata.stale': 3,
    });
    expect(summary.signatures).toMatchObject({ changed: 3 });
    expect(summary.signatures.meanDistance).toBeGreaterThan(3);
    expect(summary.links).toEqual({ pages: 1, added: 1, removed: 0, newUrls: 1 });
    const home = summary.examples.find(({ url }) => url === `${site.origin}/`);
    expect(home?.linksAdded).toEqual([`${site.origin}/hidden`]);
    expect(home?.fields).toContainEqual({ field: 'title', before: 'HOME', after: 'Home' });
    expect(home?.fields).toContainEqual({ field: 'metadata.stale', before: 1, after: null });
    expect(await site.record('/a')).toMatchObject({ title: 'About us', metadata: { topic: 'new' } });
    expect(await site.record('/hidden')).toMatchObject({ state: 'unfetched', depth: 1, referrer: `${site.origin}/` });
    const pages = await site.exported();
    expect(pages['/a']).toMatchObject({ title: 'About us', text: words(2) });
    expect(pages['/']?.outlinks).toContain(`${site.origin}/hidden`);
    expect(await site.visited()).toEqual(before);
    expect(await site.changes()).toEqual(feed);
    expect(await site.reparse()).toMatchObject({
      selected: 3,
      parsed: 3,
      differing: 0,
      fields: {},
      links: { newUrls: 0 },
    });
    expect(await site.isSound()).toBe(true);
  });

  it('finds pages by their records: by host, by field, since a time, and those fetched in full', async () => {
    await site.crawl();
    site.plugin(MENDED);
    site.now += DAY;
    expect(await site.reparse({ host: 'elsewhere.example' })).toMatchObject({ selected: 0, parsed: 0, differing: 0 });
    expect(await site.reparse({ where: 'title ~ BLOG' })).toMatchObject({ selected: 1, differing: 1 });
    expect(await site.record('/a')).toMatchObject({ title: 'ABOUT US' });
    expect((await site.exported())['/b']?.text).toBe(words(3));
    expect(await site.reparse({ since: { at: site.now } })).toMatchObject({ selected: 0 });
    expect(await site.reparse({ since: { at: site.now - 2 * DAY }, host: new URL(site.origin).host })).toMatchObject({
      selected: 3,
      differing: 2,
    });
  });

  it.each([true, false])('the same bytes under another charset are no change once reparsed: %s', async (isReparsed) => {
    await site.crawl();
    site.plugin(MENDED);
    if (isReparsed) await site.reparse();
    site.now += 40 * DAY;
    nameCharset();
    await site.crawl();
    expect(await modified()).toEqual(isReparsed ? [] : ['modified /a', 'modified /b']);
  });

  it.each([true, false])('changed bytes around the same content: reparsed %s', async (isReparsed) => {
    await site.crawl();
    site.plugin(MENDED);
    if (isReparsed) await site.reparse();
    site.now += 40 * DAY;
    site.served['/a'] = { body: page('About us', 2, ['/'], 'another nonce') };
    await site.crawl();
    const found = await site.record('/a');
    const distance = found?.visits.at(-1)?.distance ?? -1;
    if (isReparsed) expect(distance).toBe(0);
    else expect(distance).toBeGreaterThan(3);
  });
});
