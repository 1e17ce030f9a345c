import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type CreateProtocol, protocolExam } from './fetch-protocol-exam.ts';

/** What a protocol books of bodies that it drops. */
export function droppedBodyContract(create: CreateProtocol): void {
  describe('bytes of dropped bodies', () => {
    const { ask, open } = protocolExam(create);
    const servers: Server[] = [];
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });

    /** A server that answers with a head and a body in one write. The small ones fit a packet of any loopback. */
    async function serve(
      head: string,
      body: string,
    ): Promise<{ url: string; sent: () => number; closed: Promise<void> }> {
      let socket: Socket | null = null;
      let onClose: () => void = () => {};
      const closed = new Promise<void>((resolve) => {
        onClose = resolve;
      });
      const server = createServer((opened) => {
        socket = opened;
        opened.on('error', () => {});
        opened.once('close', onClose);
        opened.on('data', () => opened.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, 'latin1'));
      });
      servers.push(server);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}/`, sent: () => socket?.bytesWritten ?? 0, closed };
    }

    it.each([0, 1, 3_000, 12_000])(
      'all %d bytes of one that has come whole, and the connection is kept',
      async (bytes) => {
        const { url } = await serve(`Content-Length: ${bytes}`, 'x'.repeat(bytes));
        const protocol = open();
        for (let i = 0; i < 2; i++) {
          const { wireBody, body, bodyBytes, receivedBytes } = await ask(url, { onHead: () => 'drop' }, protocol);
          expect([wireBody, body, bodyBytes]).toEqual([null, null, bytes]);
          expect(receivedBytes - bodyBytes).toBe(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`.length);
        }
      },
    );

    it('the part that came of one that the server never ends', async () => {
      const { url, closed } = await serve('Content-Length: 900000', 'x'.repeat(12_000));
      const { body, bodyBytes } = await ask(url, { onHead: () => 'drop' });
      expect([body, bodyBytes]).toEqual([null, 12_000]);
      await closed;
    });

    it('those read of one larger than all buffers, which is not read to its end', async () => {
      const bytes = 64 * 1024 * 1024;
      const { url, closed } = await serve(`Content-Length: ${bytes}`, 'x'.repeat(bytes));
      const { body, bodyBytes, receivedBytes } = await ask(url, { onHead: () => 'drop', maxBodyBytes: 2 * bytes });
      await closed;
      expect(body).toBeNull();
      // A read of the socket takes up to 64 KiB; the head came with the first one.
      expect(bodyBytes).toBeGreaterThan(0);
      expect(bodyBytes).toBeLessThan(1024 * 1024);
      expect(receivedBytes).toBeGreaterThan(bodyBytes);
    });

    it('without the framing of chunks', async () => {
      const { url } = await serve('Transfer-Encoding: chunked', '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n');
      const { bodyBytes } = await ask(url, { onHead: () => 'drop' });
      expect(bodyBytes).toBe(11);
    });
  });
}
