/** A number in [0, 1) that depends on nothing but the parts: FNV-1a, mixed as in MurmurHash3. */
export function chance(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    for (const letter of `${part}|`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return (hash >>> 0) / 4_294_967_296;
}

/** One of the choices, by {@link chance}. */
export function choice<Value>(choices: readonly Value[], ...parts: readonly (string | number)[]): Value {
  return choices[Math.floor(chance(...parts) * choices.length)] as Value;
}
