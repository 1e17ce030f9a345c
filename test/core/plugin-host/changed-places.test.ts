import fc from 'fast-check';
import { pack, unpack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { pageChange } from '../../../src/core/domain/crawl/change/page-change.ts';
import { compareAnswer, fullAnswer } from '../../../src/core/domain/crawl/states/compare-answer.ts';
import type { CrawlDatum, Visit } from '../../../src/core/domain/crawl/states/datum.ts';
import type { ParseOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';
import { ELSEWHERE, isWithin, type PlaceDiff, placeDiff } from '../../../src/page/diff/place-diff.ts';
import { packBlocks, unpackBlocks } from '../../../src/store/rows/codecs/block-codec.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { anyPage, changedParts, type EditedPage, htmlOf } from './edited-pages.ts';

const parser = await createInlinePageParser(
  {
    list: DEFAULT_PLUGIN_LIST,
    baseDir: process.cwd(),
    signature: 'simhash',
    limits: { maxTextChars: 500_000, maxOutlinks: 1_000, storeText: true },
    agent: 'incrawl',
    intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
  },
  { debug() {}, info() {}, warn() {}, error() {} },
);

const URL_ASKED = 'https://a.example/';

async function parsed(html: string, contentType = 'text/html; charset=utf-8') {
  const page = { index: 0, url: URL_ASKED, contentType, headers: {}, metadata: {}, body: Buffer.from(html) };
  const { record, result } = await parser.live(page);
  // As a segment hands it on.
  return { outcome: unpack(pack(record.outcome)) as ParseOutcome, page: result };
}

/** The record after a visit, stored and read again. */
function visited(datum: CrawlDatum, outcome: ParseOutcome, digest: string): CrawlDatum {
  const validators = { etag: null, lastModified: null, contentLength: null };
  const costs = { at: 1, requests: 1, bodyBytes: 1, receivedBytes: 1, ms: 1 };
  const facts = { status: 200, contentType: 'text/html', robotsTag: null, truncated: false, audit: null };
  const answer = fullAnswer({ kind: 'success', ...costs, ...facts, validators, digest }, outcome);
  const { outcome: found, distance, blocks } = compareAnswer(datum, answer);
  const kind: Visit['outcome'] = found === 'unchanged' ? 'unchanged-digest' : found;
  const visit = { at: 1, outcome: kind, distance, elapsedMs: 1, bytes: 1, intervalMs: 1 };
  const { signature = null, signatureName = null } = answer.parsed ?? {};
  const stored = unpackBlocks(packBlocks(blocks));
  return { ...datum, state: 'fetched', digest, signature, signatureName, blocks: stored, visits: [visit] };
}

/** What the feed names after a visit that finds `after` where `before` was, and what `diff` shows. */
async function changeOf(before: string, after: string, contentType?: string) {
  const [old, young] = [await parsed(before, contentType), await parsed(after, contentType)];
  const unknown = visitedDatum(URL_ASKED, { digest: null, blocks: null, signatureName: null, robotsTag: null });
  const first = visited(unknown, old.outcome, '00');
  const second = visited(first, young.outcome, before === after ? '00' : '01');
  const change = pageChange(first, second, 1);
  return { where: change?.blocks ?? [], diff: placeDiff(old.page, young.page) };
}

/** Every place named has an edit, and every edit lies in a place named. */
function expectAgreement(where: readonly string[], { places, where: shown }: PlaceDiff): void {
  expect(where).toEqual(shown);
  const hunks = places.map(({ place }) => place);
  for (const place of hunks) {
    expect(
      where.some((name) => name === ELSEWHERE || isWithin(place, name)),
      `${place} in ${where}`,
    ).toBe(true);
  }
  for (const name of where) {
    expect(
      hunks.some((place) => name === ELSEWHERE || isWithin(place, name)),
      `${name} of ${hunks}`,
    ).toBe(true);
  }
}

describe('what the change feed names, diff shows, and the reverse', () => {
  const check = async ({ before, after }: EditedPage): Promise<void> => {
    const { where, diff } = await changeOf(htmlOf(before), htmlOf(after));
    expectAgreement(where, diff);
    const expected = changedParts(before, after);
    expect(new Set(diff.places.map(({ place }) => place))).toEqual(expected);
    if (expected.size <= 3) expect(new Set(where)).toEqual(expected);
    else expect(where.length).toBeLessThanOrEqual(3);
    expect(where).not.toContain(ELSEWHERE);
  };

  it('for edits anywhere on a page', async () => {
    await fc.assert(fc.asyncProperty(anyPage, check), { numRuns: 400 });
  });

  it('for any mark-up and any text', async () => {
    const tags = fc.constantFrom(
      'p',
      'h2',
      'li',
      'ul',
      'td',
      'div',
      'pre',
      'noscript',
      'a',
      'b',
      'script',
      'title',
      'br',
    );
    const word = fc.oneof(
      fc.lorem({ maxCount: 4 }),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constant('\u0301 か\u3099 a'),
    );
    const part = fc
      .tuple(tags, fc.constantFrom('', ' hidden', ' class="sidebar"', ' style="display:none"'), word, fc.boolean())
      .map(([tag, sign, text, isOpen]) => `<${tag}${sign}>${text}${isOpen ? '' : `</${tag}>`}`);
    const parts = fc.array(part, { maxLength: 12 });
    const pages = fc.tuple(parts, fc.nat(11), part, fc.boolean());
    await fc.assert(
      fc.asyncProperty(pages, async ([before, at, edit, isNew]) => {
        const after = isNew ? before.toSpliced(at, 0, edit) : before.map((each, i) => (i === at ? edit : each));
        const { where, diff } = await changeOf(before.join('\n'), after.join('\n'));
        expectAgreement(where, diff);
      }),
      { numRuns: 400 },
    );
  });

  it('for white space around signs, which no word shows', async () => {
    const { where, diff } = await changeOf('<p>The function f(x) of x ,too</p>', '<p>The function f (x) of x, too</p>');
    expectAgreement(where, diff);
    expect(diff.edits.filter(({ op }) => op !== 'equal').map(({ text }) => text)).toEqual([
      'f(x) ',
      'f (x) ',
      'x ,too',
      'x, too',
    ]);
  });

  it('for a page of plain text, which is one place', async () => {
    const { where, diff } = await changeOf('One line.\nAnother line.', 'One line.\nA third line.', 'text/plain');
    expectAgreement(where, diff);
    expect(where).toContain('text');
  });

  it.each([
    ['a link', '<p>See <a href="/a">this page</a> for more.</p>', '<p>See <a href="/b">this page</a> for more.</p>'],
    ['a class', '<div><p>Some words.</p></div>', '<div class="advert sidebar"><p>Some words.</p></div>'],
    [
      'a description',
      '<meta name="description" content="One"><p>Words',
      '<meta name="description" content="Two"><p>Words',
    ],
    ['white space', '<p>Some words,\nand more.</p>', '<p>Some   words, and\n\tmore.</p>'],
    ['a paragraph cut in two', '<p>Some words. And more.</p>', '<p>Some words.</p><p>And more.</p>'],
    ['nothing', '<p>Some words</p>', '<p>Some words</p>'],
  ])('neither for %s', async (_, before, after) => {
    const { where, diff } = await changeOf(before, after);
    expect(where).toEqual([]);
    expect(diff.places).toEqual([]);
    expect(diff.edits.every(({ op }) => op === 'equal')).toBe(true);
  });
});

describe('places of a large page', () => {
  const page = (words: readonly string[]): string =>
    words.map((word, i) => `${'<div>'.repeat(i + 1)}<p>${word}</p>${'</div>'.repeat(i + 1)}`).join('');
  const words = Array.from({ length: 90 }, (_, i) => `word${i} ${'x'.repeat(i)}`);

  it('beyond those that are remembered are elsewhere', async () => {
    const [small, large] = [
      await changeOf(page(words), page(words.with(2, 'another'))),
      await changeOf(page(words), page(words.with(80, 'another'))),
    ];
    expect(small.where).toEqual([ELSEWHERE]);
    expectAgreement(small.where, small.diff);
    expect(large.where).toEqual([expect.stringMatching(/div\*81>p$/)]);
  });

  it('content beyond the blocks that are listed has a place too', async () => {
    const rows = Array.from({ length: 2_500 }, (_, i) => `<p>Row ${i} of the long list says what it has to say.</p>`);
    const list = (all: readonly string[]): string => `<main><h1>The list</h1>${all.join('')}</main>`;
    const { where, diff } = await changeOf(list(rows), list(rows.with(2_400, '<p>Another row.</p>')));
    expect(where).toEqual(['text']);
    expectAgreement(where, diff);
  });

  it('a place that grows past others is compared all the same', async () => {
    const { where, diff } = await changeOf(page(words), page(words.with(2, 'more and more '.repeat(50))));
    expect(where).toEqual([ELSEWHERE]);
    expect(diff.places).toHaveLength(1);
  });
});
