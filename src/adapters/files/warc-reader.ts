import { WARCParser } from 'warcio';
import { CrawlError } from '../../domain/errors.ts';
import type { WireResponse } from '../../ports/segment-store.ts';

/** Reads the record of one gzip member back, by warcio. Rejects with `segment-corrupt`. */
export async function readWarcMember(member: Uint8Array, where: string): Promise<WireResponse> {
  const corrupt = (what: string, cause?: unknown): CrawlError =>
    new CrawlError('segment-corrupt', `${where}: ${what}`, { cause });
  try {
    const record = await new WARCParser([member]).parse();
    if (record === null || record.warcTargetURI === null || record.warcTargetURI === undefined) {
      throw corrupt('no WARC record');
    }
    const body = await record.readFully(false);
    const { statusline } = record.httpHeaders ?? {};
    const status = /^HTTP\/(\S+) (\d{3}) ?(.*)$/s.exec((statusline ?? '').trimEnd());
    if (status === null) throw corrupt('no HTTP head');
    const rawHeaders: string[] = [];
    for (const [name, value] of record.httpHeaders?.headers ?? []) rawHeaders.push(name, value);
    const profile = record.warcHeader('WARC-Profile') ?? '';
    const revisit = profile.endsWith('server-not-modified')
      ? 'server-not-modified'
      : profile.endsWith('identical-payload-digest')
        ? 'identical-payload-digest'
        : null;
    return {
      url: record.warcTargetURI,
      at: Date.parse(record.warcDate ?? ''),
      httpVersion: status[1] as string,
      status: Number(status[2]),
      statusText: status[3] as string,
      rawHeaders,
      body: revisit === null ? body : null,
      truncated: record.warcHeader('WARC-Truncated') !== null && record.warcHeader('WARC-Truncated') !== undefined,
      remoteAddress: record.warcHeader('WARC-IP-Address') ?? null,
      revisit,
    };
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    throw corrupt('the WARC record cannot be read', error);
  }
}
