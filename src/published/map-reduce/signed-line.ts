import type { SignedText } from '../../core/domain/crawl/states/duplicate.ts';
import { type Fingerprint, parseFingerprint } from '../../page/near/fingerprint-tables.ts';
import { lastScopeMask } from '../../page/near/scope-mask.ts';

const FINGERPRINT = /^[0-9a-f]{16}$/;
const NUMBER = /^\d{1,9}$/;

/** A page of a signature export. */
export interface SignedLine {
  readonly url: string;
  /** Under the mask of the scope. */
  readonly fingerprint: Fingerprint;
  /** Id of the scope: pages of different scopes are not compared, nor are signatures of different names. */
  readonly scope: number;
  /** Length of the text, characters; 0: unknown, which is like 0 alone. */
  readonly chars: number;
}

/** `URL<TAB>signature<TAB>characters<TAB>scope<TAB>name of the signature`. */
export function signedLine(url: string, scope: string, { signature, textChars, signatureName }: SignedText): string {
  return `${url}\t${signature}\t${textChars}\t${scope}\t${signatureName}`;
}

/**
 * A reader of such lines; the last three fields may be missing. It returns `null` for any other line, such as that of a
 * page without a signature.
 */
export function signedLines(): (line: string) => SignedLine | null {
  const maskOf = lastScopeMask();
  return (line) => {
    const [url = '', hex = '', chars = '0', scope = '', name = ''] = line.split('\t');
    if (url === '' || !FINGERPRINT.test(hex) || !NUMBER.test(chars)) return null;
    const { high, low } = parseFingerprint(hex);
    const mask = maskOf(`${scope}\n${name}`);
    const fingerprint = { high: (high ^ mask.high) >>> 0, low: (low ^ mask.low) >>> 0 };
    return { url, fingerprint, scope: mask.id >>> 0, chars: Number(chars) };
  };
}
