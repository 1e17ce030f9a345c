/** A longer copy of some numbers; new ones of the least length where `length` is 0. */
export function resized(before: Int32Array, length: number, least: number): Int32Array<ArrayBuffer> {
  const numbers = new Int32Array(Math.max(length, least));
  if (length > 0) numbers.set(before);
  return numbers;
}
