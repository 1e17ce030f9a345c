import { deepStrictEqual } from 'node:assert';
import { isAscii } from 'node:buffer';
import { parseDocument } from 'htmlparser2';
import parseHtml from '../../../../plugins/parse-html/plugin.ts';
import mainContent from '../../../../plugins/parsefilter-main-content/plugin.ts';
import noiseLinks from '../../../../plugins/parsefilter-noise-links/plugin.ts';
import { isUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';
import type { Page, ParseFilter, ParseResult, Parser } from '../../../../src/core/plugin-host/api/plugin-api.ts';
import { testHost } from '../../../../src/core/plugin-host/api/plugin-testing.ts';
import { type DecodeHints, decodeBody, utf8Of } from '../../../../src/core/plugin-host/parsing/decode.ts';
import { LivePage, PageMemory } from '../../../../src/core/plugin-host/parsing/live-page.ts';
import { type FuzzTarget, holds } from './target.ts';

const parser = (await parseHtml.setup(testHost, parseHtml.options!.parse({}))) as Parser;
const filters = [
  await mainContent.setup(testHost, mainContent.options!.parse({})),
  await noiseLinks.setup(testHost, noiseLinks.options!.parse({})),
] as ParseFilter[];
const shared = new PageMemory();

async function resultOf(body: Buffer, memory: PageMemory, behindParser?: (page: Page) => void): Promise<ParseResult> {
  const contentType = 'text/html; charset=utf-8';
  const page = new LivePage(
    { index: 0, url: 'https://a.example/page', contentType, headers: {}, metadata: {}, body },
    memory,
  );
  await parser.parse(page);
  behindParser?.(page);
  for (const filter of filters) await filter.filter(page);
  const result = { ...page.result };
  page.release();
  return result;
}

/**
 * Where htmlparser2 reads markup otherwise than browsers and this program do: it ends sections and comments elsewhere,
 * and takes two control characters for `<` and `/` where it looks for the end tag of a title or script.
 */
const ODD_MARKUP = ['<![CDATA[', '--!>', '\x1c', '\x0f'];

function withoutOddMarkup(input: Buffer): Buffer {
  let plain = input;
  for (let odd = oddIn(plain); odd !== undefined; odd = oddIn(plain))
    plain = Buffer.from(plain.toString('latin1').replaceAll(odd, ''), 'latin1');
  return plain;
}

const oddIn = (input: Buffer): string | undefined => ODD_MARKUP.find((each) => input.includes(each));

/** The scanner, its flat page, and the filters on it. */
const html: FuzzTarget = {
  name: 'html',
  stepsPerByte: 1_000,
  isSlow: true,
  runs: 80,
  words: [
    ...'<p> </p> <div class="nav x"> </div> <li> <ul> </ul> <table> <tr> <td> </table> <a href="/x?a=1&amp;b=2"> </a>'.split(
      ' ',
    ),
    ...'<h2> </h2> <main> </main> <nav> </nav> <span hidden> </span> <svg> </svg> <br> </br> <b> </b> < > </ <! "'.split(
      ' ',
    ),
    ...[
      '<!-- c -->',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?xml',
      '<script>a="<p>"',
      '</script>',
      '<style>',
      '</style>',
    ],
    ...[
      '<title>T &amp; t',
      '</title>',
      '<textarea>',
      '</textarea>',
      '<base href=//b.example/>',
      '<meta charset=utf-8>',
    ],
    ...[
      '<p style="display:none">',
      '&#0;',
      '&#x110000;',
      '&notit;',
      '&ngE;',
      '&',
      '\0',
      '\x0c',
      '\xef\xbb\xbf',
      '\xc3\xa9',
    ],
    ...[
      '<link rel=canonical href=/c>',
      '<template>',
      '</template>',
      '<select><option>',
      '<img alt=x>',
      'words of text ',
    ],
  ],
  async check(input) {
    const own = await resultOf(input, shared);
    deepStrictEqual(await resultOf(input, new PageMemory()), own, 'the page before it changes nothing');
    deepStrictEqual(await resultOf(input, shared, (page) => void page.dom), own, 'as from its DOM');
    holds(own.text.length <= 2 * input.length, 'the text is no longer than twice the page', own.text.length);
    holds(own.outlinks.length <= input.length / 2, 'a link takes two bytes at least', own.outlinks.length);
    for (const { url } of own.outlinks) holds(isUrl(url), 'links are absolute', url);
    const plain = withoutOddMarkup(input);
    const plainOwn = plain === input ? own : await resultOf(plain, shared);
    // A DOM of another parser has no places of elements: links are not compared.
    const other = await resultOf(plain, shared, (page) => {
      if (plainOwn.mainText === null && plainOwn.blocks.length === 0) page.dom = parseDocument(page.content);
    });
    deepStrictEqual({ ...other, outlinks: [] }, { ...plainOwn, outlinks: [] }, 'as from the DOM of another parser');
  },
};

const KINDS = ['html', 'xml', 'text'] as const;
const TYPES = [null, 'text/html', 'text/html; charset=utf-8', 'text/html; charset=gbk', 'a/b; charset="ISO-2022-JP"'];

const charset: FuzzTarget = {
  name: 'charset',
  stepsPerByte: 2_300,
  isSlow: true,
  runs: 120,
  words: [
    ...[
      '<meta charset=',
      'gb18030',
      'shift_jis',
      'utf-16',
      'utf-7',
      'x-user-defined',
      '>',
      '<meta http-equiv=content-type',
    ],
    ...[
      ' content="text/html; charset=',
      '"',
      "<?xml version='1.0' encoding='",
      "'?>",
      '\xef\xbb\xbf',
      '\xff\xfe',
      '\xfe\xff',
    ],
    ...[
      '\x1b$B',
      '\x1b(B',
      '\xe4\xb8\xad',
      '\xd6\xd0',
      '\x84\x31\xa4\x37',
      '\xc3\xa4',
      '\xe4',
      '\x80',
      '\0',
      'plain words ',
    ],
  ],
  check(input) {
    for (const kind of KINDS) {
      for (const contentType of TYPES) {
        const hints: DecodeHints = { contentType, kind };
        const { text, charset: name } = decodeBody(input, hints);
        deepStrictEqual(decodeBody(input, hints), { text, charset: name }, 'the same each time');
        holds(text.length <= 2 * input.length, 'a byte is two units of text at most', name, text.length, input.length);
        holds(!/\p{Surrogate}/u.test(text), 'text has no lone surrogates', name);
        const utf8 = Buffer.from(utf8Of(name, input));
        deepStrictEqual(utf8.toString('utf8'), text, 'the same text as UTF-8');
        const again = decodeBody(Buffer.from(text), { contentType: 'text/plain; charset=utf-8', kind: 'text' });
        // A declared UTF-8 is decoded as that; a mark at its beginning is no text.
        if (again.charset === 'utf-8') deepStrictEqual(again.text, text.replace(/^\ufeff/, ''), 'decoding again');
        if (name === 'utf-8' && isAscii(input)) deepStrictEqual(text, input.toString('latin1'), 'ASCII stays');
      }
    }
  },
};

export const PAGE_TARGETS: readonly FuzzTarget[] = [html, charset];
