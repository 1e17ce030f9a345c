import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/**
 * Lines of UTF-8 text. Only `\n` and `\r\n` end a line: `node:readline` also breaks at U+2028 and U+2029, which are
 * allowed inside a JSON string. A byte order mark is dropped.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let first = true;
  for await (const chunk of chunks) {
    let text = typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk));
    if (first && text !== '') {
      if (text.startsWith('\ufeff')) text = text.slice(1);
      first = false;
    }
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield withoutReturn(line);
  }
  rest += decoder.end();
  if (rest !== '') yield withoutReturn(rest);
}

/**
 * As {@link linesOf}, of a file that is opened when the first line is read: a fault of the file rejects that read, and
 * a file that is never read raises none.
 */
export async function* linesOfFile(file: string): AsyncGenerator<string> {
  yield* linesOf(createReadStream(file));
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
