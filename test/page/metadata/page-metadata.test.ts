import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonLd } from '../../../src/page/metadata/json-ld.ts';
import { authorNames, type PageMetadata, pageMetadata } from '../../../src/page/metadata/page-metadata.ts';
import { cleanText, type StatedField, Statements } from '../../../src/page/metadata/statements.ts';
import { declaredLanguage } from '../../../src/page/text/language.ts';
import { writtenTime } from '../../../src/page/text/written-time.ts';

type Said = readonly [field: StatedField, source: string, value: string];

const NOW = Date.UTC(2026, 0, 2);

function decide(said: readonly Said[], { url = 'https://www.example.org/a', isArticle = false } = {}): PageMetadata {
  const statements = new Statements();
  for (const [field, source, value] of said) statements.add(field, source, value);
  statements.isArticle = isArticle;
  return pageMetadata(statements, { url, now: NOW, resolve: (href) => (/^https?:/.test(href) ? href : null) });
}

const titles = (said: Readonly<Record<string, string | readonly string[]>>): Said[] =>
  Object.entries(said).flatMap(([source, values]) => [values].flat().map((value) => ['title', source, value] as const));

describe('the title', () => {
  it.each<[string, Parameters<typeof titles>[0], string, string]>([
    [
      'of a heading that the title element repeats before the name of the site',
      { title: 'A walk - The Example Post', h1: ['Menu', 'A walk'] },
      'A walk',
      'h1, title',
    ],
    [
      'of the statements that agree names all of them',
      { title: 'A | B', 'og:title': 'A', h1: 'A' },
      'A',
      'h1, og:title, title',
    ],
    ['without a heading has no name of the site by its host', { title: 'All of it | Example' }, 'All of it', 'title'],
    [
      'with the name of the site first',
      { title: 'Example: x', 'og:title': 'Example | All of it' },
      'All of it',
      'og:title',
    ],
    ['is no heading that is the name of the site', { title: 'All of it', h1: 'EXAMPLE.org' }, 'All of it', 'title'],
    [
      'written for sharing is preferred to a heading in other words, as the title element begins with it',
      {
        title: 'After the storm: a port counts - Example',
        'og:title': 'After the storm: a port counts',
        h1: 'A port counts',
      },
      'After the storm: a port counts',
      'og:title, title',
    ],
    [
      'is the heading that says most of the same words',
      { title: 'Best long walks in Wales | Example', h1: ['Newsletter', 'The best long walks in Wales'] },
      'The best long walks in Wales',
      'h1',
    ],
    [
      'is the title element where the heading is a slogan',
      { title: 'Piano lessons', h1: 'Feel alive' },
      'Piano lessons',
      'title',
    ],
    ['in capitals is taken as others write it', { title: 'All of it', h1: 'ALL OF IT' }, 'All of it', 'h1, title'],
    ['has no sign of a link to it', { title: 'Fields - Docs', h1: 'Fields¶' }, 'Fields', 'h1, title'],
    ['has no icon of a link to it', { title: 'Fields - Docs', h1: 'Fields \uf0c1' }, 'Fields', 'h1, title'],
    ['has no number sign of a link to it', { title: 'Fields - Docs', h1: 'Fields#' }, 'Fields', 'h1, title'],
    ['keeps the sign that is part of a name', { title: 'Learning C#', h1: 'Learning C#' }, 'Learning C#', 'h1, title'],
    [
      'is no heading over links to other pages',
      { title: 'Port of Halle counts on more ships', h1: ['Mehr aus Halle', 'Mehr aus der Region'] },
      'Port of Halle counts on more ships',
      'title',
    ],
    [
      'has no kicker that others leave out',
      {
        title: 'Shipping: A port counts its losses | Example',
        'og:title': 'A port counts its losses',
        h1: 'Shipping A port counts its losses',
      },
      'A port counts its losses',
      'og:title',
    ],
    [
      'has the colon that a heading shows as lines',
      { title: 'Shipping: A port counts its losses | Example', h1: 'Shipping A port counts its losses' },
      'Shipping: A port counts its losses',
      'h1, title',
    ],
    [
      'keeps a short beginning where only its end is repeated',
      { 'og:title': 'Port', title: 'Losses of a Port', h1: 'Losses of a Port' },
      'Losses of a Port',
      'h1, title',
    ],
    [
      'has no names behind slashes',
      { title: 'An image of 2024 / Discussion / Example Forums' },
      'An image of 2024',
      'title',
    ],
    [
      'in Chinese has no channels behind dashes',
      { title: '十年一遇最美月全食明晚登场-社会频道-某某网' },
      '十年一遇最美月全食明晚登场',
      'title',
    ],
    [
      'is a heading without the name of the site behind it',
      { title: 'A walk | Example Post', h1: 'A walk | Example Post' },
      'A walk',
      'h1, title',
    ],
    [
      'is no heading that says what kind of page it is',
      { title: 'All of it | Example', h1: 'Thread: All of it' },
      'All of it',
      'title',
    ],
    [
      'keeps underscores within words',
      { title: 'Module ngx_http_rewrite_module' },
      'Module ngx_http_rewrite_module',
      'title',
    ],
    [
      'has no section between it and the name of the site',
      { title: 'Which boots to buy - Walks - Example' },
      'Which boots to buy',
      'title',
    ],
    ['written with references twice', { title: 'Q &amp;amp; A', h1: 'Q &amp; A' }, 'Q & A', 'h1'],
  ])('%s', (_, said, title, source) => {
    const found = decide(titles(said));
    expect([found.title, found.sources.title]).toEqual([title, source]);
  });

  it('is the heading that the address names, where no other statement agrees', () => {
    const said = titles({ title: 'The heart of the internet', h1: ['Enameled cast iron pan', 'Related'] });
    const url = 'https://talk.example/r/1/enameled_cast_iron_pan/';
    expect(decide(said, { url }).title).toBe('Enameled cast iron pan');
  });

  it('is the part of the title that the address names, where the heading is the name of a book', () => {
    const said = titles({ title: 'What is ownership? - The Language', h1: 'The Language' });
    expect(decide(said, { url: 'https://doc.example/book/what-is-ownership.html' }).title).toBe('What is ownership?');
    expect(decide(said, { url: 'https://doc.example/book/the-language.html' }).title).toBe('The Language');
  });

  it('of the first page of a site has its name', () => {
    const said = titles({ 'og:title': 'Example | Tools for all' });
    expect(decide(said, { url: 'https://example.org/?from=mail' }).title).toBe('Example | Tools for all');
    expect(decide(said, { url: 'https://example.org/tools' }).title).toBe('Tools for all');
  });

  it('of an article is the heading that shares words with its title', () => {
    const said = titles({ title: 'Tax software of the year', h1: 'What to buy: software for tax and books' });
    expect(decide(said, { isArticle: true }).title).toBe('What to buy: software for tax and books');
    expect(decide(said).title).toBe('Tax software of the year');
  });

  it('takes linear time, whatever a page writes', () => {
    for (const unit of [' : ', ':', ' |', '-', 'a ', '> ', '_', '中-']) {
      const long = unit.repeat(1_000);
      expect(decide(titles({ title: `a ${long} b`, 'og:title': long, h1: [long, `x${long}`] })).sources).toBeDefined();
    }
  });
});

