import { type Answer, type Asked, answers, type Behaviour, bytes, HTML, PAGE, page, response } from './behaviour.ts';

const html = (rows: readonly (readonly [string, string, string])[]): Behaviour[] =>
  answers(rows.map(([name, ends, body]) => [`page: ${name}`, ends, page([], body)] as const));

const leading = (rows: readonly (readonly [string, string, (asked: Asked) => string])[]): Behaviour[] =>
  answers(rows.map(([name, ends, body]) => [`page: ${name}`, ends, (asked: Asked) => page([], body(asked))] as const));

const coded = (rows: readonly (readonly [string, string, Buffer])[]): Behaviour[] =>
  answers(
    rows.map(([name, type, body]) => [`page: ${name}`, 'fetched', bytes([`Content-Type: ${type}`], body)] as const),
  );

const xml = (rows: readonly (readonly [string, string, string, (asked: Asked) => string])[]): Behaviour[] =>
  answers(
    rows.map(
      ([name, ends, type, body]) =>
        [`page: ${name}`, ends, (asked: Asked) => response('200 OK', [`Content-Type: ${type}`], body(asked))] as const,
    ),
  );

const many = (count: number, piece: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => piece(i)).join('');
const SCRIPT = '<script>fetch("/never")</script>';
const LAUGHS = `<!DOCTYPE l [<!ENTITY a "ha">${many(9, (i) => `<!ENTITY ${'bcdefghij'[i]} "${`&${'abcdefghi'[i]};`.repeat(10)}">`)}]>`;
const RSS = 'application/rss+xml';

/** Ten links that no page had before. */
const moreLinks: Answer = ({ path }) =>
  page(
    [],
    many(10, (i) => `<a href="${path === '/' ? '' : path}/${i}">deeper ${i}</a> `),
  );

