import { TextMeanings } from '../tape/interned-texts.ts';
import { ATTRIBUTE, TagTable, tagNumber } from '../tape/name-table.ts';
import { type Tape, TEXT } from '../tape/tape.ts';

/**
 * Hints from the words of class and id about an element, as bits. They are only hints: an element called `content` may
 * hold the menu. Site authors of all languages use these English words.
 */
export const NAVIGATION = 1;
export const FOOT = 1 << 1;
export const SIDE = 1 << 2;
export const SHARE = 1 << 3;
export const RELATED = 1 << 4;
export const ADVERT = 1 << 5;
export const OVERLAY = 1 << 6;
export const COMMENT = 1 << 7;
export const BYLINE = 1 << 8;
export const FORM = 1 << 9;
export const HEAD = 1 << 10;
export const UNSEEN = 1 << 11;
export const BODY = 1 << 12;
export const PRODUCT = 1 << 13;
export const POST = 1 << 14;
export const CARD = 1 << 15;
/** Beside the signs of element-signs.ts, which have 16 to 24. */
export const REVIEW = 1 << 25;
export const PROFILE = 1 << 26;
export const NOTES = 1 << 27;
export const FOLDED = 1 << 28;

const WORDS: readonly (readonly [number, string])[] = [
  [
    NAVIGATION,
    'nav navbar navigation menu submenu megamenu breadcrumb breadcrumbs crumb crumbs toolbar pagination pager paging sidenav tabs toc topnav dropdown jump skip',
  ],
  [FOOT, 'footer foot copyright legal colophon bottom disclaimer'],
  [SIDE, 'sidebar side rail aside widget widgets secondary right column3 complementary'],
  [SHARE, 'share sharing sharebar social follow facebook twitter addthis sharedaddy print'],
  [
    RELATED,
    'related recommended recommendations recommendation recirc similar more trending popular read also next previous prev latest recent outbrain taboola upsell crosssell carousel slider',
  ],
  [
    ADVERT,
    'ad ads advert adverts advertisement adslot sponsor sponsored promo promos promotion promoted banner cta affiliate',
  ],
  [OVERLAY, 'cookie cookies consent gdpr popup modal overlay lightbox dialog drawer tooltip flyout offcanvas'],
  [COMMENT, 'comment comments commentlist commentarea respond disqus'],
  [REVIEW, 'review reviews rating ratings testimonial testimonials discussion'],
  [
    PROFILE,
    'user userinfo username profile postprofile avatar signature sig member rank reputation badge poster usercard userdetails userextras karma',
  ],
  [
    NOTES,
    'footnote footnotes references reference reflist citation citations sources source disclosure disclosures notes endnotes bibliography',
  ],
  [FOLDED, 'accordion collapse faq faqs toggle details expandable expander tab tabpanel tabpane panel'],
  [BYLINE, 'byline author bio meta date time tags tag tagged taglist category categories caption credit info'],
  [
    FORM,
    'login signin signup register subscribe subscription newsletter search form searchform filter filters facet facets sort account',
  ],
  [HEAD, 'header masthead topbar top hero logo'],
  [UNSEEN, 'hidden hide sr only visually invisible screenreader screen collapsed noprint'],
  [
    BODY,
    'article articlebody body content contents entry main maincontent markdown prose rte text story richtext description',
  ],
  [PRODUCT, 'product price pdp sku cart buy spec specs specification specifications shipping'],
  [POST, 'post posts message msg thread topic reply answer question qa'],
  [CARD, 'card cards item items tile teaser grid list listing result results row entry'],
];

const BITS: ReadonlyMap<string, number> = WORDS.reduce((bits, [bit, words]) => {
  for (const word of words.split(' ')) bits.set(word, (bits.get(word) ?? 0) | bit);
  return bits;
}, new Map<string, number>());

/** Longer lists of classes give no further hints. */
const MAX_CHARS = 300;

/** @param words class and id as written: `SideBar entry-content` has the words side, bar, entry, content */
export function bitsOfClassWords(words: string): number {
  let bits = 0;
  const apart = words
    .slice(0, MAX_CHARS)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  for (const word of apart.match(/[a-z]+/g) ?? []) bits |= BITS.get(word) ?? 0;
  return bits;
}

