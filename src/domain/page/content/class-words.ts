/**
 * Hints of the words of class and id about an element, as bits. They are only hints: an element called `content` may
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
