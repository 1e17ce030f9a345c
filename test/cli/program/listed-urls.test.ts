import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf, listedUrls } from '../../../src/cli/input/seed-sources.ts';
import { csvRow } from '../../../src/core/domain/export/written-files.ts';

async function listed(text: string): Promise<string[]> {
  const urls: string[] = [];
  const chunks = async function* () {
    yield text;
  };
  for await (const url of listedUrls(linesOf(chunks()))) urls.push(url);
  return urls;
}

describe('listed URLs', () => {
  it('one per line, with commas and quotes as they are', async () => {
    expect(await listed('https://a.example/x,y\n\n  https://a.example/"z" \r\n')).toEqual([
      'https://a.example/x,y',
      'https://a.example/"z"',
    ]);
    expect(await listed('url\nhttps://a.example/\n')).toEqual(['https://a.example/']);
  });

  it('the column "url" of CSV as readdb writes it, whatever the other cells hold', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', '=', 'é') });
    const url = fc.webUrl({ withQueryParameters: true });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, url, cell)), async (rows) => {
        const text = csvRow(['title', 'URL', 'note']) + rows.map((row) => csvRow(row)).join('');
        expect(await listed(text)).toEqual(rows.map(([, each]) => each));
      }),
    );
  });

  it.each([
    ['host,title\na.example,x\n', 'expected a column "url" in its header, found host, title'],
    ['url,title\nhttps://a.example/,"open\n', 'a quote is not closed in "https://a.example/,"open'],
  ])('refuses %j', async (text, message) => {
    await expect(listed(text)).rejects.toThrow(message);
  });
});
