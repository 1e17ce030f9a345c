/**
 * Strings of ranges of bytes, by the methods behind `Buffer.toString`: for short ranges that takes twice as long. They
 * are not documented, but other packages rely on them too (msgpackr, undici).
 */
interface Slices {
  utf8Slice(from: number, to: number): string;
  latin1Slice(from: number, to: number): string;
}

export const utf8Slice = (bytes: Buffer, from: number, to: number): string =>
  (bytes as unknown as Slices).utf8Slice(from, to);

/** Of ASCII. */
export const asciiSlice = (bytes: Buffer, from: number, to: number): string =>
  (bytes as unknown as Slices).latin1Slice(from, to);
