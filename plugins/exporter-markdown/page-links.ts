import { posix } from 'node:path';

/** An escaped character, a code span, or a link to an http(s) URL as the conversion to Markdown writes it. */
const INLINE = /\\[\s\S]|(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|\]\((https?:[^\s()<>\\]+)\)/g;
/** Line that opens or closes a listing, in lists and quotations too. */
const FENCE = /^[\s>*+\-\d.]*?(`{3,})/;

/** The URLs that a page links to, without their fragments. */
export function linkedUrls(markdown: string): Set<string> {
  const urls = new Set<string>();
  withLinks(markdown, (url) => {
    urls.add(withoutFragment(url));
    return url;
  });
  return urls;
}

/**
 * A page whose links to other pages lead to their files. Listings and code stay as they are.
 * @param file path of the page below the folder, with `/`
 * @param fileOf path of another page; `null` where there is none
 */
export function linkedToFiles(markdown: string, file: string, fileOf: (url: string) => string | null): string {
  return withLinks(markdown, (url) => {
    const target = fileOf(withoutFragment(url));
    if (target === null) return url;
    const fragment = url.slice(withoutFragment(url).length);
    return target === file && fragment !== '' ? fragment : `${posix.relative(posix.dirname(file), target)}${fragment}`;
  });
}

const withoutFragment = (url: string): string => url.replace(/#.*$/, '');

function withLinks(markdown: string, change: (url: string) => string): string {
  let fence = '';
  const texts: string[] = [];
  const lines: string[] = [];
  const flush = (): void => {
    if (texts.length === 0) return;
    const text = texts.splice(0).join('\n');
    lines.push(text.replace(INLINE, (all, _run, url?: string) => (url === undefined ? all : `](${change(url)})`)));
  };
  for (const line of markdown.split('\n')) {
    const run = FENCE.exec(line)?.[1] ?? '';
    if (fence === '' && run === '') texts.push(line);
    else {
      flush();
      lines.push(line);
      if (fence === '') fence = run;
      else if (run.length >= fence.length) fence = '';
    }
  }
  flush();
  return lines.join('\n');
}
