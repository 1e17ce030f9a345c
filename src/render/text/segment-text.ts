import { type Truncation, truncationOf } from '../../core/domain/crawl/states/truncation.ts';
import type { SegmentRecordView } from '../../crawler/index.ts';
import { bytes, count, counted } from '../quantities.ts';
import { safeLines } from '../safe-text.ts';
import { fieldLines } from '../table.ts';

/** Maximum text shown to people; `--json` has all. */
const SHOWN_CHARS = 2_000;

/** The record of one URL in a segment, for people. */
export function segmentRecordText(record: SegmentRecordView): string {
  const { fetched, parsed, response } = record;
  const { outcome } = fetched;
  const fields: (readonly [string, string])[] = [
    ['url', fetched.url],
    ['segment', record.segment],
    ['outcome', outcomeInLine(outcome)],
    ['at', new Date(outcome.at).toISOString()],
    [
      'received',
      `${bytes(outcome.receivedBytes)} in ${counted(outcome.requests, 'request')}, ${count(Math.round(outcome.ms))} ms`,
    ],
  ];
  if (fetched.warc !== null) fields.push(['warc', `${fetched.warc.file} at ${fetched.warc.offset}`]);
  if (parsed !== null) {
    fields.push(['parsed as', [parsed.contentType, parsed.charset, parsed.lang].filter(Boolean).join(', ')]);
    fields.push(['outlinks', count(parsed.outlinks.length)]);
  }
  let text = `${fieldLines(fields)}\n`;
  if (response) {
    const headers = response.headers.map(([name, value]) => [`  ${name}`, value] as const);
    text += `\n${fieldLines([['response', String(response.status)], ...headers])}\n`;
  }
  const content = parsed?.text ?? (response?.bodyEncoding === 'text' ? response.body : null);
  return content ? `${text}\n${shortened(content)}\n` : text;
}

/** `success 200`, `unchanged 304 (conditional)`, `failed connect-failed: ...` */
export function outcomeInLine(outcome: SegmentRecordView['fetched']['outcome']): string {
  switch (outcome.kind) {
    case 'success':
      return `success ${outcome.status}${truncationInWords(truncationOf(outcome.truncated))}`;
    case 'gone':
      return `${outcome.kind} ${outcome.status}`;
    case 'unchanged':
      return `unchanged ${outcome.status} (${outcome.rung})`;
    case 'redirect':
      return `redirect ${outcome.status} to ${outcome.target}`;
    case 'failed':
    case 'denied':
      return `${outcome.kind} ${outcome.code}: ${outcome.message}`;
  }
}

const truncationInWords = (reason: Truncation | null): string => (reason === null ? '' : `, truncated (${reason})`);

function shortened(text: string): string {
  const shown = safeLines(text.slice(0, SHOWN_CHARS));
  return text.length > SHOWN_CHARS
    ? `${shown}…\n(${count(text.length - SHOWN_CHARS)} more characters; --json has all)`
    : shown;
}
