import type { PageNode } from './page-node.ts';

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
/** Whole words of class and id that stand for what surrounds content. */
const SURROUND =
  /(?:^|[-_ ])(?:nav|navbar|navigation|menu|submenu|megamenu|breadcrumbs?|crumbs?|footer|foot|sidebar|side-?bar|sidenav|rail|cookies?|consent|gdpr|banner|masthead|topbar|toolbar|share|sharing|sharebar|social|follow|related|recommended|recommendations|recirc|more-?stories|read-?more|also-?like|newsletter|subscribe|subscription|signup|sign-?up|login|sign-?in|popup|modal|overlay|lightbox|advert|adverts|advertisement|ads|adslot|sponsor|sponsored|promo|promos|promotion|pagination|pager|paging|widget|widgets|skip|skip-?link|sr-?only|visually-?hidden|screen-?reader|tags|taglist|tag-?cloud|byline-?share|print|tools|outbrain|taboola|disqus|author-?bio|flash|tooltip|dropdown|search-?form|searchform|language|lang-?switcher|copyright|legal|backtotop|ticker|trending|popular|most-?read)(?:$|[-_ ])/;
const CONTENT =
  /(?:^|[-_ ])(?:article-?body|articlebody|post-?body|entry-?content|post-?content|article-?content|story-?body|main-?content|maincontent|content-?body|markdown-?body|prose|mw-?parser-?output)(?:$|[-_ ])/;

/** What an element is by its name and attributes alone. */
export type ElementClass = 'silent' | 'surround' | 'content' | 'plain' | 'perhaps-surround';

export type Classifier = (node: PageNode) => ElementClass;

/**
 * For the elements of one page: what a class name means is worked out once, since pages use few of them often.
 * @param concealed whether what only shows without scripts counts: the whole content of some applications
 */
export function createClassifier(concealed: boolean): Classifier {
  const meanings = new Map<string, ElementClass>();
  return (node) => {
    const { name = '', attribs } = node;
    if (name === 'noscript' && !concealed) return 'silent';
    if (SILENT.has(name)) return 'silent';
    if (attribs === undefined) return classOfName(name);
    if (isHidden(attribs)) return 'silent';
    const { role, itemprop } = attribs;
    if (name === 'nav' || name === 'footer' || name === 'aside') return 'surround';
    if (role !== undefined && ROLES.has(role.toLowerCase())) return 'surround';
    if (role === 'main' || role === 'article' || itemprop === 'articleBody') return 'content';
    if (name === 'main' || name === 'article') return 'content';
    if (name === 'body' || name === 'html' || (attribs.class === undefined && attribs.id === undefined)) return 'plain';
    const words = `${attribs.class ?? ''} ${attribs.id ?? ''}`;
    let meaning = meanings.get(words);
    if (meaning === undefined) {
      meaning = meaningOf(words);
      meanings.set(words, meaning);
    }
    return meaning;
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

function isHidden(attribs: Readonly<Record<string, string>>): boolean {
  if (attribs.hidden !== undefined || attribs['aria-hidden'] === 'true') return true;
  const { style } = attribs;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}