describe('authors', () => {
  it.each<[string, string[]]>([
    ['By Jane Doe and John Roe', ['Jane Doe', 'John Roe']],
    ['Felix Schröder und Jörg Soldwisch, dpa', ['Felix Schröder', 'Jörg Soldwisch', 'dpa']],
    ['Doe, Jane', ['Jane Doe']],
    ['Jane Doe, senior political editor', ['Jane Doe']],
    ['Jane Doe (Reuters)', ['Jane Doe']],
    ['Senior Editor', []],
    ['By Jane Doe', ['Jane Doe']],
    ['By Jane', ['Jane']],
    ['von Anna Weiß', ['Anna Weiß']],
    ['구현모 기자 reporter@example.com', ['구현모']],
    ['作者：王小明', ['王小明']],
    ['https://facebook.com/jane', []],
    ['@jane', []],
    ['admin', []],
    ['Jane Doe; Jane  Doe', ['Jane Doe']],
    ['We asked nine people of the town what they think about it', []],
  ])('%s', (written, names) => {
    expect(authorNames([cleanText(written, 500)])).toEqual(names);
  });

  it('are people rather than the site', () => {
    const said: Said[] = [
      ['siteName', 'og:site_name', 'The Example'],
      ['authors', 'json-ld author', 'The Example'],
      ['authors', 'meta author', 'Jane Doe'],
      ['authors', 'article:author', 'https://example.org/jane'],
    ];
    expect(decide(said)).toMatchObject({ authors: ['Jane Doe'], sources: { authors: 'meta author' } });
    expect(decide(said.slice(0, 2)).authors).toEqual(['The Example']);
  });
});

