import { closestName } from '../../../domain/closest-name.ts';

/** A field of robots.txt. */
export type RobotsField = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

export interface RobotsLine {
  readonly field: RobotsField;
  readonly value: string;
  /** Counted from 1. */
  readonly line: number;
  /** As written, without comment and surrounding white space. */
  readonly text: string;
}

/** Maximum size parsed, bytes (RFC 9309 section 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024;

const FIELDS: Readonly<Record<string, RobotsField>> = {
  useragent: 'user-agent',
  allow: 'allow',
  disallow: 'disallow',
  crawldelay: 'crawl-delay',
  sitemap: 'sitemap',
};
/** Names that are recognised with a typing error. Never `allow`: a wrong guess there would open a site. */
const GUESSED = ['useragent', 'disallow'];
/** `user agent`, `Crawl_Delay`: the words of a name are sometimes separated otherwise. */
const WITH_COLON = /^([a-z][a-z _-]{2,20}?)\s*:(.*)$/is;
const WITHOUT_COLON = /^(user[ _-]?agent|[a-z][a-z_-]{2,20})\s+(\S.*)$/is;
/** A tag at the end of a line, as in files made by HTML editors. */
const TRAILING_TAG = /<\/?[a-z]+\s*\/?>$/i;
/** Longer lines are cut: no URL that is matched is that long. */
const MAX_LINE_LENGTH = 16_384;
/** Comparisons of misspelt names, per file. */
const MAX_GUESSES = 1000;

/** The lines with a known field, in order. Unknown fields, comments and HTML are skipped. */
export function robotsLines(text: string): RobotsLine[] {
  const lines: RobotsLine[] = [];
  const guesses = { left: MAX_GUESSES };
  const raw = withinLimit(text.replace(/^\uFEFF/, '')).split(/\r\n|\r|\n/);
  for (let i = 0; i < raw.length; i++) {
    const line = withoutComment(raw[i] ?? '');
    if (line === '') continue;
    const read = fieldAndValue(line, guesses);
    if (read !== null) lines.push({ ...read, line: i + 1, text: line });
  }
  return lines;
}

const withinLimit = (text: string): string =>
  text.length <= MAX_ROBOTS_BYTES ? text : withoutTornLine(text.slice(0, MAX_ROBOTS_BYTES));

/** A cut text without its last, incomplete line: a rule that was cut would match more than it should. */
export function withoutTornLine(text: string): string {
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

function withoutComment(line: string): string {
  const comment = line.indexOf('#');
  return line.slice(0, comment === -1 ? MAX_LINE_LENGTH : Math.min(comment, MAX_LINE_LENGTH)).trim();
}

function fieldAndValue(line: string, guesses: { left: number }): Pick<RobotsLine, 'field' | 'value'> | null {
  const found = WITH_COLON.exec(line) ?? WITHOUT_COLON.exec(line);
  if (found === null) return null;
  const field = fieldNamed(found[1] ?? '', guesses);
  return field === null ? null : { field, value: withoutTags((found[2] ?? '').trim()) };
}

function withoutTags(value: string): string {
  let text = value;
  for (let i = 0; i < 4 && text.endsWith('>'); i++) text = text.replace(TRAILING_TAG, '').trimEnd();
  return text;
}

function fieldNamed(name: string, guesses: { left: number }): RobotsField | null {
  const key = name.toLowerCase().replace(/[ _-]/g, '');
  const field = FIELDS[key];
  if (field !== undefined) return field;
  if (key.length < 7 || key.length > 11 || guesses.left-- <= 0) return null;
  const meant = closestName(key, GUESSED);
  return meant === undefined || meant[0] !== key[0] ? null : (FIELDS[meant] ?? null);
}
