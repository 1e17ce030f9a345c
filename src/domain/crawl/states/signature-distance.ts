import { hammingDistance } from '../../page/near/hamming.ts';

/** Signatures of a page, of a record or of parse output. */
export interface Signed {
  readonly signature: string | null;
  readonly changeSignature?: string | null;
  readonly changeDigest?: string | null;
  readonly signatureName: string | null;
}

/** The signature by which versions of a page are compared. */
export const changeSignatureOf = ({ signature, changeSignature }: Signed): string | null =>
  changeSignature ?? signature;

/**
 * Distance of two versions of a page, 0..64; `null` where their signatures do not compare. It is the Hamming distance
 * of their change signatures, bits, but never 0 where their digests differ: an edit of a few words of a long page may
 * leave all bits as they are.
 */
export function changeDistance(before: Signed, after: Signed): number | null {
  const [a, b] = [changeSignatureOf(before), changeSignatureOf(after)];
  if (a === null || b === null || before.signatureName !== after.signatureName) return null;
  const bits = hammingDistance(a, b);
  return bits === 0 && isOtherDigest(before, after) ? 1 : bits;
}

/** Whether the digests of two versions are known to differ. */
function isOtherDigest({ changeDigest: a = null }: Signed, { changeDigest: b = null }: Signed): boolean {
  return a !== null && b !== null && a !== b;
}

/** Whether two versions differ in what their change signatures are made from. */
export const isSignedOtherwise = (before: Signed, after: Signed): boolean =>
  changeSignatureOf(before) !== changeSignatureOf(after) || isOtherDigest(before, after);
