/**
 * Whether a text is a URL, absolute or against a base. Not by `URL.canParse`: in Node 20 that can say no to hosts with
 * letters beyond ASCII once it has been optimised.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
