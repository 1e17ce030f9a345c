import { closestName } from '../../../domain/closest-name.ts';

/** What a line of robots.txt says. */
export type RobotsField = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

export interface RobotsLine {
  readonly field: RobotsField;
  readonly value: string;
  /** Counted from 1. */
  readonly line: number;
  /** As written, without comment and outer white space. */
  readonly text: string;
}

/** More is not looked at (RFC 9309 section 2.5), bytes. */
export const MAX_ROBOTS_BYTES = 500 * 1024;

const FIELDS: Readonly<Record<string, RobotsField>> = {
  useragent: 'user-agent',
  allow: 'allow',
  disallow: 'disallow',
  crawldelay: 'crawl-delay',
  sitemap: 'sitemap',
};
/**
 * Names long enough that a slip of the pen can be told from another word. Never `allow`: a wrong guess there opens a
 * site.
 */
const FORGIVEN = ['useragent', 'disallow'];
/** `user agent`, `Crawl_Delay`: the parts of a name are sometimes parted otherwise. */
const WITH_COLON = /^([a-z][a-z _-]{2,20}?)\s*:(.*)$/is;
const WITHOUT_COLON = /^(user[ _-]?agent|[a-z][a-z_-]{2,20})\s+(\S.*)$/is;
/** Files made by HTML editors end their lines so. */
const TRAILING_TAG = /<\/?[a-z]+\s*\/?>$/i;
/** The rest of a longer line is not looked at: no URL that is matched is that long. */
const MAX_LINE_LENGTH = 16_384;
/** Names that are compared letter by letter, per file. */
const MAX_GUESSES = 1000;

/** The lines that mean something, in order. Unknown lines, comments and HTML are passed over. */
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

/** Of a text that was cut. A rule that the cut went through would be a wider one, so it is left out. */
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
  const meant = closestName(key, FORGIVEN);
  return meant === undefined || meant[0] !== key[0] ? null : (FIELDS[meant] ?? null);
}
