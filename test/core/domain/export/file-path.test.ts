import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filePathOf } from '../../../../src/core/domain/export/written-files.ts';

describe('the file of a URL', () => {
  it.each([
    ['https://example.org/', 'example.org/index.html'],
    ['https://example.org/docs/', 'example.org/docs/index.html'],
    ['https://example.org/docs/intro.html', 'example.org/docs/intro.html'],
    ['http://example.org:8080/a.html', 'http_example.org_8080/a.html'],
    ['https://xn--bcher-kva.example/', 'xn--bcher-kva.example/index.html'],
    ['http://[::1]/', /^http____1_\/index~[0-9a-f]{12}\.html$/],
    ['https://example.org/docs', /^example\.org\/docs~[0-9a-f]{12}\.html$/],
    ['https://example.org/docs/index.html', /^example\.org\/docs\/index~[0-9a-f]{12}\.html$/],
    ['https://example.org/?q=1', /^example\.org\/index~[0-9a-f]{12}\.html$/],
    ['https://example.org/A.html', /^example\.org\/a~[0-9a-f]{12}\.html$/],
    ['https://example.org/con.html', /^example\.org\/_con~[0-9a-f]{12}\.html$/],
    ['https://example.org/%2e%2e/%2Fetc/passwd', /^example\.org\/[a-z_]+\/passwd~[0-9a-f]{12}\.html$/],
    ['https://example.org/.htaccess', /^example\.org\/_htaccess~[0-9a-f]{12}\.html$/],
    ['https://example.org/a.html/b.html', /^example\.org\/a_html\/b~[0-9a-f]{12}\.html$/],
    ['https://example.org/nul/b.html', /^example\.org\/_nul\/b~[0-9a-f]{12}\.html$/],
    [
      `http://${`${'a'.repeat(49)}.`.repeat(5)}org:8080/a.html`,
      /^http_a{49}\.a{49}\.a{49}\.a{45}~[0-9a-f]{12}\/a\.html$/,
    ],
    [`https://example.org/${'x'.repeat(500)}`, /^example\.org\/x{80}~[0-9a-f]{12}\.html$/],
  ])('%s', (url, expected) => {
    const path = filePathOf(new URL(url).href, 'html');
    if (typeof expected === 'string') expect(path).toBe(expected);
    else expect(path).toMatch(expected);
  });

  it.each([
    ['https://example.org/', 'example.org/index.md'],
    ['https://example.org/docs', 'example.org/docs.md'],
    ['https://example.org/docs/', 'example.org/docs/index.md'],
    ['https://example.org/docs.html', 'example.org/docs.html.md'],
    ['https://example.org/docs.md', 'example.org/docs.md.md'],
    ['https://example.org/v1.2/docs', 'example.org/v1.2/docs.md'],
    ['https://example.org/index', /^example\.org\/index~[0-9a-f]{12}\.md$/],
    ['https://example.org/docs.md/a', /^example\.org\/docs_md\/a~[0-9a-f]{12}\.md$/],
    ['https://example.org/docs?page=2', /^example\.org\/docs~[0-9a-f]{12}\.md$/],
  ])('made from the page: %s', (url, expected) => {
    const path = filePathOf(url, 'md', 'appended');
    if (typeof expected === 'string') expect(path).toBe(expected);
    else expect(path).toMatch(expected);
  });

  const name = fc.oneof(
    fc.constantFrom(
      '',
      '.',
      '..',
      'a',
      'A',
      'b.html',
      'B.HTML',
      'index',
      'index.html',
      'CON',
      'a~b',
      'x.html',
      '%00',
      '%E4%BD',
      '\\',
      'a b',
      '*',
    ),
    fc.string({ maxLength: 8 }),
  );
  const url = fc
    .tuple(
      fc.constantFrom(
        'https://a.example',
        'http://a.example',
        'https://a.example:8443',
        'https://http_a.example',
        'https://con.example',
        'https://_con.example',
      ),
      fc.array(name, { maxLength: 20 }),
      fc.constantFrom('', '?a', '?A=/../'),
    )
    .map(([origin, names, query]) => new URL(`${origin}/${names.join('/')}${query}`.replaceAll('#', '')).href);

  it('stays below the root, in names that every system takes', () => {
    fc.assert(
      fc.property(url, (each) => {
        const path = filePathOf(each, 'html');
        expect(posix.normalize(path)).toBe(path);
        expect(path).toMatch(/^[a-z0-9_][^/]*(?:\/[^/]+)+$/);
        for (const part of path.split('/')) {
          expect(part).toMatch(/^[a-z0-9_][a-z0-9._+~-]*[a-z0-9_~+-]$|^[a-z0-9_]$/);
          expect(part).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/);
          expect(part.length).toBeLessThan(110);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['own', 'appended'] as const)(
    'is another one for each URL, and no file is the folder of another: %s',
    (naming) => {
      fc.assert(
        fc.property(fc.uniqueArray(url, { maxLength: 60 }), (urls) => {
          const paths = urls.map((each) => filePathOf(each, 'html', naming));
          expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
          const folders = new Set(
            paths.flatMap((path) => path.split('/').map((_, i, all) => all.slice(0, i).join('/'))),
          );
          expect(paths.filter((path) => folders.has(path))).toEqual([]);
        }),
        { numRuns: 300 },
      );
    },
  );
});
