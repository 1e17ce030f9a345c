import { constants, gunzipSync } from 'node:zlib';
import type { ExportDocument, StoredResponse } from 'incrawl/plugin';
import { getSurt } from 'warcio/utils';

/** Position of a record. */
export interface RecordPlace {
  readonly filename: string;
  /** Of its gzip member, bytes. */
  readonly offset: number;
  readonly length: number;
}

/**
 * A line of CDXJ (https://specs.webrecorder.net/cdxj/0.1.0/): the URL as SURT, the time in 14 digits, then the fields
 * for replay.
 */
export function cdxLine(
  { url }: ExportDocument,
  { status, at, headers }: StoredResponse,
  member: Uint8Array,
  { filename, offset, length }: RecordPlace,
): string {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const digest = payloadDigest(member);
  const fields = {
    url,
    mime: type?.split(';', 1)[0]?.trim() || null,
    status: `${status}`,
    ...(digest !== null && { digest }),
    length: `${length}`,
    offset: `${offset}`,
    filename,
  };
  const timestamp = new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);
  return `${getSurt(url)} ${timestamp} ${JSON.stringify(fields)}`;
}

/** The head of a record is in the first bytes of its gzip member; only these are decompressed. */
function payloadDigest(member: Uint8Array): string | null {
  const head = gunzipSync(member.subarray(0, 4_096), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
  return /\r\nWARC-Payload-Digest: \w+:(\S+)\r\n/i.exec(head.slice(0, head.indexOf('\r\n\r\n') + 2))?.[1] ?? null;
}
