/** Buckets of the histograms that the crawl db keeps of its records. */
import { HOUR_MS } from '../../time.ts';

/** Buckets of an eighth of an octave: a duration is known to 4.5 %. */
const STEPS_PER_OCTAVE = 8;

/** Bucket of an interval; buckets sort like intervals. Intervals below a second count as one. */
export function intervalBucket(intervalMs: number): number {
  return Math.round(STEPS_PER_OCTAVE * Math.log2(Math.max(1_000, intervalMs) / 1_000));
}

/** The middle of a bucket, ms. */
export function intervalOfBucket(step: number): number {
  return 1_000 * 2 ** (step / STEPS_PER_OCTAVE);
}

const TIME_MAX = 2 ** 48 - 1;

/** Hours since the epoch. Times are whole milliseconds up to the year 10,889, as the due index keeps them. */
export const hourOf = (at: number): number => Math.floor(Math.min(Math.max(Math.ceil(at), 0), TIME_MAX) / HOUR_MS);
export const startOfHour = (hour: number): number => hour * HOUR_MS;

/**
 * Types counted by themselves. Others count with their family, so that hostile headers cannot create counters without
 * limit.
 */
const COMMON_TYPES = new Set([
  'text/html',
  'text/plain',
  'text/css',
  'text/csv',
  'text/xml',
  'text/calendar',
  'text/javascript',
  'text/markdown',
  'application/xhtml+xml',
  'application/xml',
  'application/rss+xml',
  'application/atom+xml',
  'application/json',
  'application/ld+json',
  'application/javascript',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/epub+zip',
  'application/msword',
  'application/rtf',
  'application/octet-stream',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/svg+xml',
]);
const FAMILIES = new Set(['text', 'application', 'image', 'audio', 'video', 'font', 'message', 'multipart', 'model']);

/** `text/html` of `Text/HTML; charset=utf-8`; `image/*` for a rare type, `other` for an invalid one; `null` stays. */
export function countedType(contentType: string | null): string | null {
  if (contentType === null) return null;
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (COMMON_TYPES.has(type)) return type;
  const family = type.slice(0, Math.max(0, type.indexOf('/')));
  return FAMILIES.has(family) ? `${family}/*` : 'other';
}

const float = new DataView(new ArrayBuffer(8));

/**
 * Step of a score; steps sort like scores. An even one above 0 stands for one score (1, 0.5 and other numbers of few
 * bits, which most scores are), an odd one for the scores up to the next, a sixteenth of an octave. 0: none above 0.
 */
export function scoreStep(score: number): number {
  if (!(score > 0)) return 0;
  float.setFloat64(0, score);
  const isBetween = float.getUint16(2) !== 0 || float.getUint32(4) !== 0;
  return 2 * float.getUint16(0) + Number(isBetween);
}

/** Whether all scores of a step are the same. */
export const isOneScore = (step: number): boolean => step > 0 && step % 2 === 0;
