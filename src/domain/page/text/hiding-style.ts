/** A style attribute that keeps an element from being shown. */
export const HIDING_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;
