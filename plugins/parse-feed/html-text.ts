import { Parser } from 'htmlparser2';
import { cutText } from 'incrawl/plugin';

/** Longest text of an entry, enough for an article. */
const MAX_HTML_LENGTH = 20_000;
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);

/** Text of an HTML fragment or plain text of a feed, white space collapsed. */
export function textOfHtml(html: string): string {
  const cut = cutText(html, MAX_HTML_LENGTH);
  return foldWhiteSpace(/[<&]/.test(cut) ? withoutMarkup(cut) : cut);
}

/** Plain text escaped as HTML. */
export const asHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function foldWhiteSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function withoutMarkup(html: string): string {
  const words: string[] = [];
  let unseen = 0;
  const parser = new Parser({
    onopentagname(name) {
      words.push(' ');
      if (UNSEEN.has(name)) unseen++;
    },
    ontext(text) {
      if (unseen === 0) words.push(text);
    },
    onclosetag(name) {
      words.push(' ');
      if (UNSEEN.has(name)) unseen--;
    },
  });
  parser.end(html);
  return words.join('');
}
