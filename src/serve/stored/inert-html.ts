import { Tokenizer } from 'htmlparser2';

/** Elements that are left out: they run, or embed what runs; open connections; or change what addresses mean. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['script', 'base', 'object', 'embed', 'applet', 'param', 'portal', 'fencedframe'],
  ...['animate', 'set', 'animatemotion', 'animatetransform'],
]);
/** Elements whose text runs, or is not text. */
const TEXT_LEFT_OUT: ReadonlySet<string> = new Set(['script']);
/** What a `meta` may say: nothing that acts. */
const HARMLESS_META = /^(?:viewport|color-scheme)$/i;

/**
 * Attributes that are left out, beside all of events: they send, navigate, open windows, or have been checked against
 * bytes and servers that these are not.
 */
const ATTRIBUTES_LEFT_OUT: ReadonlySet<string> = new Set([
  ...['action', 'formaction', 'ping', 'attributionsrc', 'target', 'download', 'srcdoc', 'data', 'codebase', 'archive'],
  ...['classid', 'manifest', 'http-equiv', 'integrity', 'crossorigin', 'nonce', 'referrerpolicy', 'autofocus'],
  ...['sandbox', 'allow', 'csp', 'is'],
]);
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['href', 'xlink:href', 'src', 'poster', 'background', 'lowsrc', 'dynsrc'],
]);
/** Elements that lead somewhere: a `data:` address of theirs would be a document. */
const LEADING: ReadonlySet<string> = new Set(['a', 'area', 'iframe', 'frame', 'link']);
const MEDIA_DATA = /^data:(?:(?:image|audio|video|font)\/|,)/i;

/** Attributes by which scripts load pictures late, and those that they would fill. */
const LATE = [
  ['src', ['data-src', 'data-lazy-src', 'data-original']],
  ['srcset', ['data-srcset', 'data-lazy-srcset']],
] as const;
const LATE_LOADED: ReadonlySet<string> = new Set(['img', 'source']);

const TAG = /^[a-z][a-z0-9:_.-]*$/;
const ATTRIBUTE = /^[^\s"'<>/=\p{Cc}]+$/u;
const DOCTYPE = /^doctype[\w\s"'/:.+()-]*$/i;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

/**
 * A document of a stranger written anew, so that browsers find in it what the tokenizer found, and nothing else: tags
 * with their attributes in one way of writing, and text. A `<` elsewhere, even in the value of an attribute or in a
 * style sheet, is escaped, and comments go. So no two readings of a malformed document can differ in what it loads.
 *
 * @param own how addresses begin that may stay, beside fragments and pictures within the document
 * @param isXml whether `<div/>` is a whole element
 */
export function inertHtml(html: string, own: string, isXml = false): string {
  let out = '';
  let [tag, name, value] = ['', '', ''];
  let attributes = new Map<string, string>();
  /** The element whose text is no markup. */
  let special = '';
  const endTag = (isClosed: boolean): void => {
    const written = writtenTag(tag, attributes, own);
    const renamed = nameOf(tag);
    if (written !== null && !isClosed) out += `<${written}>`;
    else if (written !== null && isXml) out += VOID.test(renamed) ? `<${written}>` : `<${written}></${renamed}>`;
    else if (written !== null && tag !== 'style') out += `<${written}/>`;
    special = !isClosed && (tag === 'style' || TEXT_LEFT_OUT.has(tag)) ? tag : '';
  };
  const text = (written: string): void => {
    if (special === 'style') out += written.replace(/<(?=[a-z/!?])/gi, '\\3c ');
    else if (special === '') out += written.replaceAll('<', '&lt;');
  };
  const nothing = (): void => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = html.slice(start, end).toLowerCase();
        attributes = new Map();
      },
      onattribname(start, end) {
        name = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribentity(codePoint) {
        value += String.fromCodePoint(codePoint);
      },
      onattribend() {
        // Of two attributes of one name browsers take the first.
        if (!attributes.has(name)) attributes.set(name, value);
      },
      onopentagend: () => endTag(false),
      onselfclosingtag: () => endTag(true),
      onclosetag(start, end) {
        const closed = html.slice(start, end).toLowerCase();
        special = '';
        if (TAG.test(closed) && !LEFT_OUT.has(closed)) out += `</${nameOf(closed)}>`;
      },
      ontext: (start, end) => text(html.slice(start, end)),
      ontextentity(codePoint) {
        if (special === '') out += `&#${codePoint};`;
      },
      oncdata(start, end, offset) {
        if (isXml) text(html.slice(start, end - offset));
      },
      ondeclaration(start, end) {
        const declaration = html.slice(start, end);
        if (DOCTYPE.test(declaration)) out += `<!${declaration}>`;
      },
      oncomment: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return out;
}

/** What follows `plaintext` would be text to the end. */
const nameOf = (tag: string): string => (tag === 'plaintext' ? 'pre' : tag);

/** The tag without its brackets; `null`: it is left out. */
function writtenTag(tag: string, attributes: ReadonlyMap<string, string>, own: string): string | null {
  if (!TAG.test(tag) || LEFT_OUT.has(tag)) return null;
  if (tag === 'meta' && !HARMLESS_META.test(attributes.get('name') ?? '')) return null;
  const kept = new Map<string, string>();
  for (const [name, value] of attributes) if (isKept(tag, name, value, own)) kept.set(name, value);
  if (tag === 'link') {
    const rel = styleRelation(attributes.get('rel') ?? '');
    if (rel === null || !kept.has('href')) return null;
    kept.set('rel', rel);
  }
  if (LATE_LOADED.has(tag)) loadNow(kept, own);
  return [nameOf(tag), ...[...kept].map(([name, value]) => `${name}="${escaped(value)}"`)].join(' ');
}

function isKept(tag: string, name: string, value: string, own: string): boolean {
  if (!ATTRIBUTE.test(name) || name.startsWith('on') || ATTRIBUTES_LEFT_OUT.has(name)) return false;
  if (!ADDRESSES.has(name)) return true;
  if (value.startsWith(own) || value.startsWith('#')) return true;
  return !LEADING.has(tag) && MEDIA_DATA.test(value);
}

function styleRelation(rel: string): string | null {
  const words = new Set(rel.toLowerCase().split(/\s+/));
  if (!words.has('stylesheet')) return null;
  return words.has('alternate') ? 'alternate stylesheet' : 'stylesheet';
}

/** Pictures that a script would load when they come into view are loaded at once: there are no scripts. */
function loadNow(kept: Map<string, string>, own: string): void {
  for (const [name, late] of LATE) {
    const present = kept.get(name);
    const found = late.map((each) => kept.get(each)).find((each) => each?.includes(own));
    if (found !== undefined && (present === undefined || present.startsWith('data:'))) kept.set(name, found);
  }
}

const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
