import { memoized } from '../../memoized.ts';
import type { PageNode } from '../page-node.ts';
import { HIDING_STYLE } from './element-signs.ts';

/** Nothing inside is text of the page. */
const SILENT = new Set(
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

/** Judgement of an element by its name and attributes alone. */
export type ElementClass = 'silent' | 'surround' | 'content' | 'plain' | 'perhaps-surround';

export type Classifier = (node: PageNode) => ElementClass;

/** Class and id attributes cached: those of many pages of a few sites. */
const MAX_MEANINGS = 20_000;

/**
 * Reusable for any number of pages. The meaning of a class name is cached, since the pages of a site use few of them
 * often.
 * @param concealed whether content shown only without scripts counts: the whole content of some applications
 */
export function createClassifier(concealed: boolean): Classifier {
  const meaning = memoized(meaningOf, MAX_MEANINGS);
  return ({ name = '', attribs }) => {
    if (name === 'noscript' && !concealed) return 'silent';
    if (SILENT.has(name)) return 'silent';
    if (attribs === undefined) return classOfName(name);
    let role: string | undefined;
    let classes = '';
    let id = '';
    let isBody = false;
    // Most elements have one or two attributes, or none: going through them is quicker than asking for seven.
    for (const key in attribs) {
      switch (key) {
        case 'class':
          classes = attribs.class as string;
          break;
        case 'id':
          id = attribs.id as string;
          break;
        case 'hidden':
          return 'silent';
        case 'aria-hidden':
          if (attribs['aria-hidden'] === 'true') return 'silent';
          break;
        case 'style':
          if (HIDING_STYLE.test(attribs.style as string)) return 'silent';
          break;
        case 'role':
          role = attribs.role as string;
          break;
        case 'itemprop':
          isBody = attribs.itemprop === 'articleBody';
          break;
      }
    }
    if (name === 'nav' || name === 'footer' || name === 'aside') return 'surround';
    if (role !== undefined && ROLES.has(role.toLowerCase())) return 'surround';
    if (role === 'main' || role === 'article' || isBody) return 'content';
    if (name === 'main' || name === 'article') return 'content';
    if (name === 'body' || name === 'html' || (classes === '' && id === '')) return 'plain';
    return meaning(id === '' ? classes : `${classes} ${id}`);
  };
}

function classOfName(name: string): ElementClass {
  if (name === 'nav' || name === 'footer' || name === 'aside') return 'surround';
  return name === 'main' || name === 'article' ? 'content' : 'plain';
}

function meaningOf(words: string): ElementClass {
  const folded = foldedWords(words);
  if (folded === '') return 'plain';
  if (CONTENT.test(folded)) return 'content';
  return SURROUND.test(folded) ? 'perhaps-surround' : 'plain';
}

/** In lower case, humps as hyphens: `SideBar` is `side-bar`. */
function foldedWords(words: string): string {
  return words
    .slice(0, 300)
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/\s+/g, ' ');
}
