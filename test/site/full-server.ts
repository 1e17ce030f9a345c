import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

export interface FullServer {
  readonly port: number;
  close(): Promise<void>;
}

const LISTEN_AND_STALL = `
  const server = require('node:net').createServer().listen(0, '127.0.0.1', 1, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** A port of 127.0.0.1 whose queue of connections is full, so that Linux drops every further SYN. */
export async function startFullServer(): Promise<FullServer> {
  const process_ = spawn(process.execPath, ['-e', LISTEN_AND_STALL], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(process_.stdout, 'data');
  const port = Number(text);
  const queued = Array.from({ length: 8 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  await once(queued[0]!, 'connect');
  return {
    port,
    async close() {
      for (const socket of queued) socket.destroy();
      process_.kill('SIGKILL');
      await once(process_, 'exit');
    },
  };
}
