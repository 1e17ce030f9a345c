import { type CSSToken, TokenType, tokenize } from '@csstools/css-tokenizer';

/**
 * What a page uses an address for: a link that a reader follows, a document shown within it, or a requisite: a style
 * sheet, script, picture, font, icon or medium that a browser loads to show the page.
 */
export type AddressUse = 'link' | 'frame' | 'requisite';

/**
 * Is called for each http(s) address, absolute and without its fragment. Returns what takes its place, or `null` to
 * leave the address as it is written.
 */
export type ReplaceAddress = (url: string, use: AddressUse) => string | null;

/** What a style sheet without any of these need not be tokenized for. */
const MAY_REFER = /url\(|@import|image-set\(|src\(/i;

/** Functions whose strings are addresses (CSS Images 4, CSS Values 5). */
const ADDRESS_FUNCTIONS: ReadonlySet<string> = new Set(['url', 'src', 'image-set', '-webkit-image-set']);

/**
 * A style sheet with its addresses replaced, as the tokens of CSS Syntax Level 3 show them: `url()`, `src()`,
 * `image-set()` and `@import`. Addresses in comments, in other strings and of `@namespace` are none.
 *
 * @param base absolute URL of the style sheet, or of the document that it is part of
 */
export function withCssAddresses(css: string, base: string, replace: ReplaceAddress): string {
  if (!MAY_REFER.test(css)) return css;
  const functions: string[] = [];
  /** The at-rule whose address comes next. */
  let rule: 'import' | 'namespace' | null = null;
  let isChanged = false;
  const replaced = (written: string, token: string, quoted: (address: string) => string): string => {
    const isNamespace = rule === 'namespace';
    rule = null;
    // A fragment alone is of the document that the style sheet is applied to.
    const address =
      isNamespace || written.startsWith('#') ? null : replacedAddress(written, base, 'requisite', replace);
    if (address === null) return token;
    isChanged = true;
    return quoted(address);
  };
  const partOf = ([type, text, , , data]: CSSToken): string => {
    if (type === TokenType.URL) return replaced(data.value, text, (address) => `url(${cssString(address)})`);
    if (type === TokenType.String) {
      const isAddress = rule !== null || ADDRESS_FUNCTIONS.has(functions.at(-1) ?? '');
      return isAddress ? replaced(data.value, text, cssString) : text;
    }
    if (type === TokenType.Function) functions.push(data.value.toLowerCase());
    else if (type === TokenType.OpenParen) functions.push('');
    else if (type === TokenType.CloseParen) functions.pop();
    else if (type === TokenType.AtKeyword) rule = atRule(data.value.toLowerCase());
    else if (type === TokenType.Semicolon || type === TokenType.OpenCurly) rule = null;
    return text;
  };
  const parts = tokenize({ css }).map(partOf);
  return isChanged ? parts.join('') : css;
}

const atRule = (name: string): 'import' | 'namespace' | null =>
  name === 'import' || name === 'namespace' ? name : null;

/** As CSS writes it: what ends a string or begins an escape is escaped. */
const cssString = (text: string): string =>
  `"${text.replace(/["\\\n\r\f]/g, (char) => (char === '"' || char === '\\' ? `\\${char}` : `\\${char.charCodeAt(0).toString(16)} `))}"`;

/** What takes the place of an address; `null`: it stays. The fragment is kept. */
export function replacedAddress(
  written: string,
  base: string,
  use: AddressUse,
  replace: ReplaceAddress,
): string | null {
  const url = written.trim() === '' ? null : parsed(written, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  const { hash } = url;
  url.hash = '';
  const address = replace(url.href, use);
  return address === null ? null : address + hash;
}

function parsed(written: string, base: string): URL | null {
  try {
    return new URL(written, base);
  } catch {
    return null;
  }
}
