import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAddressGuard, createAllowList, isAddressBlocked } from '../../src/http/guard/address-guard.ts';

describe('isAddressBlocked', () => {
  it.each([
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://user:secret@10.0.0.1/',
    'http://[::]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:1::1]/',
    'http://[fe80::1]/',
    'http://[5f00::1]/',
    'http://168.63.129.16/',
    'http://localhost/',
    'http://unix/',
    'http://unix:8080/run/docker.sock:/images',
    'https://www.localhost/',
    'http://example.org:25/',
    'ftp://example.org/',
    'mailto:a@example.org',
    '//example.org/',
    'nonsense',
  ])('%s is', (url) => {
    expect(isAddressBlocked(url)).toBe(true);
  });

  it.each([
    'http://example.org/',
    'https://example.org:8443/',
    'http://localhost.example.org/',
    'http://notlocalhost/',
    'http://unix.example.org/',
    'http://93.184.215.14/',
    'http://[2606:4700:4700::1111]/',
    'http://[64:ff9b::8.8.8.8]/',
  ])('%s is not', (url) => {
    expect(isAddressBlocked(url)).toBe(false);
  });

  it.each<[string, string, boolean]>([
    ['http://127.0.0.1:8080/', '127.0.0.1', false],
    ['http://2130706433/', '127.0.0.1', false],
    ['http://[::ffff:127.0.0.1]/', '127.0.0.1', false],
    ['http://127.9.9.9/', '127.0.0.0/8', false],
    ['http://[::1]/', '::1', false],
    ['http://[::1]:8080/', '[::1]:8080', false],
    ['http://[fd12::3]/', 'fd00::/8', false],
    ['http://intranet.example/', 'Intranet.Example.', false],
    ['http://localhost/', '127.0.0.0/8', false],
    ['http://localhost/', '10.0.0.0/8', true],
    ['http://127.0.0.1:8080/', '127.0.0.1:8080', false],
    ['http://127.0.0.1:8081/', '127.0.0.1:8080', true],
    ['http://127.0.0.1:25/', '127.0.0.1', true],
    ['http://127.0.0.1:25/', '127.0.0.1:25', false],
    ['http://169.254.169.254/', '169.254.0.0/16', true],
    ['http://169.254.169.254/', '169.254.169.254', false],
    ['http://[::ffff:169.254.169.254]/', '0.0.0.0/0', true],
  ])('%s with %s allowed: %s', (url, entry, expected) => {
    expect(isAddressBlocked(url, [entry])).toBe(expected);
  });
});

describe('the guarded lookup', () => {
  const resolvingTo = (...addresses: string[]): LookupFunction =>
    ((_hostname, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) satisfies LookupFunction;
  const lookUp = (lookup: LookupFunction, all: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lookup('host.example', { all }, (error, found) => (error ? reject(error) : resolve(found)));
    });

  it('keeps what is public', async () => {
    const { lookup } = createAddressGuard([], resolvingTo('10.0.0.1', '8.8.8.8', '::1'));
    expect(await lookUp(lookup, true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await lookUp(lookup, false)).toBe('8.8.8.8');
  });

  it('fails when nothing is left, and says why', async () => {
    const { lookup } = createAddressGuard([], resolvingTo('10.0.0.1', '::1'));
    await expect(lookUp(lookup, true)).rejects.toMatchObject({
      code: 'ERR_ADDRESS_BLOCKED',
      message: 'host.example has only private or reserved addresses: 10.0.0.1, ::1',
    });
  });

  it('lets a named host have any address but those of metadata services', async () => {
    const { lookupNamed } = createAddressGuard(['host.example'], resolvingTo('10.0.0.1', '169.254.169.254'));
    expect(await lookUp(lookupNamed, true)).toEqual([{ address: '10.0.0.1', family: 4 }]);
  });

  it('knows which permitted addresses are none that every check permits', () => {
    const { isException } = createAddressGuard(['10.0.0.0/8', '127.0.0.1']);
    const all = ['10.0.0.1', '127.0.0.1', '2606:4700::1111', '8.8.8.8', '192.168.0.1', '::1', 'fe80::1'];
    expect(all.filter(isException)).toEqual(['10.0.0.1', '127.0.0.1', '2606:4700::1111']);
  });

  it('judges each port of an origin for itself, the same each time', () => {
    const { refusal } = createAddressGuard(['10.0.0.1']);
    const ask = (url: string): string | null => refusal(new URL(url));
    expect([ask('http://10.0.0.1/a'), ask('http://10.0.0.1/b')]).toEqual([null, null]);
    expect([ask('http://10.0.0.1:25/'), ask('http://10.0.0.2/'), ask('http://10.0.0.2/')]).not.toContain(null);
    expect(ask('http://10.0.0.1/c')).toBeNull();
  });

  it('passes on what the resolver reports', async () => {
    const fault = Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    const { lookup } = createAddressGuard([], (_hostname, _options, callback) => callback(fault, '', 0));
    await expect(lookUp(lookup, true)).rejects.toBe(fault);
  });
});

describe('createAllowList', () => {
  it.each(['', 'http://x/', 'a b', '1.2.3.4/33', '::/129', '10.0.0.0/x', 'host:99999', 'user@host', 'x.example/8'])(
    'refuses %j',
    (entry) => {
      expect(() => createAllowList([entry])).toThrow(expect.objectContaining({ code: 'config-invalid' }));
    },
  );
});
