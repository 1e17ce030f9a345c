/**
 * Characters that a terminal obeys instead of showing: C0 and C1 controls, line and paragraph separators, and the marks
 * that turn the reading direction (they can make one URL look like another). What comes from the web is never printed
 * with them.
 */
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text from outside, made harmless for a terminal: each such character as a visible escape. */
export function safeText(text: string): string {
  return text.replace(OBEYED, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same for text of several lines, whose line breaks and tabs are kept. */
export function safeLines(text: string): string {
  return text.replace(OBEYED, (char) => (char === '\n' || char === '\t' ? char : char === '\r' ? '' : safeText(char)));
}

/** Longest line of a message that is shown whole, characters. */
const LONG_LINE = 2_000;

/**
 * Lines of a message, those that somebody else's text has made too long cut in their middle: what was wrong stands at
 * either end.
 */
export function shortLines(text: string): string {
  if (text.length <= LONG_LINE) return text;
  const short = (line: string): string =>
    line.length <= LONG_LINE ? line : `${line.slice(0, 1_000)} … ${line.slice(-500)} (${line.length} characters)`;
  return text.split('\n').map(short).join('\n');
}
