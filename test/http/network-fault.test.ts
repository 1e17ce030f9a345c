import { describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/core/domain/errors.ts';
import { networkFault } from '../../src/http/exchange/incoming-response.ts';

const withCode = (code: string, more: object = {}): Error =>
  Object.assign(new Error(`text of ${code}`), { code, ...more });

describe('networkFault', () => {
  it.each([
    ['ENOTFOUND', 'dns-failed'],
    ['EAI_AGAIN', 'dns-failed'],
    ['ECONNREFUSED', 'connect-failed'],
    ['EHOSTUNREACH', 'connect-failed'],
    ['ETIMEDOUT', 'connect-timeout'],
    ['CERT_HAS_EXPIRED', 'tls-failed'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls-failed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls-failed'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls-failed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-failed'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls-failed'],
    ['INVALID_PURPOSE', 'tls-failed'],
    ['INVALID_CA', 'tls-failed'],
    ['UNSPECIFIED', 'tls-failed'],
    ['EPROTO', 'tls-failed'],
    ['ECONNRESET', 'fetch-aborted'],
    ['EPIPE', 'fetch-aborted'],
    ['HPE_INVALID_CONSTANT', 'protocol-error'],
    ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
    ['ERR_ADDRESS_BLOCKED', 'address-blocked'],
    ['NEVER_HEARD_OF', 'connect-failed'],
  ])('%s: %s', (code, expected) => {
    const error = withCode(code);
    expect(networkFault(error)).toMatchObject({ code: expected, cause: error, message: error.message });
  });

  it.each([
    ['lookup', 'dns-failed'],
    ['connect', 'connect-timeout'],
    ['secureConnect', 'tls-failed'],
    ['response', 'fetch-timeout'],
  ])('a time limit in the phase %s: %s', (event, expected) => {
    expect(networkFault(withCode('ETIMEDOUT', { event })).code).toBe(expected);
  });

  it('looks beneath wrappers and into several attempts', () => {
    expect(networkFault(new Error('wrapped', { cause: withCode('ENOTFOUND') })).code).toBe('dns-failed');
    const attempts = new AggregateError([withCode('ENETUNREACH'), withCode('ECONNREFUSED')]);
    expect(networkFault(attempts).code).toBe('connect-failed');
  });

  it.each(['EMFILE', 'ENFILE'])('%s is a fault of this machine, not of the host', (code) => {
    const error = withCode(code);
    expect(networkFault(error)).toMatchObject({ code: 'system-limit', cause: error });
    expect(networkFault(error).message).toContain('ulimit -n');
  });

  it('leaves our own errors as they are, and takes anything', () => {
    const own = new CrawlError('fetch-timeout', 'late');
    expect(networkFault(own)).toBe(own);
    expect(networkFault('text').code).toBe('connect-failed');
  });
});
