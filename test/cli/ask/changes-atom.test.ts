import { beforeAll, describe, expect, it } from 'vitest';
import type { ChangeView } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { NOTED, noteHostileChanges } from '../support/hostile-changes.ts';
import { readAsCrawler } from '../support/read-feed.ts';

const cwd = workDir();
beforeAll(() => noteHostileChanges(cwd));

const atom = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(['changes', '--format', 'atom', ...args], { cwd });
  expect(code, stderr).toBe(0);
  return stdout;
};
const idsIn = (feed: string): string[] => [...feed.matchAll(/<id>(.*)<\/id>/g)].map(([, id]) => id!);

describe('changes --format atom', () => {
  it('has what changed, newest first, with its link and times', async () => {
    const feed = await atom();
    expect([...feed.matchAll(/<category term="(\w+)"/g)].map(([, kind]) => kind)).toEqual(
      ['new', 'modified', 'moved', 'gone', 'duplicate', 'back', 'dropped'].reverse(),
    );
    expect(feed).toContain('<updated>2026-03-01T08:00:01.000Z</updated>\n<author>');
    expect(feed).toContain(
      '<published>2026-03-01T07:59:00.000Z</published>\n<updated>2026-03-01T08:00:01.000Z</updated>',
    );
    expect(feed).toContain('<link rel="alternate" href="https://a.example/?x=1&amp;y=%3C"/>');
    expect(feed).toContain('12 of 64 bits of its signature differ. Places that differ: body&gt;main&gt;p.');
    expect(feed).toContain('redirects to https://b.example/&quot;new&quot;.');
    expect(feed).toContain('gone (status 410)');
    expect(feed).toContain('<title type="text">Gone: https://b.example/gone</title>');
    expect(feed).toContain('<title type="text">Back: https://a.example/back</title>');
  });

  it('keeps the ids of entries, whatever is selected, and has one of its own for each selection', async () => {
    const [all, again, some] = [await atom(), await atom(), await atom('--host', 'b.example')];
    expect(again).toBe(all);
    for (const id of idsIn(all)) {
      expect(id).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    }
    expect(new Set(idsIn(all)).size).toBe(8);
    expect(idsIn(some)[0]).not.toBe(idsIn(all)[0]);
    expect(idsIn(some).slice(1)).toEqual(idsIn(all).slice(3, 6));
  });

  it('is the same feed for the parser of this crawler', async () => {
    const { kind, feed, faults } = readAsCrawler(await atom());
    expect({ kind, faults }).toEqual({ kind: 'feed', faults: [] });
    expect(feed.entries.map(({ url }) => url)).toContain('https://a.example/?x=1&y=%3C');
    expect(feed.entries.at(-1)).toMatchObject({ modifiedAt: NOTED });
    expect(feed.entries.at(-1)?.title).toContain('<script>alert(1)</script> &amp; "q" \\x00\\x0b\ufffd');
  });
});

describe('changes --where', () => {
  const urls = async (where: string): Promise<string[]> =>
    (await json<ChangeView[]>(['changes', '--where', where], { cwd })).map(({ url }) => new URL(url).pathname);

  it.each([
    ['kind in (gone, moved)', ['/old', '/gone']],
    ['distance >= 3 and domain = a.example', ['/news', '/back']],
    ['blocks ~ main', ['/news']],
    ['httpStatus = 410 or target like "https://a.*"', ['/gone', '/copy']],
    ['at < 2026-01-01', []],
    ['notedAt > 2026-03-01T08:00:00.5Z and title = null', ['/gone']],
  ])('%s', async (where, expected) => {
    expect(await urls(where)).toEqual(expected);
  });

  it.each([
    ['kinds = gone', 'Did you mean kind?'],
    ['kind = lost', 'gone'],
    ['distance > far', 'number'],
  ])('refuses %s', async (where, message) => {
    const { code, stderr } = await run(['changes', '--where', where], { cwd });
    expect([code, stderr.toLowerCase()]).toEqual([2, expect.stringContaining(message.toLowerCase())]);
  });
});
