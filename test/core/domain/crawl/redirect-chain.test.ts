import { describe, expect, it } from 'vitest';
import { depthAfter } from '../../../../src/core/domain/crawl/discovery/link-rules.ts';

describe('the depth of the target of a redirect', () => {
  it.each([
    ['http://a.org/x?y', 'https://a.org/x?y', 3],
    ['http://a.org/', 'https://www.a.org/', 3],
    ['https://www.a.org/', 'https://a.org/', 3],
    ['http://a.org:8080/', 'https://a.org:8443/', 3],
    ['https://a.org/', 'https://a.org/en/', 4],
    ['http://a.org/x', 'https://a.org/x?y', 4],
    ['http://a.org/', 'http://a.org:81/', 4],
    ['http://a.org/', 'https://b.a.org/', 4],
    ['http://127.0.0.1/', 'http://127.0.0.2/', 4],
  ])('of %s to %s', (from, to, depth) => {
    expect(depthAfter(3, from, to)).toBe(depth);
  });
});
