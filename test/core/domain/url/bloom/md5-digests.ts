import { createHash } from 'node:crypto';

/** Digests as the published filter makes them: MD5, big-endian words. */
export function md5Digests(urls: readonly string[]): Uint32Array {
  const words = new Uint32Array(4 * urls.length);
  for (const [i, url] of urls.entries()) {
    const digest = createHash('md5').update(url).digest();
    for (let word = 0; word < 4; word++) words[4 * i + word] = digest.readUInt32BE(4 * word);
  }
  return words;
}

/** `http://h/<from>` to `http://h/<to - 1>`. */
export const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `http://h/${from + i}`);
