import { html, type raw } from 'hono/html';
import { safeText } from '../render/safe-text.ts';

/** HTML that is ready to be sent. */
export type Markup = ReturnType<typeof raw>;

/** What may stand in a `markup` template: text (made inert), markup, lists of both; `null` and `false` are nothing. */
export type Shown = string | number | Markup | null | false | readonly Shown[];

/**
 * A template of HTML. Text is escaped, and what turns the reading direction or is no character for people becomes a
 * visible escape: no title or URL from the web can act on the page or pass for another. Attributes must be quoted.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Shown[]): Markup {
  return html(strings, ...values.map(inert)) as Markup;
}

function inert(value: Shown): unknown {
  if (value === null || value === false) return '';
  if (typeof value === 'string') return safeText(value);
  return Array.isArray(value) ? value.map(inert) : value;
}

/** Text whose line breaks are to be seen. */
export function linesOf(text: string): Shown {
  return text.split(/\r?\n/).map((line, i) => (i === 0 ? line : markup`<br>${line}`));
}