describe('times', () => {
  it.each<[string, string | null]>([
    ['2025-06-05T14:46:12+02:00', '2025-06-05T12:46:12.000Z'],
    ['2025-06-05T14:46:12+0200', '2025-06-05T12:46:12.000Z'],
    ['2025-06-05 14:46', '2025-06-05T14:46:00.000Z'],
    ['2025/6/5', '2025-06-05T00:00:00.000Z'],
    ['20250605', '2025-06-05T00:00:00.000Z'],
    ['20250605T144612Z', '2025-06-05T14:46:12.000Z'],
    ['1749127572', '2025-06-05T12:46:12.000Z'],
    ['Thu, 05 Jun 2025 14:46:12 GMT', '2025-06-05T14:46:12.000Z'],
    ['Thu, 05 Jun 2025 14:46:12', '2025-06-05T14:46:12.000Z'],
    ['June 5th, 2025 at 2:46 pm EDT', '2025-06-05T18:46:00.000Z'],
    ['Thursday, June 5, 2025', '2025-06-05T00:00:00.000Z'],
    ['5. Juni 2025, 14:46 Uhr', '2025-06-05T14:46:00.000Z'],
    ['5 de junho de 2025 às 9h15', '2025-06-05T00:00:00.000Z'],
    ['le 5 août 2025', '2025-08-05T00:00:00.000Z'],
    ['5 июня 2025, 14:46', '2025-06-05T14:46:00.000Z'],
    ['31.12.2024 23:59', '2024-12-31T23:59:00.000Z'],
    ['13/2/2025', '2025-02-13T00:00:00.000Z'],
    ['2/13/2025', '2025-02-13T00:00:00.000Z'],
    ['2025年6月5日 14:46', '2025-06-05T14:46:00.000Z'],
    ['3/4/2025', null],
    ['2025-02-30', null],
    ['yesterday', null],
    ['0001-01-01T00:00:00Z', null],
  ])('%s', (written, expected) => {
    const at = writtenTime(written);
    expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
  });

  it('are never in the future, and no page was modified before it was published', () => {
    const said = (published: string, modified: string): Said[] => [
      ['publishedAt', 'json-ld datePublished', published],
      ['modifiedAt', 'json-ld dateModified', modified],
    ];
    expect(decide(said('2026-01-05', '2026-01-06'))).toMatchObject({ publishedAt: null, modifiedAt: null });
    expect(decide(said('2025-06-05', '2025-06-04'))).toMatchObject({ modifiedAt: null });
    expect(decide(said('2025-06-05', '2025-06-06')).modifiedAt).toBe(Date.UTC(2025, 5, 6));
  });

  it('of a day get their clock from another source', () => {
    const found = decide([
      ['publishedAt', 'meta date', '2025-06-05T14:46:12Z'],
      ['publishedAt', 'json-ld datePublished', '2025-06-05'],
    ]);
    expect([found.publishedAt, found.sources.publishedAt]).toEqual([Date.UTC(2025, 5, 5, 14, 46, 12), 'meta date']);
  });

  it('reads any text without an error, within 1970 and 9999', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789-/.: TZ+apm,年月日JunMär'), maxLength: 60 }),
        (text) => {
          const at = writtenTime(text);
          expect(at === null || (at >= 0 && at < 253_402_300_800_000)).toBe(true);
        },
      ),
    );
  });
});

