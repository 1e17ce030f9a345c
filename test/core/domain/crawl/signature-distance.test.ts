import { describe, expect, it } from 'vitest';
import { changeDistance, type Signed } from '../../../../src/core/domain/crawl/states/duplicate.ts';

const [A, B] = ['0000000000000000', '0000000000000007'];
const signed = (signature: string | null, changeSignature?: string | null, signatureName = 's/1'): Signed => ({
  signature,
  signatureName,
  ...(changeSignature === undefined ? {} : { changeSignature }),
});

describe('versions of a page are compared', () => {
  it.each<[string, Signed, Signed, number | null]>([
    ['by the signature of changes', signed(A, B), signed(A, A), 3],
    ['by the one signature where it serves for both', signed(A), signed(B, null), 3],
    ['where only changes are signed', signed(null, A), signed(null, B), 3],
    ['not without signatures', signed(null), signed(A), null],
    ['not under other names', signed(A, A, 's/2'), signed(A, A), null],
  ])('%s', (_, before, after, distance) => {
    expect(changeDistance(before, after)).toBe(distance);
  });
});
