import { asciiSlice } from '../tape/slices.ts';

/**
 * A shortcode of WordPress (Shortcode API) that no plugin replaced, in UTF-8 read as Latin-1: `[gallery ids="1,2"]`,
 * `[vc_row]`, `[/caption]`. Names in brackets are common in texts, so one without quoted or numeric attributes counts
 * only by a known name: those of the core, of forms, and of builders of pages, which begin alike.
 */
const SHORTCODE = shortcode();
/** A longer one is text. */
const MAX_BYTES = 2_000;

function shortcode(): RegExp {
  // Values end at the first quote, so that the work is linear.
  const curly = '\\xe2\\x80[\\x98-\\x9f\\xb2\\xb3]';
  const quoted = `"[^"\\[\\]]*"|'[^'\\[\\]]*'|${curly}(?:(?!${curly})[^\\[\\]])*${curly}`;
  const value = `(?:${quoted}|\\d[\\d,.%]*(?=[\\s/\\]]))`;
  const name =
    '(?:(?:wp_)?caption|gallery|playlist|embed|audio|video|contact-form(?:-7)?|gravityform|wpforms|mc4wp_form|rev_slider|(?:vc|et_pb|fusion|av|su|nectar|mk|elementor|woocommerce|siteorigin)[_-]\\w+)';
  const attributes = `(?:\\s+[A-Za-z_][\\w-]*=${value})+`;
  return new RegExp(`\\[(?:/${name}|${name}(?:\\s[^\\[\\]]*)?|[A-Za-z][\\w-]*${attributes})\\s*/?\\]`, 'g');
}

/**
 * The shortcodes in a range of UTF-8, as pairs of beginnings and ends.
 * @param from where a bracket opens
 */
export function shortcodeRanges(bytes: Buffer, from: number, to: number): readonly number[] {
  const ranges: number[] = [];
  for (const match of asciiSlice(bytes, from, to).matchAll(SHORTCODE)) {
    if (match[0].length <= MAX_BYTES) ranges.push(from + match.index, from + match.index + match[0].length);
  }
  return ranges;
}
