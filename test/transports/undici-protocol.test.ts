import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';
import { fetchProtocolContract } from '../contracts/fetch-protocol.contract.ts';
import { type RawServer, startRawServer } from '../site/raw-server.ts';

fetchProtocolContract('undici', createUndiciProtocol);

/** What the README of protocol-http says; should undici change its mind, that table changes with these tests. */
describe('where undici differs from got', () => {
  const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';
  let site: RawServer;
  let protocol: FetchProtocol;
  const start = async (answer: string): Promise<void> => {
    site = await startRawServer((path) => (path === '/' ? answer : FINE));
    protocol = await createUndiciProtocol({ userAgent: 'exam', allowAddresses: ['127.0.0.1'] });
  };
  const ask = (path = '/'): Promise<Exchange> =>
    protocol.exchange({ url: site.origin + path, method: 'GET', headers: {}, maxBodyBytes: 10_000, timeoutMs: 5000 });
  afterEach(async () => {
    await protocol.close();
    await site.close();
  });

  it('behind an early hint the version is that of the hint, and a reason beyond ASCII is read as UTF-8', async () => {
    const asSent = Buffer.from('Déjà vu').toString('latin1');
    const answer = `HTTP/1.0 200 ${asSent}\r\nContent-Length: 2\r\n\r\nok`;
    await start(answer);
    expect((await ask()).head).toMatchObject({ httpVersion: '1.0', statusText: asSent });
    await protocol.close();
    await site.close();
    await start(`HTTP/1.1 103 Early Hints\r\n\r\n${answer}`);
    expect((await ask()).head).toMatchObject({ httpVersion: '1.1', statusText: 'Déjà vu' });
  });
});
