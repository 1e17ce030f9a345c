import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RobotsServer {
  readonly origin: string;
  /** Paths asked for, in order. */
  readonly asked: string[];
  /** What is answered from now on. */
  answer(handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** On a port of its own, or on `port`. */
export async function startRobotsServer(port = 0): Promise<RobotsServer> {
  const asked: string[] = [];
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(handler) {
      handle = handler;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
