import { hammingDistance } from '../../page/near/hamming.ts';

/** Signatures of a page, of a record or of parse output. */
export interface Signed {
  readonly signature: string | null;
  readonly changeSignature?: string | null;
  readonly signatureName: string | null;
}

/** The signature by which versions of a page are compared. */
export const changeSignatureOf = ({ signature, changeSignature }: Signed): string | null =>
  changeSignature ?? signature;

/** Hamming distance of two versions of a page, bits; `null` where their signatures do not compare. */
export function changeDistance(before: Signed, after: Signed): number | null {
  const [a, b] = [changeSignatureOf(before), changeSignatureOf(after)];
  if (a === null || b === null || before.signatureName !== after.signatureName) return null;
  return hammingDistance(a, b);
}