/** Signs of an element in addition to those of its class words. */
export const HIDDEN = 1 << 16;
/** Shown only without scripts. */
export const NOSCRIPT = 1 << 17;
/** Surroundings by name or role, not only by class. */
export const SURROUND = 1 << 18;
/** Content by name or role. */
export const CONTENT = 1 << 19;
export const ARTICLE = 1 << 20;
export const ASIDE = 1 << 21;
export const TABLE = 1 << 22;
export const LIST = 1 << 23;
export const HEADER = 1 << 24;
/** Class words of content of one kind or another. */
export const BODY_SIGNS = BODY | POST | PRODUCT;
/** Signs of what stands around the content of a page, whatever its structure. */
export const AROUND =
  NAVIGATION |
  FOOT |
  SIDE |
  SHARE |
  ADVERT |
  OVERLAY |
  COMMENT |
  FORM |
  PROFILE |
  UNSEEN |
  (SURROUND | ASIDE | HIDDEN | NOSCRIPT);
/** Its text is not text of the page. */
export const SILENT = 1 << 30;

const SIGNS_OF_TAG = new TagTable([
  ...'script style template svg iframe object embed audio video canvas select option datalist textarea input button map math link meta title'
    .split(' ')
    .map((name) => [name, SILENT] as const),
  ['nav', SURROUND | NAVIGATION],
  ['footer', SURROUND | FOOT],
  ['aside', SURROUND | ASIDE],
  ['dialog', HIDDEN],
  ['main', CONTENT],
  ['article', CONTENT | ARTICLE],
  ['noscript', NOSCRIPT],
  ['table', TABLE],
  ['ul', LIST],
  ['ol', LIST],
  ['header', HEADER],
]);

const SIGNS_OF_ROLE: ReadonlyMap<string, number> = new Map([
  ...'banner search alert alertdialog dialog toolbar tooltip status menubar tablist'
    .split(' ')
    .map((role) => [role, SURROUND] as const),
  ['navigation', SURROUND | NAVIGATION],
  ['menu', SURROUND | NAVIGATION],
  ['contentinfo', SURROUND | FOOT],
  ['complementary', SURROUND | SIDE],
  ['main', CONTENT],
  ['article', CONTENT | ARTICLE],
]);

const SIGNS_OF_PROPERTY: ReadonlyMap<string, number> = new Map([
  ['articlebody', CONTENT | BODY],
  ['text', BODY],
  ['description', BODY],
  ['comment', COMMENT],
]);

/** A style attribute that hides its element. */
export const HIDING_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Signs of an element, from only its name and attributes. */
export type SignReader = (tape: Tape, element: number) => number;

/** Characters of class and id that are read. */
const MAX_WORDS = 300;
const BODY_TAG = tagNumber('body');
const HTML_TAG = tagNumber('html');

/** The meaning of each class name is cached: the pages of a site use a few of them often. */
export function createSignReader(): SignReader {
  const ofWords = new TextMeanings(bitsOfClassWords);
  const ofStyle = new TextMeanings((style) => (HIDING_STYLE.test(style) ? HIDDEN : 0));
  const ofRole = new TextMeanings((role) => SIGNS_OF_ROLE.get(role.toLowerCase()) ?? 0);
  const ofProperty = new TextMeanings((property) => SIGNS_OF_PROPERTY.get(property.toLowerCase()) ?? 0);
  const ofState = new TextMeanings((value) => (value === 'true' ? HIDDEN : 0));
  return (tape, element) => {
    const tag = tape.kindAt(element);
    let signs = SIGNS_OF_TAG.at(tag);
    if (signs === SILENT) return signs;
    const { interned } = tape;
    let classes = 0;
    let id = 0;
    for (let at = tape.firstAttribute(element); at < tape.endOfAttributes(element); at++) {
      switch (tape.attributeAt(at)) {
        case ATTRIBUTE.class:
          classes = tape.internedAt(at);
          break;
        case ATTRIBUTE.id:
          id = tape.internedAt(at);
          break;
        case ATTRIBUTE.hidden:
          signs |= HIDDEN;
          break;
        case ATTRIBUTE['aria-hidden']:
          signs |= ofState.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.style:
          signs |= ofStyle.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.role:
          signs |= ofRole.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.itemprop:
          signs |= ofProperty.of(interned, tape.internedAt(at));
          break;
      }
    }
    // Classes of the whole page describe its layout.
    if (classes + id === 0 || tag === BODY_TAG || tag === HTML_TAG) return signs;
    if (classes > 0 && id > 0 && interned.size(classes) + interned.size(id) >= MAX_WORDS) {
      return signs | bitsOfClassWords(`${interned.text(classes)} ${interned.text(id)}`.slice(0, MAX_WORDS));
    }
    return signs | ofWords.of(interned, classes) | ofWords.of(interned, id);
  };
}

