import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

export interface FullServer {
  readonly port: number;
  close(): Promise<void>;
}

const LISTEN_AND_STALL = `
  const server = require('node:net').createServer().listen(0, '127.0.0.1', 1, () => {
    require('node:worker_threads').parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** A port of 127.0.0.1 whose queue of connections is full, so that Linux drops every further SYN. */
export async function startFullServer(): Promise<FullServer> {
  const worker = new Worker(LISTEN_AND_STALL, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const queued = Array.from({ length: 8 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  await once(queued[0]!, 'connect');
  return {
    port,
    async close() {
      for (const socket of queued) socket.destroy();
      await worker.terminate();
    },
  };
}
