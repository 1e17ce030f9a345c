// plugin-host/parsing/: pages parsed in worker threads, by parsers and parse filters.
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { getBOMEncoding, normalizeEncoding, TextDecoder } from '@exodus/bytes/encoding.js';
import { ResultType, Sniffer } from 'encoding-sniffer/sniffer';
import { guessEncoding } from './guess-encoding.ts';

export interface DecodeHints {
  /** The whole `Content-Type` header; `null` when absent. */
  readonly contentType: string | null;
  /** Where the body may declare its encoding: `meta` elements, the XML declaration, nowhere. */
  readonly kind: 'html' | 'xml' | 'text';
}

export interface DecodedBody {
  /** Without a byte order mark; bytes that do not fit the encoding are U+FFFD. */
  readonly text: string;
  /** Name of the encoding (WHATWG Encoding Standard), lower case: `utf-8`, `windows-1252`, `gbk`. */
  readonly charset: string;
}

/** Bytes in which a declaration must begin to be trusted (WHATWG HTML). */
const PRESCAN_BYTES = 1024;
/** Bytes searched for a late declaration where nothing else is known, as browsers do. */
const LATE_PRESCAN_BYTES = 65_536;
const FALLBACK = 'windows-1252';

/**
 * Decodes a body as a browser would: byte order mark, charset of the HTTP header, declaration inside the document. A
 * declaration is overridden in two cases: UTF-8 is declared, the bytes have many faults as UTF-8 and another encoding
 * is detected; or a Western encoding is declared and the bytes are valid UTF-8 beyond chance. Without a declaration the
 * encoding is UTF-8 if the bytes have few faults as that (a body cut off within a character, a stray byte), else the
 * one of a late declaration, else the one detected by script and letter frequency, else windows-1252.
 */
export function decodeBody(body: Uint8Array, hints: DecodeHints): DecodedBody {
  const charset = encodingOf(body, hints);
  return { text: decodedAs(charset, body), charset };
}

/** The encoding by which {@link decodeBody} decodes. */
export function encodingOf(body: Uint8Array, hints: DecodeHints): string {
  const declared = declaredOutside(body, hints) ?? declaredInside(body, hints.kind, PRESCAN_BYTES);
  return declared === null ? guess(body, hints) : corrected(body, declared);
}

export const decodedAs = (charset: string, body: Uint8Array): string =>
  charset === 'utf-8' ? decodeUtf8(body) : new TextDecoder(charset).decode(body);

/** The text that {@link decodedAs} gives, in UTF-8: mostly the body itself. */
export function utf8Of(charset: string, body: Uint8Array): Uint8Array {
  if (charset !== 'utf-8' || !isUtf8(body)) return Buffer.from(decodedAs(charset, body));
  return hasMark(body) ? body.subarray(3) : body;
}

/**
 * The encoding that the body declares: byte order mark, then HTTP header, then inside (WHATWG HTML, "prescan a byte
 * stream to determine its encoding"; XML 1.0 appendix F). `null` when nothing usable is declared; unknown labels do not
 * count.
 */
export function sniffEncoding(bytes: Uint8Array, hints: DecodeHints): string | null {
  return declaredOutside(bytes, hints) ?? declaredInside(bytes, hints.kind, LATE_PRESCAN_BYTES);
}

function declaredOutside(bytes: Uint8Array, hints: DecodeHints): string | null {
  return getBOMEncoding(bytes.subarray(0, 4)) ?? declaredInHeader(hints.contentType);
}

const CHARSET_PARAMETER = /;\s*charset\s*=\s*(?:"([^"]*)|'([^']*)|([^\s;,"']+))/i;

function declaredInHeader(contentType: string | null): string | null {
  if (contentType === null) return null;
  const found = CHARSET_PARAMETER.exec(contentType);
  return found === null ? null : usable(found[1] ?? found[2] ?? found[3] ?? '');
}

function declaredInside(bytes: Uint8Array, kind: DecodeHints['kind'], limit: number): string | null {
  if (kind === 'text') return null;
  const sniffer = new Sniffer({ maxBytes: limit });
  sniffer.write(bytes.length > limit ? bytes.subarray(0, limit) : bytes);
  // `meta` in XML is content, not a declaration.
  const worst = kind === 'html' ? ResultType.XML_ENCODING : ResultType.XML_PREFIX;
  const { resultType, encoding } = sniffer;
  if (resultType === ResultType.DEFAULT) return null;
  return resultType <= worst || resultType === ResultType.XML_ENCODING ? usable(encoding) : null;
}

/** The name for a label, if it can be decoded; `replacement` stands for encodings that browsers refuse. */
function usable(label: string): string | null {
  const name = normalizeEncoding(label.trim());
  return name === 'replacement' || name === 'x-user-defined' ? null : name;
}

function guess(body: Uint8Array, hints: DecodeHints): string {
  if (isUtf8(body) || isUtf8ButForSlips(body)) return 'utf-8';
  return (
    (body.length > PRESCAN_BYTES ? declaredInside(body, hints.kind, LATE_PRESCAN_BYTES) : null) ??
    guessEncoding(body) ??
    FALLBACK
  );
}

/** Multi-byte sequences from which valid UTF-8 is no chance. */
const LEAST_SEQUENCES = 3;
/** Largest share of faults in UTF-8 with stray bytes, of the bytes beyond ASCII. */
const SLIPS = 0.1;

/** The declared encoding, or the one that the bytes clearly have. */
function corrected(body: Uint8Array, declared: string): string {
  if (declared === 'windows-1252') return isUtf8(body) && sequencesIn(body) >= LEAST_SEQUENCES ? 'utf-8' : declared;
  if (declared !== 'utf-8' || isUtf8(body)) return declared;
  const sample = body.subarray(0, LATE_PRESCAN_BYTES);
  return shareOfFaults(sample) > SLIPS ? (guessEncoding(sample) ?? declared) : declared;
}

/** Faults when decoded as UTF-8, as a share of the bytes beyond ASCII; 0 without such bytes. */
function shareOfFaults(sample: Uint8Array): number {
  let beyond = 0;
  for (const byte of sample) if (byte >= 0x80) beyond++;
  return beyond === 0 ? 0 : (decodeUtf8(sample).split('\ufffd').length - 1) / beyond;
}

/** Examines the bytes from the first one beyond ASCII: a page may begin with much ASCII markup. */
function isUtf8ButForSlips(body: Uint8Array): boolean {
  const first = body.findIndex((byte) => byte >= 0x80);
  const sample = body.subarray(first, first + LATE_PRESCAN_BYTES);
  return sequencesIn(sample) >= LEAST_SEQUENCES && shareOfFaults(sample) <= SLIPS;
}

function sequencesIn(body: Uint8Array): number {
  let found = 0;
  for (const byte of body) if (byte >= 0xc2 && ++found >= LEAST_SEQUENCES) break;
  return found;
}

function decodeUtf8(body: Uint8Array): string {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // A string of one byte a character is half the size and faster to scan.
  if (isAscii(buffer)) return buffer.toString('latin1');
  return buffer.toString('utf8', hasMark(buffer) ? 3 : 0);
}

const hasMark = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