/** Kinds that pages declare (JSON-LD, Open Graph). */
export interface PageKinds {
  readonly article: boolean;
  readonly product: boolean;
  readonly forum: boolean;
  readonly list: boolean;
  /** Documentation, judged by the generator of its HTML. */
  readonly manual: boolean;
}

interface KindReader {
  (tape: Tape, element: number): void;
  kinds(): PageKinds;
  /** Whether the page declares what it is, and that is not an article. */
  isOther(): boolean;
  /** The text of the first `title`; it may be cut. */
  title(): string;
}

const TYPE = /"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"/g;
const MAX_JSON_CHARS = 50_000;
const MAX_TITLE_CHARS = 500;
/** Forum software, and names of forums. */
const FORUM =
  /\b(?:discourse|phpbb|xenforo|vbulletin|nodebb|mybb|flarum|lemmy|invision community|ips community|simple machines|smf|vanilla|forums?|message board|xf|forum-\w+|viewtopic|showthread|论坛|社区|フォーラム)\b|论坛|掲示板/i;
/** Programs that generate manuals and source references. */
const MANUAL =
  /\b(?:docbook|docutils|sphinx|asciidoc(?:tor)?|antora|texinfo|makeinfo|latex2html|pandoc|doxygen|gtk-doc|javadoc|jsdoc|typedoc|rustdoc|mdbook|mkdocs|docusaurus|gitbook|vitepress|vuepress)/i;
const ONE_POST = /\b(?:single-post|single-article|article-page|post-template)\b/i;

const KINDS_OF_META = new Set(['og:type', 'generator', 'og:site_name', 'application-name']);
const HTML = tagNumber('html');
const WHOLE_BODY = tagNumber('body');
const META = tagNumber('meta');
const SCRIPT = tagNumber('script');
const TITLE = tagNumber('title');

/** The text at the beginning of an element, bounded. */
function firstText(tape: Tape, element: number, maxChars: number): string {
  const at = element + 1;
  if (tape.kindAt(at) !== TEXT) return '';
  const start = tape.textStart(at);
  return tape.string(start, Math.min(tape.textEnd(at), start + 3 * maxChars)).slice(0, maxChars);
}

/** Reads the elements without visible text (scripts with JSON-LD, `meta`, `title`), and `html` and `body`. */
export function createKindReader(): KindReader {
  const types = new Set<string>();
  let isForum = false;
  let isPost = false;
  let isManual = false;
  let title = '';
  const read = (tape: Tape, element: number): void => {
    switch (tape.kindAt(element)) {
      case HTML:
      case WHOLE_BODY: {
        const words = `${tape.attribute(element, 'id') ?? ''} ${tape.attribute(element, 'class') ?? ''}`.slice(
          0,
          1_000,
        );
        isForum ||= FORUM.test(words);
        isPost ||= ONE_POST.test(words);
        break;
      }
      case META: {
        const key = (tape.attribute(element, 'property') ?? tape.attribute(element, 'name'))?.toLowerCase();
        if (key === undefined || !KINDS_OF_META.has(key)) break;
        const content = tape.attribute(element, 'content') ?? '';
        if (key === 'og:type') types.add(content.toLowerCase());
        else isForum ||= FORUM.test(content.slice(0, 200));
        if (key === 'generator') isManual ||= MANUAL.test(content.slice(0, 200));
        break;
      }
      case TITLE:
        title ||= firstText(tape, element, MAX_TITLE_CHARS);
        break;
      case SCRIPT: {
        if (tape.attribute(element, 'type')?.toLowerCase() !== 'application/ld+json') break;
        for (const [, type = ''] of firstText(tape, element, MAX_JSON_CHARS).matchAll(TYPE))
          types.add(type.toLowerCase());
      }
    }
  };
  const has = (pattern: RegExp): boolean => [...types].some((type) => pattern.test(type));
  const isArticle = (): boolean => isPost || has(/article|posting$|^blog/);
  return Object.assign(read, {
    title: () => title,
    isOther: () => types.size > 0 && !isArticle(),
    kinds: () => ({
      article: isArticle(),
      product: has(/^product|^offer/),
      forum: isForum || has(/^discussionforum|^qapage|^question/),
      list: has(/^itemlist|^collectionpage|^searchresults/),
      manual: isManual,
    }),
  });
}
