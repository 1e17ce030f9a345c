import { describe, expect, it } from 'vitest';
import { npmFault } from '../../../src/operations/packages/packages.ts';

const LOG = 'npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log\n';

describe('npmFault', () => {
  it.each([
    [
      'npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n' +
        'npm error network request to https://registry.example/x failed, reason: getaddrinfo ENOTFOUND registry.example\n' +
        'npm error network This is a problem related to network connectivity.\n',
      'it was not installed: npm does not reach its registry. Try again with a network; "npm config set registry URL" ' +
        'names a mirror. npm: ENOTFOUND: network request to https://registry.example/x failed, reason: ' +
        'getaddrinfo ENOTFOUND registry.example',
    ],
    [
      'npm ERR! code ECONNREFUSED\nnpm ERR! FetchError: request to http://127.0.0.1:9/x failed\nnpm ERR!     at Client\n',
      'npm: ECONNREFUSED: FetchError: request to http://127.0.0.1:9/x failed',
    ],
    ['npm error code E404\nnpm error 404 Not Found - GET https://registry.example/x\n', 'does not have it'],
    ['npm error code ETARGET\nnpm error notarget No matching version\n', 'does not have it'],
    ['npm error code EINTEGRITY\nnpm error Integrity checksum failed\n', 'Nothing was installed'],
    ['npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error self-signed\n', 'npm config set cafile FILE'],
    ['npm error code EWHAT\nnpm error first\nnpm error second\n', 'it was not installed: npm: EWHAT: first: second'],
    ['Segmentation fault\n', 'it was not installed: npm ended with 139'],
  ])('of %j', (output, expected) => {
    const fault = npmFault(output + LOG, 139, 'it');
    expect(fault.code).toBe('install-failed');
    expect(fault.message).toContain(expected);
    expect(fault.message).not.toMatch(/complete log|\s{2}at /);
  });

  it('a full disk has its own code', () => {
    expect(npmFault('npm error code ENOSPC\n', 1, 'it').code).toBe('disk-full');
  });
});
