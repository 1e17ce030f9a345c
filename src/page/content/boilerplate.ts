import { TextMeanings } from '../tape/interned-texts.ts';
import { ATTRIBUTE, TagTable, tagNumber } from '../tape/name-table.ts';
import type { Tape } from '../tape/tape.ts';
import { HIDING_STYLE } from './element-signs.ts';

/** Nothing inside these is text of the page. */
const SILENT_TAGS = TagTable.of(
  'script style template svg iframe object embed audio video canvas select option datalist textarea input button map math head link meta title dialog'.split(
    ' ',
  ),
);
const ROLES = new Set(
  'navigation banner contentinfo complementary search dialog alertdialog alert menu menubar toolbar tablist tooltip status'.split(
    ' ',
  ),
);
/** Whole words of class and id that mark surroundings of the content. */
const SURROUND =
  /(?:^|[-_ ])(?:nav|navbar|navigation|menu|submenu|megamenu|breadcrumbs?|crumbs?|footer|foot|sidebar|side-?bar|sidenav|rail|cookies?|consent|gdpr|banner|masthead|topbar|toolbar|share|sharing|sharebar|social|follow|related|recommended|recommendations|recirc|more-?stories|read-?more|also-?like|newsletter|subscribe|subscription|signup|sign-?up|login|sign-?in|popup|modal|overlay|lightbox|advert|adverts|advertisement|ads|adslot|sponsor|sponsored|promo|promos|promotion|pagination|pager|paging|widget|widgets|skip|skip-?link|sr-?only|visually-?hidden|screen-?reader|tags|taglist|tag-?cloud|byline-?share|print|tools|outbrain|taboola|disqus|author-?bio|flash|tooltip|dropdown|search-?form|searchform|language|lang-?switcher|copyright|legal|backtotop|ticker|trending|popular|most-?read)(?:$|[-_ ])/;
const CONTENT =
  /(?:^|[-_ ])(?:article-?body|articlebody|post-?body|entry-?content|post-?content|article-?content|story-?body|main-?content|maincontent|content-?body|markdown-?body|prose|mw-?parser-?output)(?:$|[-_ ])/;

/** Verdicts on an element from its name and attributes alone. */
export const PLAIN = 0;
export const SILENT = 1;
export const SURROUNDING = 2;
/** By class or id. */
export const PERHAPS_SURROUNDING = 3;
export const MAIN_CONTENT = 4;

export type Classifier = (tape: Tape, element: number) => number;

/** Characters of class and id that are read. */
const MAX_WORDS = 300;
const NOSCRIPT = tagNumber('noscript');
/** Elements whose name says what they are, whatever their class. */
const BY_NAME = new TagTable([
  ...['nav', 'footer', 'aside'].map((name) => [name, SURROUNDING] as const),
  ...['main', 'article'].map((name) => [name, MAIN_CONTENT] as const),
]);
const WHOLE_PAGE = TagTable.of(['body', 'html']);

/**
 * Reusable for any number of pages. The meaning of each class name is cached, since the pages of a site use a few of
 * them often.
 * @param concealed whether content shown only without scripts counts: the whole content of some applications
 */
export function createClassifier(concealed: boolean): Classifier {
  const ofWords = new TextMeanings(meaningOf);
  const ofRole = new TextMeanings((role) =>
    ROLES.has(role.toLowerCase()) ? SURROUNDING : role === 'main' || role === 'article' ? MAIN_CONTENT : PLAIN,
  );
  const ofStyle = new TextMeanings((style) => (HIDING_STYLE.test(style) ? SILENT : PLAIN));
  const ofState = new TextMeanings((value) => (value === 'true' ? SILENT : PLAIN));
  const ofProperty = new TextMeanings((property) => (property === 'articleBody' ? MAIN_CONTENT : PLAIN));
  return (tape, element) => {
    const tag = tape.kindAt(element);
    if (SILENT_TAGS.has(tag) || (tag === NOSCRIPT && !concealed)) return SILENT;
    const { interned } = tape;
    let classes = 0;
    let id = 0;
    let role = PLAIN;
    let property = PLAIN;
    for (let at = tape.firstAttribute(element); at < tape.endOfAttributes(element); at++) {
      switch (tape.attributeAt(at)) {
        case ATTRIBUTE.class:
          classes = tape.internedAt(at);
          break;
        case ATTRIBUTE.id:
          id = tape.internedAt(at);
          break;
        case ATTRIBUTE.hidden:
          return SILENT;
        case ATTRIBUTE['aria-hidden']:
          if (ofState.of(interned, tape.internedAt(at)) === SILENT) return SILENT;
          break;
        case ATTRIBUTE.style:
          if (ofStyle.of(interned, tape.internedAt(at)) === SILENT) return SILENT;
          break;
        case ATTRIBUTE.role:
          role = ofRole.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.itemprop:
          property = ofProperty.of(interned, tape.internedAt(at));
          break;
      }
    }
    const byName = BY_NAME.at(tag);
    if (byName === SURROUNDING || role === SURROUNDING) return SURROUNDING;
    if (role + property + byName > PLAIN) return MAIN_CONTENT;
    if (classes + id === 0 || WHOLE_PAGE.has(tag)) return PLAIN;
    if (classes > 0 && id > 0 && interned.size(classes) + interned.size(id) >= MAX_WORDS) {
      return meaningOf(`${interned.text(classes)} ${interned.text(id)}`);
    }
    // Content wins over surroundings, and either wins over plain.
    return Math.max(ofWords.of(interned, classes), ofWords.of(interned, id));
  };
}

function meaningOf(words: string): number {
  const folded = foldedWords(words);
  if (folded === '') return PLAIN;
  if (CONTENT.test(folded)) return MAIN_CONTENT;
  return SURROUND.test(folded) ? PERHAPS_SURROUNDING : PLAIN;
}

/** In lower case, with camel humps turned into hyphens: `SideBar` becomes `side-bar`. */
function foldedWords(words: string): string {
  return words
    .slice(0, MAX_WORDS)
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/\s+/g, ' ');
}
