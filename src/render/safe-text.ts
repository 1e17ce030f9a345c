/**
 * Characters that a terminal executes instead of showing: C0 and C1 controls, line and paragraph separators, and the
 * marks of the reading direction (they can make one URL look like another). Text from the web is never printed with
 * them.
 */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text from the web, harmless for a terminal: each control character becomes a visible escape. */
export function safeText(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same for text of several lines: line breaks and tabs stay. */
export function safeLines(text: string): string {
  return text.replace(CONTROLS, (char) =>
    char === '\n' || char === '\t' ? char : char === '\r' ? '' : safeText(char),
  );
}

/** {@link CONTROLS} except C0, which `JSON.stringify` escapes itself. */
const RAW_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** JSON for printing: each control character is written as `\uXXXX`, and the value stays the same. */
export const printedJson = (value: unknown): string => safeJson(JSON.stringify(value));

/** The same for text that is already JSON. */
export const safeJson = (json: string): string =>
  json.replace(RAW_IN_JSON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Longest line of a message that is shown in full, characters. */
const LONG_LINE = 2_000;

/** Cuts long lines of a message (they quote foreign text) in the middle: the fault is named at one of the ends. */
export function shortLines(text: string): string {
  if (text.length <= LONG_LINE) return text;
  const short = (line: string): string =>
    line.length <= LONG_LINE ? line : `${line.slice(0, 1_000)} … ${line.slice(-500)} (${line.length} characters)`;
  return text.split('\n').map(short).join('\n');
}
