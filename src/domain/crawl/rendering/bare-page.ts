// domain/crawl/rendering/: pages whose content only scripts make: which they are, and what a host has shown of them.

/** How much a page says without its scripts. */
export interface PageFill {
  /** Letters and digits outside markup, scripts and styles. */
  readonly chars: number;
  /** `a` elements with an address. */
  readonly links: number;
  /** Whether there are scripts that could add to it. */
  readonly hasScripts: boolean;
}

/** Fewer characters than two sentences have: a notice that scripts are needed, a title, a spinner. */
export const BARE_CHARS = 250;
/** The way out of an empty page: home, imprint, privacy. */
const BARE_LINKS = 5;

/** Whether the static page is empty of content, and scripts may be what fills it. */
export const isBare = ({ chars, links, hasScripts }: PageFill): boolean =>
  hasScripts && chars < BARE_CHARS && links <= BARE_LINKS;

/** Least text, characters, and least number of links that make rendering worth its costs. */
const GAINED_CHARS = 100;
const GAINED_LINKS = 3;

/** Whether rendering has added content. */
export const hasGained = (before: PageFill, after: PageFill): boolean =>
  after.chars - before.chars >= GAINED_CHARS || after.links - before.links >= GAINED_LINKS;

const SKIPPED = ['script', 'style', 'noscript', 'template', 'head', 'svg'];
const IS_WORD = /[\p{L}\p{N}]/gu;

/**
 * Reads HTML once, from the left, without building a tree: the cost is linear, whatever the markup. What browsers show
 * is approximated, as a page is far from the limit or the trial decides.
 */
export function pageFill(html: string): PageFill {
  let chars = 0;
  let links = 0;
  // A name leaves once no end tag follows: its text is then read as it stands, and the search not repeated.
  const skipped = new Set(SKIPPED);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    chars += wordChars(html.slice(at, end));
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      at = endAfter(html, '-->', open + 4);
      continue;
    }
    const close = endAfter(html, '>', open + 1);
    const name = /^[a-z][a-z0-9]*/i.exec(html.slice(open + 1, open + 12))?.[0].toLowerCase();
    at = close;
    if (name === undefined) continue;
    if (name === 'a' && /\shref\s*=/i.test(html.slice(open, close))) links++;
    if (!skipped.has(name)) continue;
    const after = afterElement(html, name, close);
    if (after === null) skipped.delete(name);
    else at = after;
  }
  return { chars, links, hasScripts: HAS_SCRIPT.test(html) };
}

const wordChars = (text: string): number => text.match(IS_WORD)?.length ?? 0;
const HAS_SCRIPT = /<script[\s>]/i;

function endAfter(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found + mark.length;
}

function afterElement(html: string, name: string, from: number): number | null {
  const end = new RegExp(`</${name}[\\s>]`, 'gi');
  end.lastIndex = from;
  const found = end.exec(html);
  return found === null ? null : endAfter(html, '>', found.index);
}