describe('JSON-LD', () => {
  const read = (json: unknown): [PageMetadata, Statements] => {
    const statements = new Statements();
    readJsonLd(typeof json === 'string' ? json : JSON.stringify(json), statements);
    return [pageMetadata(statements, { url: 'https://a.org/x', now: NOW, resolve: (href) => href }), statements];
  };

  it('is read from a graph, with people that stand elsewhere in it', () => {
    const [found] = read({
      '@graph': [
        { '@type': 'WebSite', name: 'The Site' },
        {
          '@type': ['Thing', 'NewsArticle'],
          headline: 'A &quot;walk&quot;',
          author: [{ '@id': '#p' }, 'John Roe'],
          image: { '@id': '#i' },
        },
        { '@type': 'Person', '@id': '#p', name: 'Jane Doe' },
        { '@type': 'ImageObject', '@id': '#i', url: 'https://a.org/i.png' },
      ],
    });
    expect(found).toMatchObject({
      title: 'A "walk"',
      authors: ['Jane Doe', 'John Roe'],
      siteName: 'The Site',
      image: 'https://a.org/i.png',
    });
  });

  it.each(['{"@type": "Article"', '{,}', 'undefined', '[', 'var x = {}'])('%s is counted, and says nothing', (text) => {
    const [found, { jsonLd, malformed }] = read(text);
    expect([found.title, jsonLd, malformed]).toEqual([null, 1, 1]);
  });

  it.each([
    '//<![CDATA[\n{"@type":"Article","headline":"A"}\n//]]>',
    '<!-- {"@type":"Article","headline":"A"} -->',
    '{"@type":"Article","headline":"A",\n"description":"two\nlines"};',
  ])('%s is read', (text) => {
    expect(read(text)[0].title).toBe('A');
  });

  it('of a list of articles names none of them', () => {
    const article = (headline: string) => ({ '@type': 'Article', headline, datePublished: '2020-01-01' });
    expect(read([article('A'), article('B')])[0]).toMatchObject({ title: null, publishedAt: null });
    expect(read({ '@type': 'ItemList', itemListElement: [article('A')] })[0].title).toBeNull();
  });

  it('may be nested as deep as it likes', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"@graph":[', ']}'],
      ['{"@type":[', ']}'],
      ['{"author":[', ']}'],
    ] as const) {
      const depth = 20_000;
      expect(read(`${open.repeat(depth)}1${close.repeat(depth)}`)[0].title).toBeNull();
    }
  });

  it('of any shape is no error', () => {
    const names = [
      '@type',
      '@id',
      '@graph',
      'headline',
      'author',
      'name',
      'image',
      'url',
      'publisher',
      'inLanguage',
      'datePublished',
    ];
    const leaf = fc.oneof(
      fc.constantFrom('Article', 'WebPage', 'Person', '2020-01-01', ''),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('node')),
      node: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
    }));
    fc.assert(
      fc.property(value, (json) => {
        expect(read(json)[0].sources).toBeDefined();
      }),
    );
  });
});

it('texts are on one line, without what shows nothing and what turns the reading direction', () => {
  expect(cleanText(' a\u0000\n\tb\u202e\u00adc &lt;d&#x3e; ', 100)).toBe('a bc <d>');
  expect(cleanText('नम\u200dस्ते', 100)).toBe('नम\u200dस्ते');
  expect(cleanText('x'.repeat(10_000), 10)).toHaveLength(10);
});

it.each<[string[], string | null, string]>([
  [['html lang:en-US', 'og:locale:en_GB'], 'en-US', 'html lang, og:locale'],
  [['html lang:en', 'og:locale:de_DE', 'json-ld inLanguage:de'], 'de-DE', 'og:locale, json-ld inLanguage'],
  [['html lang:en', 'og:locale:de_DE'], 'en', 'html lang'],
  [['html lang:', 'Content-Language:fr, en'], 'fr', 'Content-Language'],
  [['html lang:*'], null, ''],
])('the language of %j is %s', (declared, value, source) => {
  const statements = declared.map((each) => {
    const colon = each.lastIndexOf(':');
    return { source: each.slice(0, colon), value: each.slice(colon + 1) };
  });
  expect(declaredLanguage(statements)).toEqual(value === null ? null : { value, source });
});
