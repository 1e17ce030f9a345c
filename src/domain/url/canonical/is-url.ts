/**
 * Whether a text is a URL, absolute or against a base. Does not use `URL.canParse`: in Node 20, once optimised, it can
 * refuse hosts with non-ASCII letters.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
