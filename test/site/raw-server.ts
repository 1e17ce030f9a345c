import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface RawServer {
  readonly origin: string;
  readonly port: number;
  /** Connections made so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * A server that knows nothing of HTTP but where a request ends, and answers each one on a kept connection with the
 * bytes that `answer` gives for its path. `null` gives none.
 */
export async function startRawServer(answer: (path: string) => string | null): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const requests = received.split('\r\n\r\n');
      received = requests.pop() ?? '';
      for (const request of requests) {
        const text = answer(request.split(' ')[1] ?? '');
        if (text !== null) socket.write(text, 'latin1');
      }
    });
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
