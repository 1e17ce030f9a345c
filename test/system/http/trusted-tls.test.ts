import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unknownIdentity } from '../../site/tls-identity.ts';

const dist = new URL('../../../dist/src/', import.meta.url);
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'incrawl-tls-'));
  writeFileSync(join(folder, 'authority.pem'), unknownIdentity.cert);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Node reads whom to trust once, when it starts: so the exchanges are made by a process of their own, one after the
 * other.
 */
async function exchanges(factory: string, file: string, urls: readonly string[]): Promise<unknown> {
  const script = `
    const { ${factory}: create } = await import(${JSON.stringify(new URL(file, dist).href)});
    const protocol = await create({ userAgent: 'exam', allowAddresses: ['127.0.0.1', 'localhost'] });
    const answers = [];
    for (const url of ${JSON.stringify(urls)}) {
      const { head, body } = await protocol.exchange({ url, method: 'GET', headers: {}, maxBodyBytes: 1000, timeoutMs: 5000 });
      answers.push([head.status, head.remoteAddress, Buffer.from(body).toString()]);
    }
    await protocol.close();
    console.log(JSON.stringify(answers));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'close');
  return JSON.parse(said);
}

describe.each([
  ['got', 'createGotProtocol', 'http/exchange/got-protocol.js'],
  ['undici', 'createUndiciProtocol', 'transports/undici/undici-protocol.js'],
])('TLS by %s', (_name, factory, file) => {
  it('asks a server that a known authority vouches for by its name, and resumes sessions', async () => {
    const resumed: boolean[] = [];
    const names: (string | false | null)[] = [];
    const server = createServer(unknownIdentity, (request, response) => {
      // A new connection for each exchange.
      response.setHeader('connection', 'close').end(`secret of ${request.url}`);
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      resumed.push(socket.isSessionReused());
      names.push((socket as TLSSocket & { servername?: string | false }).servername ?? null);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const urls = [`https://localhost:${port}/a`, `https://localhost:${port}/b`, `https://127.0.0.1:${port}/c`];
    expect(await exchanges(factory, file, urls)).toEqual([
      [200, '127.0.0.1', 'secret of /a'],
      [200, '127.0.0.1', 'secret of /b'],
      [200, '127.0.0.1', 'secret of /c'],
    ]);
    expect(resumed).toEqual([false, true, false]);
    expect(names).toEqual(['localhost', 'localhost', false]);
    server.close();
  });
});
