import { type Markup, markup, type Shown } from '../markup.ts';

/** A part of the overview with its heading. `size`: class of its width. */
export function panel(title: string, note: Shown, size: string, content: Shown): Markup {
  return markup`<section class="${`panel ${size}`}"><h2>${title} <small>${note}</small></h2>${content}</section>`;
}

/** In place of a chart: why there is none. */
export const nothing = (text: string): Markup => markup`<p class="nothing">${text}</p>`;
