import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf, linesOfFile } from '../../../src/cli/input/seed-sources.ts';

async function lines(chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const all: string[] = [];
  for await (const line of linesOf(Readable.from(chunks))) all.push(line);
  return all;
}

describe('lines of a stream', () => {
  it.each([
    [['a\nb\n'], ['a', 'b']],
    [['a\r\nb'], ['a', 'b']],
    [['\n\n'], ['', '']],
    [[], []],
    [['\ufeffa\n'], ['a']],
    [['a\u2028b\n'], ['a\u2028b']],
    [
      ['a', 'b\nc', '\r', '\nd'],
      ['ab', 'c', 'd'],
    ],
  ])('%j', async (chunks, wanted) => expect(await lines(chunks)).toEqual(wanted));

  it('do not depend on where the chunks are cut', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n\ufeff]/g, ''))),
      fc.integer({ min: 1, max: 5 }),
      async (wanted, size) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''));
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        expect(await lines(chunks)).toEqual(wanted);
      },
    );
    await fc.assert(property);
  });
});

describe('lines of a file', () => {
  it('are read on demand; an unreadable file rejects the read, not the opening', async () => {
    const lines = linesOfFile('/nowhere/absent.txt');
    // Behind an opening that would have come before it.
    await expect(access('/nowhere/absent.txt')).rejects.toThrow('ENOENT');
    await new Promise(setImmediate);
    await expect(lines.next()).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