/** Good HTTP with a body that is hard to read. */
export const PAGES: readonly Behaviour[] = [
  ...html([
    ['200,000 elements deep', 'fetched parse-failed parse-timeout', '<div>'.repeat(200_000)],
    ['200,000 links deep', 'fetched parse-failed parse-timeout', '<a href=/x>'.repeat(150_000)],
    ['50,000 tables deep', 'fetched parse-failed parse-timeout', '<table><tr><td>'.repeat(50_000)],
    ['200,000 formats left open', 'fetched parse-failed parse-timeout', '<b><i>'.repeat(200_000)],
    ['500,000 ends of nothing', 'fetched', '</p></x>'.repeat(250_000)],
    ['half a million attributes', 'fetched', `<p ${many(250_000, (i) => `a${i} `)}>words</p>`],
    ['an attribute of 2 MB', 'fetched', `<a href="/${'x'.repeat(2_000_000)}">long</a>`],
    ['an element of a long name', 'fetched', `<${'x'.repeat(1_000_000)}>words`],
    ['NULs', 'fetched', `<p>wo\0rds\0</p>${'\0'.repeat(10_000)}<a href="/\0">link</a>`],
    ['a title of 1 MB', 'fetched', `<title>${'t'.repeat(1_000_000)}</title><p>words</p>`],
    ['10,000 titles', 'fetched', many(10_000, (i) => `<title>${i}</title>`)],
    ['a title of control characters', 'fetched', '<title>\x1b[2J\x07\x1b]0;own\x07</title><p>words'],
    ['200,000 links', 'fetched', many(200_000, (i) => `<a href=/${i}>`)],
    ['100,000 links to one page', 'fetched', '<a href=/one>one</a>'.repeat(90_000)],
    ['links of bad URLs', 'fetched', many(1000, (i) => `<a href="http://[${i}/">a</a><a href="http://%${i}/">b</a>`)],
    [
      'links of every scheme',
      'fetched',
      '<a href="javascript:x()">a</a><a href="file:///etc/passwd">b</a><a href="data:,x">c</a>',
    ],
    ['links to ports', 'fetched', many(100, (i) => `<a href="http://127.99.0.1:${i + 1}/">port</a>`)],
    ['an unclosed script', 'fetched', `<p>words</p><script>${'x();'.repeat(100_000)}`],
    ['an unclosed comment', 'fetched', `<p>words</p><!-- ${'more '.repeat(100_000)}`],
    ['an unclosed attribute', 'fetched', `<p>words</p><a href="${'/x '.repeat(100_000)}`],
    ['an unclosed textarea', 'fetched', `<p>words</p><textarea>${'<p>'.repeat(100_000)}`],
    ['100,000 comments', 'fetched', '<!--x-->'.repeat(100_000)],
    ['scripts', 'fetched', SCRIPT.repeat(10_000)],
    ['200,000 entities', 'fetched', '&amp;&#x10ffff;&#xffffffff;&nosuch;'.repeat(50_000)],
    ['one word of 2 MB', 'fetched', `<p>${'w'.repeat(2_000_000)}`],
    ['a million blanks', 'fetched', `<p>a${' '.repeat(1_000_000)}b`],
    ['100,000 metas', 'fetched', '<meta name=robots content=all>'.repeat(60_000)],
    ['a meta robots of 1 MB', 'fetched', `<meta name=robots content="${'nofollow,'.repeat(100_000)}"><p>words`],
    [
      'dates beyond dates',
      'fetched',
      '<time datetime="999999-99-99T99:99:99Z">then</time><meta property="article:published_time" content="+275761-01-01">',
    ],
    [
      'JSON-LD 10,000 deep',
      'fetched',
      `<script type="application/ld+json">${'['.repeat(100_000)}${']'.repeat(100_000)}</script><p>words`,
    ],
    [
      'JSON-LD with __proto__',
      'fetched',
      '<script type="application/ld+json">{"__proto__":{"@type":"Article","author":{"name":{"name":1}}}}</script><p>x',
    ],
    ['a refresh to itself', 'fetched moved', '<meta http-equiv=refresh content="0; url=/"><p>words'],
    ['a base of garbage', 'fetched', '<base href="http://[/"><a href="x">link</a>'],
    ['a base of javascript:', 'fetched', '<base href="javascript:alert(1)//"><a href="x">link</a>'],
    ['a canonical of garbage', 'fetched', '<link rel=canonical href="http://[/"><p>words'],
  ]),
  ...leading([
    ['a base at the canary', 'fetched', ({ canary }) => `<base href="${canary}/"><a href="x">link</a><img src=y.png>`],
    [
      'a refresh to the canary',
      'fetched moved',
      ({ canary }) => `<meta http-equiv=refresh content="0; url=${canary}/"><p>x`,
    ],
    [
      'a canonical at the canary',
      'fetched duplicate',
      ({ canary }) => `<link rel=canonical href="${canary}/"><p>words`,
    ],
    [
      'images and frames at the canary',
      'fetched',
      ({ canary }) => `<img src="${canary}/a.png"><iframe src="${canary}/b"></iframe>`,
    ],
    [
      'prefetches of the canary',
      'fetched',
      ({ canary }) => `<link rel="prefetch preload dns-prefetch" href="${canary}/a"><p>x`,
    ],
    ['links to the canary', 'fetched', ({ canary }) => `<a href="${canary}/">a</a><a href="${canary}/?q">b</a>`],
  ]),
  ...coded([
    ['a wrong charset', 'text/html; charset=utf-8', Buffer.from('<p>gr\xfc\xdfe \xff\xfe\xc0\x80', 'latin1')],
    ['UTF-16 without a byte order mark', 'text/html', Buffer.from(PAGE, 'utf16le')],
    ['UTF-16 with half a letter', 'text/html; charset=utf-16le', Buffer.from(PAGE, 'utf16le').subarray(0, 101)],
    [
      'lone surrogates',
      'text/html; charset=utf-16le',
      Buffer.from('<p>\ud800 \udfff \ud800</p>'.repeat(50), 'utf16le'),
    ],
    ['UTF-7', 'text/html', Buffer.from('<meta charset=utf-7>+ADw-script+AD4-alert(1)+ADw-/script+AD4-')],
    [
      'UTF-32',
      'text/html; charset=utf-32',
      Buffer.from([...PAGE].flatMap((letter) => [letter.charCodeAt(0), 0, 0, 0])),
    ],
    ['overlong UTF-8', 'text/html; charset=utf-8', Buffer.from('3c703ec0afe080aff08080aff888808080', 'hex')],
    ['ISO-2022-JP left open', 'text/html; charset=iso-2022-jp', Buffer.from('<p>\x1b$B%F%9%H')],
    [
      'letters of many marks',
      HTML.slice(14),
      Buffer.from(`<meta charset=utf-8><p>${`a${'\u0301'.repeat(5000)}`.repeat(50)}`),
    ],
    [
      'both directions',
      HTML.slice(14),
      Buffer.from(`<meta charset=utf-8><title>\u202e\u2066txt.exe</title><p>${'\u202e'.repeat(10_000)}`),
    ],
  ]),
  ...xml([
    ['billion laughs', 'fetched parse-failed parse-unsupported', 'application/xml', () => `${LAUGHS}<l>&j;</l>`],
    [
      'billion laughs in a feed',
      'fetched parse-failed',
      RSS,
      () => `${LAUGHS}<rss><channel><title>&j;</title></channel></rss>`,
    ],
    [
      'an external entity at the canary',
      'fetched parse-failed parse-unsupported',
      'application/xml',
      ({ canary }) => `<!DOCTYPE x [<!ENTITY e SYSTEM "${canary}/e">]><x>&e;</x>`,
    ],
    [
      'an external entity in a feed',
      'fetched parse-failed',
      RSS,
      ({ canary }) =>
        `<!DOCTYPE rss [<!ENTITY e SYSTEM "${canary}/e">]><rss><channel><title>&e;</title></channel></rss>`,
    ],
    [
      'an external entity of a file',
      'fetched parse-failed',
      RSS,
      () => '<!DOCTYPE rss [<!ENTITY e SYSTEM "file:///etc/passwd">]><rss><channel><title>&e;</title></channel></rss>',
    ],
    [
      'a stylesheet at the canary',
      'fetched parse-failed parse-unsupported',
      'application/xml',
      ({ canary }) => `<?xml-stylesheet href="${canary}/s.xsl"?><x/>`,
    ],
    [
      'a feed of 50,000 items',
      'fetched',
      RSS,
      () => `<rss><channel>${many(30_000, (i) => `<item><link>/${i}</link></item>`)}</channel></rss>`,
    ],
    ['a feed 100,000 deep', 'fetched parse-failed', RSS, () => '<rss><channel>'.repeat(100_000)],
    [
      'a feed of broken dates',
      'fetched parse-failed',
      RSS,
      () => '<rss><channel><item><link>/a</link><pubDate>the day after</pubDate></item></channel></rss>',
    ],
    [
      'a sitemap that lists itself',
      'fetched parse-unsupported parse-failed',
      'application/xml',
      ({ origin }) => `<sitemapindex><sitemap><loc>${origin}/</loc></sitemap></sitemapindex>`,
    ],
    ['JSON 100,000 deep', 'fetched parse-failed parse-unsupported', 'application/json', () => '['.repeat(100_000)],
    ['a text of 2 MB', 'fetched', 'text/plain', () => 'words and more words\n'.repeat(100_000)],
  ]),
  { name: 'page: links without end', ends: ['fetched'], answer: moreLinks, others: moreLinks },
];
