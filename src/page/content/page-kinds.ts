import { tagNumber } from '../tape/name-table.ts';
import { type Tape, TEXT } from '../tape/tape.ts';

/** Kinds that pages declare (JSON-LD, Open Graph). */
export interface PageKinds {
  readonly article: boolean;
  readonly product: boolean;
  readonly forum: boolean;
  readonly list: boolean;
  /** By the generator of its HTML: documentation. */
  readonly manual: boolean;
}

export interface KindReader {
  (tape: Tape, element: number): void;
  kinds(): PageKinds;
  /** Whether the page declares what it is, and that is no article. */
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
/** Programs that make manuals and references of sources. */
const MANUAL =
  /\b(?:docbook|docutils|sphinx|asciidoc(?:tor)?|antora|texinfo|makeinfo|latex2html|pandoc|doxygen|gtk-doc|javadoc|jsdoc|typedoc|rustdoc|mdbook|mkdocs|docusaurus|gitbook|vitepress|vuepress)/i;
const POST = /\b(?:single-post|single-article|article-page|post-template)\b/i;

const KINDS_OF_META = new Set(['og:type', 'generator', 'og:site_name', 'application-name']);
const HTML = tagNumber('html');
const BODY = tagNumber('body');
const META = tagNumber('meta');
const SCRIPT = tagNumber('script');
const TITLE = tagNumber('title');

/** The text that an element begins with, bounded. */
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
      case BODY: {
        const words = `${tape.attribute(element, 'id') ?? ''} ${tape.attribute(element, 'class') ?? ''}`.slice(
          0,
          1_000,
        );
        isForum ||= FORUM.test(words);
        isPost ||= POST.test(words);
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
