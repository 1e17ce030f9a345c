import { TextDecoder } from '@exodus/bytes/encoding.js';

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
