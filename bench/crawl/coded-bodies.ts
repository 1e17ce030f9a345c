import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';

export type Coding = 'identity' | 'gzip' | 'br';

/** Codings by host: of real servers most compress HTML, about as many by gzip as by Brotli. */
const CODINGS: readonly Coding[] = ['identity', 'gzip', 'br', 'gzip', 'br'];

/** Brotli at the level of answers that are made at the time, gzip at zlib's default. */
const BROTLI_QUALITY = 5;

/** Bodies kept; what exceeds this is made anew at each request. */
const KEPT_BYTES = 1 << 30;

/** The coding of an answer of a host: its own if the client accepts it, else gzip, else none. */
export function codingFor(host: number, accepted: string): Coding {
  const own = CODINGS[host % CODINGS.length] as Coding;
  if (own === 'br' && /\bbr\b/.test(accepted)) return 'br';
  return own !== 'identity' && /\bgzip\b/.test(accepted) ? 'gzip' : 'identity';
}

function encoded(body: Buffer, coding: Coding): Buffer {
  if (coding === 'gzip') return gzipSync(body);
  if (coding === 'br') return brotliCompressSync(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  return body;
}

/** Bodies by page, version and coding. Those kept make the server's own cost small beside that of the crawlers. */
export class CodedBodies {
  private readonly kept = new Map<string, { version: number; body: Buffer }>();
  private keptBytes = 0;
  private readonly html: (page: number) => string;
  private readonly limit: number;

  constructor(html: (page: number) => string, keepsBodies: boolean) {
    this.html = html;
    this.limit = keepsBodies ? KEPT_BYTES : 0;
  }

  bodyOf(page: number, version: number, coding: Coding): Buffer {
    const key = `${page} ${coding}`;
    const known = this.kept.get(key);
    if (known?.version === version) return known.body;
    const body = encoded(Buffer.from(this.html(page)), coding);
    const keptBytes = this.keptBytes - (known?.body.length ?? 0) + body.length;
    if (keptBytes <= this.limit) {
      this.kept.set(key, { version, body });
      this.keptBytes = keptBytes;
    }
    return body;
  }
}
