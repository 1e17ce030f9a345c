import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findPackage } from '../../../../src/core/packages/find-package.ts';
import { testHost } from '../../../../src/core/plugin-host/api/plugin-testing.ts';
import { loadParsing } from '../../../../src/core/plugin-host/parsing/load-parsing.ts';
import { parseLive } from '../../../../src/core/plugin-host/parsing/parse-page.ts';

const DOWNLOAD_MS = 60_000;
const root = mkdtempSync(join(tmpdir(), 'incrawl-debian-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A manual of Debian that its package has as PDF and as EPUB; `null`: neither installed nor to be had. */
function manual(): { readonly pdf: Buffer; readonly epub: Buffer } | null {
  const path = 'usr/share/developers-reference/developers-reference';
  const place = existsSync(`/${path}.pdf`) ? '/' : root;
  if (place === root) {
    const run = (command: string, args: readonly string[]): boolean =>
      spawnSync(command, args, { cwd: root, stdio: 'ignore', timeout: DOWNLOAD_MS }).status === 0;
    if (!run('apt-get', ['download', '-qq', 'developers-reference'])) return null;
    const archive = readdirSync(root).find((name) => name.endsWith('.deb'));
    if (archive === undefined || !run('dpkg-deb', ['-x', archive, '.'])) return null;
  }
  const [pdf, epub] = ['pdf', 'epub'].map((ending) => readFileSync(join(place, `${path}.${ending}`)));
  return { pdf: pdf!, epub: epub! };
}

const found = findPackage('pdfjs').length > 0 ? manual() : null;
const why = 'skipped unless "incrawl packages install pdfjs" was run and apt-get has developers-reference';

describe.skipIf(found === null)(`the Developer's Reference of Debian, as PDF and as EPUB (${why})`, () => {
  const parsed = async (body: Buffer) => {
    const { plugins, signature, limits } = await loadParsing(
      {
        list: {
          entries: ['parse-pdf', 'parse-office', 'parsefilter-main-content', 'signature-simhash'].map((use) => ({
            use,
            options: {},
            where: 'test',
          })),
          winners: {},
        },
        baseDir: '.',
        signature: 'simhash',
        limits: { maxTextChars: 1_000_000, maxOutlinks: 5_000, storeText: true },
        agent: testHost.agent,
        intervals: testHost.intervals,
      },
      testHost.log,
    );
    const page = { index: 0, url: 'http://example.org/a', contentType: null, headers: {}, body, metadata: {} };
    return await parseLive(page, plugins, signature, limits);
  };
  const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}{5,}/gu));
  const share = (of: Set<string>, within: Set<string>): number =>
    [...of].filter((word) => within.has(word)).length / of.size;

  it('says the same in both: title, language, words and links', { timeout: 240_000 }, async () => {
    const [pdf, epub] = [await parsed(found!.pdf), await parsed(found!.epub)];
    for (const { record, result } of [pdf, epub]) {
      expect(record.outcome.kind).toBe('parsed');
      expect(result.title).toMatch(/developer.?s.reference/i);
      expect(result.lang).toMatch(/^en/);
      expect(result.blocks.length).toBeGreaterThan(1_000);
    }
    const [inPdf, inEpub] = [wordsOf(pdf.record.text), wordsOf(epub.record.text)];
    expect(share(inEpub, inPdf)).toBeGreaterThan(0.97);
    expect(share(inPdf, inEpub)).toBeGreaterThan(0.97);
    const [links, others] = [pdf, epub].map(({ result }) => new Set(result.outlinks.map(({ url }) => url)));
    expect(links!.size).toBeGreaterThan(100);
    expect(share(others!, links!)).toBeGreaterThan(0.9);
    // Running heads are no text: they stand on more than a hundred pages.
    expect(pdf.record.text.split('\n').filter((line) => /^Chapter \d+\. .* \d+$/.test(line)).length).toBeLessThan(5);
  });
});
