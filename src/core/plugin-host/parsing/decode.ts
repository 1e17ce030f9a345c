// core/plugin-host/parsing/: pages parsed in worker threads, by parsers and parse filters.

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { getBOMEncoding, normalizeEncoding, TextDecoder } from '@exodus/bytes/encoding.js';
import { ResultType, Sniffer } from 'encoding-sniffer/sniffer';

/**
 * Candidate encodings, with the characters expected in a text decoded correctly.
 */
interface Candidate {
  readonly charset: string;
  /** Bytes a character of the script takes; the plain reading of one byte each is easier to come by. */
  readonly bytes: 1 | 2;
  /** The commonest characters of languages written in it. */
  readonly common: RegExp;
  /** All letters of its script. */
  readonly script: RegExp;
}

const HAN = /[\u4e00-\u9fff]/g;
const KANA = /[\u3041-\u30f6\u30fc]/g;
const CYRILLIC = /[\u0400-\u045f\u0490\u0491]/g;

const CANDIDATES: readonly Candidate[] = [
  {
    charset: 'gbk',
    bytes: 2,
    common: /[的一是不了在人有我他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生，。、]/g,
    script: HAN,
  },
  {
    charset: 'big5',
    bytes: 2,
    common: /[的一是不了在人有我他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生，。、]/g,
    script: HAN,
  },
  { charset: 'shift_jis', bytes: 2, common: /[のにはをたがでとしれさるいもなくかっ、。ーンスル]/g, script: KANA },
  { charset: 'euc-jp', bytes: 2, common: /[のにはをたがでとしれさるいもなくかっ、。ーンスル]/g, script: KANA },
  {
    charset: 'euc-kr',
    bytes: 2,
    common: /[이다는에의을가고한를은로하지도서사기인대어자나해그시으있과]/g,
    script: /[\uac00-\ud7a3]/g,
  },
  { charset: 'windows-1251', bytes: 1, common: /[оеаинтсрвлкмд]/g, script: CYRILLIC },
  { charset: 'koi8-r', bytes: 1, common: /[оеаинтсрвлкмд]/g, script: CYRILLIC },
  { charset: 'windows-1253', bytes: 1, common: /[αοιετσνηυρπκς]/g, script: /[\u0386-\u03ce]/g },
  { charset: 'windows-1255', bytes: 1, common: /[יוהלאתרשבמנ]/g, script: /[\u05d0-\u05ea]/g },
  { charset: 'windows-1256', bytes: 1, common: /[ايلمونترهبعسد]/g, script: /[\u0621-\u064a]/g },
  { charset: 'windows-874', bytes: 1, common: /[านรอกเงมยลวดทสตะปบคหแจพชขใไโผ่้ี]/g, script: /[\u0e01-\u0e4d]/g },
];

const MIXED = /[a-z][^\u0000-\u007f]|[^\u0000-\u007f][a-z]/gi;

/** Bytes looked at, from the first beyond ASCII on. */
const SAMPLE_BYTES = 16_384;
/** With fewer bytes beyond ASCII there is nothing to go by. */
const LEAST_BYTES = 8;
/** Share of the characters beyond ASCII that must be of the script, and of those that must be common ones. */
const LEAST_SCRIPT = 0.7;
const LEAST_COMMON = 0.12;
const LEAST_COMMON_LETTERS = 0.5;

/**
 * Detects the encoding of undeclared bytes that are not UTF-8. The candidate wins whose decoding has hardly any
 * characters that occur in no text, letters of nearly one script only, and as many of its commonest letters as real
 * texts have. `null`: none fits (Western European, or no text).
 */
export function guessEncoding(body: Uint8Array): string | null {
  const first = body.findIndex((byte) => byte >= 0x80);
  if (first < 0) return null;
  const sample = body.subarray(first, first + SAMPLE_BYTES);
  let beyond = 0;
  for (const byte of sample) if (byte >= 0x80) beyond++;
  // Western texts have few letters with marks.
  if (beyond < LEAST_BYTES || beyond < 0.02 * sample.length) return null;
  let best: string | null = null;
  let most = 0;
  for (const candidate of CANDIDATES) {
    const score = likeness(candidate, new TextDecoder(candidate.charset).decode(sample));
    if (score > most) {
      most = score;
      best = candidate.charset;
    }
  }
  return best;
}

function likeness({ bytes, common, script }: Candidate, text: string): number {
  const all = text.match(/[^\u0000-\u007f\u00a0\u2013-\u2026«»]/g)?.length ?? 0;
  const broken = text.match(/[\ufffd\u0080-\u009f\ue000-\uf8ff]/g)?.length ?? 0;
  // The sample may begin or end within a character.
  if (all === 0 || broken > 2 + 0.01 * all) return 0;
  // Words of another script have no Latin letters; French in the wrong encoding has.
  if (bytes === 1 && (text.match(MIXED)?.length ?? 0) > 0.2 * all) return 0;
  const punctuation = bytes === 2 ? (text.match(/[\u3000-\u303f\uff01-\uff5e]/g)?.length ?? 0) : 0;
  const letters = text.match(script)?.length ?? 0;
  const isJapanese = script === KANA;
  const han = isJapanese ? (text.match(HAN)?.length ?? 0) : 0;
  if ((letters + han + punctuation) / all < LEAST_SCRIPT || (isJapanese && letters < 0.2 * all)) return 0;
  const share = (text.match(common)?.length ?? 0) / all;
  const least = bytes === 2 ? LEAST_COMMON : LEAST_COMMON_LETTERS;
  return share < least ? 0 : (share / least) * (letters / all);
}

export interface DecodeHints {
  /** The whole `Content-Type` header; `null` when absent. */
  readonly contentType: string | null;
  /** Where the body may declare its encoding: `meta` elements, the XML declaration, nowhere. */
  readonly kind: 'html' | 'xml' | 'text';
}

interface DecodedBody {
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
