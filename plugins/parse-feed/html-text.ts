import { Parser } from 'htmlparser2';
import { cutText } from 'incrawl/plugin';

/** Enough for a summary or an article; bounds the work on one entry. */
const MAX_HTML_LENGTH = 20_000;
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);

/** The words of a piece of HTML as feeds carry it, or of plain text; white space folded. */
export function textOfHtml(html: string): string {
  const cut = cutText(html, MAX_HTML_LENGTH);
  return foldWhiteSpace(/[<&]/.test(cut) ? withoutMarkup(cut) : cut);
}

/** A plain text as HTML that says the same. */
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
