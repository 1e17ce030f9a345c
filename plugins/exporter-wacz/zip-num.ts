import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

/** Lines of a block: a viewer reads one block for a URL. */
const BLOCK = 300;

/**
 * Writes the sorted lines of an index in gzip members of a few lines, and a list of these by their first keys
 * ("ZipNum", CDXJ 0.1.0), so that an index of any size is read in two steps.
 * @param name of the index, as the list names it
 */
export async function writeZipNum(
  lines: AsyncIterable<string>,
  { index, blocks, name }: { readonly index: string; readonly blocks: string; readonly name: string },
): Promise<void> {
  const members = await open(index, 'w');
  const list = await open(blocks, 'w');
  let offset = 0;
  const write = async (block: readonly string[]): Promise<void> => {
    const [first = ''] = block;
    const member = gzipSync(`${block.join('\n')}\n`);
    const digest = `sha256:${createHash('sha256').update(member).digest('hex')}`;
    const place = { offset, length: member.length, digest, filename: name };
    await members.appendFile(member);
    await list.appendFile(`${first.split(' ', 2).join(' ')} ${JSON.stringify(place)}\n`);
    offset += member.length;
  };
  try {
    await list.appendFile(`!meta 0 ${JSON.stringify({ format: 'cdxj-gzip-1.0', filename: name })}\n`);
    let block: string[] = [];
    for await (const line of lines) {
      block.push(line);
      if (block.length < BLOCK) continue;
      await write(block);
      block = [];
    }
    if (block.length > 0) await write(block);
  } finally {
    await members.close();
    await list.close();
  }
}
