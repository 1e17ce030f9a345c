import { type AddressUse, type ReplaceAddress, replacedAddress, withCssAddresses } from './css-addresses.ts';
import { type Attribute, type MarkupElement, readMarkup } from './markup.ts';
import { withSrcsetAddresses } from './srcset.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Context {
  readonly base: string;
  /** Whether a `base` element says otherwise than the URL of the document. */
  readonly hasOwnBase: boolean;
  readonly replace: ReplaceAddress;
  readonly nesting: number;
  readonly isRendered: boolean;
}

interface DocumentKind {
  /** Documents around this one (`srcdoc`); default: 0. */
  readonly nesting?: number;
  /** It is what scripts have made of a page; default: it is the page as it came. */
  readonly isRendered?: boolean;
}

const MAX_NESTING = 3;

/**
 * A document of HTML or SVG with its addresses replaced; all else stays as it is written. It takes linear time, and
 * reads what browsers read with and without scripts (`noscript` too). What would make a copy reach for the network, or
 * keep it from being shown elsewhere, is disarmed by giving the attribute a `data-` name: `base`, `preconnect`, `ping`,
 * a Content-Security-Policy, and `integrity` and `crossorigin` of what is replaced. Scripts of a rendered document have
 * done their work: a second run, without what they fetch, would replace the document by a fault. They are kept as text.
 *
 * @param url absolute URL of the document
 */
export function withHtmlAddresses(
  html: string,
  url: string,
  replace: ReplaceAddress,
  { nesting = 0, isRendered = false }: DocumentKind = {},
): string {
  const { elements, styles } = readMarkup(html);
  const base = baseOf(elements, url);
  const hasOwnBase = base !== url;
  // The base is disarmed, so an address that stays must not be relative to it.
  const all: ReplaceAddress = hasOwnBase ? (address, use) => replace(address, use) ?? address : replace;
  const context = { base, hasOwnBase, replace: all, nesting, isRendered };
  const edits = elements.flatMap((element) => editsOf(element, context));
  for (const { start, end } of styles) {
    const css = html.slice(start, end);
    const text = withCssAddresses(css, base, all);
    if (text !== css) edits.push({ start, end, text });
  }
  edits.sort((a, b) => a.start - b.start);
  let at = 0;
  let out = '';
  for (const { start, end, text } of edits) {
    out += html.slice(at, start) + text;
    at = end;
  }
  return out + html.slice(at);
}

/** The first `base` with an address counts, for addresses before it too. */
function baseOf(elements: readonly MarkupElement[], url: string): string {
  for (const { tag, attributes } of elements) {
    const href = tag === 'base' ? attributeOf(attributes, 'href') : null;
    if (href === null) continue;
    try {
      return new URL(href, url).href;
    } catch {
      return url;
    }
  }
  return url;
}

const attributeOf = (attributes: readonly Attribute[], name: string): string | null =>
  attributes.find((attribute) => attribute.name === name)?.value ?? null;

/** Attributes with an address, by element; `*` of any. */
const ADDRESSES: Readonly<Record<string, Readonly<Record<string, AddressUse>>>> = {
  a: { href: 'link', 'xlink:href': 'link' },
  area: { href: 'link' },
  form: { action: 'link' },
  iframe: { src: 'frame' },
  frame: { src: 'frame' },
  script: { src: 'requisite', href: 'requisite', 'xlink:href': 'requisite' },
  img: { src: 'requisite' },
  source: { src: 'requisite' },
  video: { src: 'requisite', poster: 'requisite' },
  audio: { src: 'requisite' },
  track: { src: 'requisite' },
  embed: { src: 'requisite' },
  object: { data: 'requisite' },
  input: { src: 'requisite' },
  image: { href: 'requisite', 'xlink:href': 'requisite' },
  use: { href: 'requisite', 'xlink:href': 'requisite' },
  feimage: { href: 'requisite', 'xlink:href': 'requisite' },
  '*': {
    background: 'requisite',
    // Scripts that load pictures late read these.
    'data-src': 'requisite',
    'data-lazy-src': 'requisite',
    'data-original': 'requisite',
    'data-bg': 'requisite',
    'data-poster': 'requisite',
  },
};
const SRCSETS: ReadonlySet<string> = new Set(['srcset', 'imagesrcset', 'data-srcset', 'data-lazy-srcset']);

/** Relations of `link` that a browser loads to show the page, and those that open a connection. */
const LOADED =
  /(?:^|\s)(?:stylesheet|icon|apple-touch-icon(?:-precomposed)?|mask-icon|fluid-icon|manifest|preload|modulepreload)(?:\s|$)/i;
