import { html, type raw } from 'hono/html';
import { safeText } from '../render/safe-text.ts';

/** HTML, already escaped. */
export type Markup = ReturnType<typeof raw>;

/** Values in a `markup` template: text (is escaped), markup, lists of both; `null` and `false` show nothing. */
export type Shown = string | number | Markup | null | false | readonly Shown[];

/**
 * A template of HTML. Text is escaped; control characters and marks of the reading direction become visible escapes. So
 * no title or URL from the web can act on the page or look like another. Attributes must be quoted.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Shown[]): Markup {
  return html(strings, ...values.map(inert)) as Markup;
}

function inert(value: Shown): unknown {
  if (value === null || value === false) return '';
  if (typeof value === 'string') return safeText(value);
  return Array.isArray(value) ? value.map(inert) : value;
}

/** Text with its line breaks. */
export function linesOf(text: string): Shown {
  return text.split(/\r?\n/).map((line, i) => (i === 0 ? line : markup`<br>${line}`));
}
