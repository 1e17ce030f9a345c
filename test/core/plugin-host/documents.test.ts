import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DocumentReader, DocumentWriter } from '../../../src/core/plugin-host/api/documents.ts';
import { samplePage, testHost } from '../../../src/core/plugin-host/api/plugin-testing.ts';
import type { PluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createPageConverter } from '../../../src/core/plugin-host/markdown/convert-page.ts';
import { loadParsing } from '../../../src/core/plugin-host/parsing/load-parsing.ts';
import { parseLive } from '../../../src/core/plugin-host/parsing/parse-page.ts';
import { madeOpenDocument, TYPES } from '../../site/made-office.ts';

const listOf = (...names: string[]): PluginList => ({
  entries: names.map((use) => ({ use, options: {}, where: 'test' })),
  winners: {},
});
const loading = (...names: string[]) =>
  loadParsing(
    {
      list: listOf('parse-office', ...names, 'signature-simhash'),
      baseDir: '.',
      signature: 'simhash',
      limits: { maxTextChars: 1_000_000, maxOutlinks: 1_000, storeText: true },
      agent: testHost.agent,
      intervals: testHost.intervals,
    },
    testHost.log,
  );
const pageOf = (body: Uint8Array) => ({
  index: 0,
  url: 'http://example.org/files/one.odt',
  contentType: TYPES.text,
  headers: {},
  body,
  metadata: {},
});
const BODY = `<office:text><text:h text:outline-level="1">Heading</text:h><text:p>Short <text:a xlink:href="../x.odt">link</text:a>.</text:p>
<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table></office:text>`;

describe('a document', () => {
  it.each([
    [['parsefilter-main-content', 'parsefilter-noise-links']],
    [['parsefilter-noise-links']],
    [['parsefilter-blocks', 'parsefilter-main-content']],
  ])('has all of its text as main content, whatever filters are behind its parser: %j', async (filters) => {
    const { plugins, signature, limits } = await loading(...filters);
    const { record, result } = await parseLive(pageOf(madeOpenDocument(BODY)), plugins, signature, limits);
    expect(record.outcome.kind).toBe('parsed');
    expect(result.mainText).toBe('Heading\nShort link.\nitem\na\nb');
    expect(record.text).toBe(result.mainText);
    expect(record.charset).toBeNull();
    expect(result.outlinks.map(({ url, noise }) => [url, noise])).toEqual([
      ['http://example.org/files/x.odt', undefined],
    ]);
  });

  it('has a signature that moves with its text, and with nothing else', async () => {
    const { plugins, signature, limits } = await loading('parsefilter-main-content');
    const signed = async (body: string, meta: string): Promise<unknown> => {
      const { record } = await parseLive(pageOf(madeOpenDocument(body, meta)), plugins, signature, limits);
      return record.outcome.kind === 'parsed' && [record.outcome.signature, record.outcome.changeSignature];
    };
    const date = (day: number): string => `<dc:date>2024-03-0${day}T00:00:00Z</dc:date>`;
    const river = '<office:text><text:p>The river carries water from the hills to the sea.</text:p></office:text>';
    expect(await signed(river, date(1))).toEqual(await signed(river, date(2)));
    expect(await signed(river, date(1))).not.toEqual(await signed(river.replace('hills', 'mountains'), date(1)));
  });

  it('is Markdown as a whole', async () => {
    const markdown = createPageConverter((await loading()).plugins);
    expect(await markdown({ ...pageOf(madeOpenDocument(BODY)), extent: 'main', form: 'markdown' })).toBe(
      '# Heading\n\nShort [link](http://example.org/files/x.odt).\n\n- item\n\n| a | b |\n| --- | --- |\n',
    );
  });

  it('keeps X-Robots-Tag', () => {
    const page = samplePage('', { headers: { 'x-robots-tag': 'noindex, nofollow' } });
    new DocumentReader('incrawl').fill(page, new DocumentWriter({ maxText: 10 }).document, { source: 'test' });
    expect(page.result).toMatchObject({ noindex: true, nofollow: true, text: '', mainText: null });
  });

  it.each([
    ['en_US', 'en-US'],
    ['x-none', null],
    ['zxx', null],
    ['English', null],
  ])('has the language that it states where that is a tag: %s', (lang, expected) => {
    const page = samplePage('');
    new DocumentReader('incrawl').fill(page, new DocumentWriter({ maxText: 10 }).document, { lang, source: 'test' });
    expect(page.result.lang).toBe(expected);
  });
});

it('a writer keeps its limits, and a whole tree, whatever is opened and closed', () => {
  const step = fc.oneof(
    fc.constantFrom('div', 'p', 'a').map((name) => ({ open: name })),
    fc.constant({ close: true }),
    fc.string({ maxLength: 5 }).map((text) => ({ text })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const writer = new DocumentWriter({ maxText: 50, maxNodes: 30 });
      for (const each of steps) {
        if ('open' in each) writer.open(each.open);
        else if ('text' in each) writer.text(each.text);
        else writer.close();
      }
      let [chars, nodes] = [0, 0];
      const open: unknown[] = [writer.document];
      for (
        let node = open.pop() as never as Node | undefined;
        node !== undefined;
        node = open.pop() as Node | undefined
      ) {
        nodes++;
        chars += node.data?.length ?? 0;
        (node.children ?? []).forEach((child, i, all) => {
          expect(child.parent).toBe(node);
          expect(child.prev).toBe(all[i - 1] ?? null);
          open.push(child);
        });
      }
      expect(chars).toBeLessThanOrEqual(50);
      // The document, `html` and `body` come on top.
      expect(nodes).toBeLessThanOrEqual(33);
      const isLess = steps.reduce((sum, each) => sum + ('text' in each ? each.text.length : 0), 0) > 50;
      if (isLess) expect(writer.isCut).toBe(true);
    }),
  );
});

interface Node {
  readonly data?: string;
  readonly parent?: unknown;
  readonly prev?: unknown;
  readonly children?: readonly Node[];
}