const CONNECTING = /(?:^|\s)(?:preconnect|dns-prefetch|prefetch|prerender)(?:\s|$)/i;
/** These name the page on the web, which a copy does not change. */
const NAMING = /(?:^|\s)(?:canonical|alternate|amphtml|shortlink|pingback|webmention)(?:\s|$)/i;

function editsOf({ tag, nameEnd, attributes }: MarkupElement, context: Context): Edit[] {
  const edits = tag === 'script' && context.isRendered ? asText(nameEnd, attributes) : [];
  const relation = tag === 'link' ? (attributeOf(attributes, 'rel') ?? '') : '';
  let isReplaced = false;
  for (const attribute of attributes) {
    const { name, value } = attribute;
    if (isDisarmed(tag, name, relation, attributes)) {
      edits.push(disarmed(attribute));
      continue;
    }
    const replaced = replacedValue(tag, attribute, relation, attributes, context);
    if (replaced === null || replaced === value) continue;
    isReplaced = true;
    edits.push({ start: attribute.start, end: attribute.end, text: `${name}="${escaped(replaced)}"` });
  }
  if (!isReplaced) return edits;
  // The bytes may be others, and a page opened from disk has no origin.
  for (const attribute of attributes)
    if (attribute.name === 'integrity' || attribute.name === 'crossorigin') edits.push(disarmed(attribute));
  return edits;
}

/** Types of scripts that browsers run (HTML, "JavaScript MIME type essence match"); others are data. */
const RUN =
  /^\s*(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))\s*$/i;

/** The edits by which a script is not run. */
function asText(nameEnd: number, attributes: readonly Attribute[]): Edit[] {
  const type = attributes.find(({ name }) => name === 'type');
  if (!RUN.test(type?.value ?? '')) return [];
  const plain = { start: nameEnd, end: nameEnd, text: ' type="text/plain"' };
  return type === undefined ? [plain] : [plain, disarmed(type)];
}

const disarmed = ({ start }: Attribute): Edit => ({ start, end: start, text: 'data-' });

function isDisarmed(tag: string, name: string, relation: string, attributes: readonly Attribute[]): boolean {
  if (tag === 'base') return name === 'href';
  if (tag === 'link') return name === 'href' && CONNECTING.test(relation) && !LOADED.test(relation);
  if (tag === 'meta')
    return name === 'http-equiv' && /^content-security-policy/i.test(attributeOf(attributes, 'http-equiv') ?? '');
  return (tag === 'a' || tag === 'area') && name === 'ping';
}

/** `null`: the attribute has no address. */
function replacedValue(
  tag: string,
  { name, value }: Attribute,
  relation: string,
  attributes: readonly Attribute[],
  context: Context,
): string | null {
  const { base, hasOwnBase, replace, nesting } = context;
  if (name === 'style') return withCssAddresses(value, base, replace);
  if (SRCSETS.has(name))
    return withSrcsetAddresses(value, (address) => replacedAddress(address, base, 'requisite', replace));
  if (name === 'srcdoc' && nesting < MAX_NESTING)
    return withHtmlAddresses(value, base, replace, { nesting: nesting + 1 });
  if (tag === 'meta') return name === 'content' ? withRefreshAddress(value, attributes, context) : null;
  const use = tag === 'link' ? useOfLink(name, relation) : (ADDRESSES[tag]?.[name] ?? ADDRESSES['*']?.[name]);
  if (use === undefined || (!hasOwnBase && value.trimStart().startsWith('#'))) return null;
  return replacedAddress(value, base, use, replace);
}

function useOfLink(name: string, relation: string): AddressUse | undefined {
  if (name !== 'href' || relation === '' || NAMING.test(relation)) return undefined;
  return LOADED.test(relation) ? 'requisite' : 'link';
}

const REFRESH = /^(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?)([^"']+)(["']?.*)$/is;

/** `<meta http-equiv=refresh content="5; url=...">`; `null`: it is no such element, or has no address. */
function withRefreshAddress(
  content: string,
  attributes: readonly Attribute[],
  { base, replace }: Context,
): string | null {
  if (!/^refresh$/i.test(attributeOf(attributes, 'http-equiv')?.trim() ?? '')) return null;
  const [, before = '', address = '', after = ''] = REFRESH.exec(content) ?? [];
  const replaced = address === '' ? null : replacedAddress(address, base, 'link', replace);
  return replaced === null ? null : `${before}${replaced}${after}`;
}

/** As the value of an attribute in double quotes. */
const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
