import { digestUrl } from '../url/hash/url-digest.ts';

/** Longest name of a folder or file without digest and ending, characters; most folders in a path. */
const MAX_NAME_CHARS = 80;
const MAX_FOLDERS = 12;
/** Longest name of a host folder, characters: scheme and port are added, and file systems limit names. */
const MAX_HOST_CHARS = 200;
/** Device names of Windows, with any ending. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const SAFE_HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const SAFE_NAME = /^[a-z0-9][a-z0-9._+-]*$/;

/**
 * Path of a page in a tree of files: `host/folder/name.ending`, with `/` between. The path stays below the root,
 * contains no name reserved by a system, and differs for every URL, also on file systems that ignore case. Unless the
 * URL's own path is safe and has the ending, the name gets 48 bits of a digest (`name~0123456789ab.html`). The same URL
 * and ending give the same path, whatever other pages there are.
 * @param naming `appended`: the ending is put behind the whole name, for files that are made from pages. `/a`,
 * `/a.html` and `/a.md` are `a.md`, `a.html.md` and `a.md.md`, all without a digest.
 */
export function filePathOf(url: string, ending: string, naming: 'own' | 'appended' = 'own'): string {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const host = hostname.replace(/[^a-z0-9.-]/g, '_').replace(/\.$/, '_');
  const named = scheme === 'https' && port === '' ? host : `${scheme}_${host}${port === '' ? '' : `_${port}`}`;
  const short = named.length <= MAX_HOST_CHARS ? named : `${named.slice(0, MAX_HOST_CHARS)}~${digestOf(named)}`;
  const root = DEVICES.test(short) ? `_${short}` : short;
  const names = pathname.slice(1).split('/');
  const last = names.pop() as string;
  const folders = names.map(safeName);
  const isIndex = last === '';
  const isAppended = naming === 'appended';
  const hasEnding = !isAppended && last.endsWith(`.${ending}`);
  const stem = isIndex ? 'index' : hasEnding ? last.slice(0, -ending.length - 1) : last;
  // A folder could collide with a file of that name.
  const isFolderOnly = (name: string): boolean => (isAppended ? !name.endsWith(`.${ending}`) : !name.includes('.'));
  const isOwn =
    SAFE_HOST.test(hostname) &&
    search === '' &&
    names.every((name, i) => name === folders[i] && isFolderOnly(name)) &&
    folders.length <= MAX_FOLDERS &&
    (isIndex || ((isAppended || hasEnding) && stem !== 'index' && stem === safeName(stem)));
  if (isOwn) return [root, ...folders, `${stem}.${ending}`].join('/');
  const inFolders = folders.slice(0, MAX_FOLDERS).map((name) => name.replaceAll('.', '_'));
  return [root, ...inFolders, `${safeName(stem)}~${digestOf(url)}.${ending}`].join('/');
}

/** The name itself, where it may stand as it is. */
function safeName(name: string): string {
  if (name.length <= MAX_NAME_CHARS && SAFE_NAME.test(name) && !name.endsWith('.') && !DEVICES.test(name)) return name;
  const cleaned = name
    .slice(0, MAX_NAME_CHARS)
    .toLowerCase()
    .replace(/%[0-9a-f]{2}/g, '_')
    .replace(/[^a-z0-9._+-]/g, '_')
    .replace(/^[^a-z0-9]/, '_')
    .replace(/\.$/, '_');
  return cleaned === '' ? '_' : DEVICES.test(cleaned) ? `_${cleaned}` : cleaned;
}

function digestOf(text: string): string {
  const words = new Uint32Array(4);
  digestUrl(text, words, 0);
  return [...words.subarray(0, 2)]
    .map((word) => word.toString(16).padStart(8, '0'))
    .join('')
    .slice(0, 12);
}

/** One row of CSV per RFC 4180, with its line end. Objects and lists become JSON. */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Spreadsheets run text that begins with = + - @ (or a tab or line break before one) as a formula, and the text comes
 * from foreign pages. Such a cell gets an apostrophe in front, which marks it as text. Numbers stay numbers.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const guarded =
    /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) || /^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
