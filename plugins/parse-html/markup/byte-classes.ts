const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;

export const WHITE = 1;
export const LETTER = 2;
export const ENDS_TAG_NAME = 4;
export const ENDS_ATTRIBUTE_NAME = 8;
export const ENDS_VALUE = 16;

/** What each byte may be in markup. */
export const BYTE_CLASSES = byteClasses();

function byteClasses(): Uint8Array {
  const classes = new Uint8Array(256);
  for (const white of ' \t\n\f\r') {
    classes[white.charCodeAt(0)] = WHITE | ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_VALUE;
  }
  classes[SLASH] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME;
  classes[GREATER] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_VALUE;
  classes[EQUALS] = ENDS_ATTRIBUTE_NAME;
  for (let upper = 0x41; upper <= 0x5a; upper++) classes[upper] = classes[upper + 0x20] = LETTER;
  return classes;
}
