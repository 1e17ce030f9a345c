import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { CrawlError } from '../../../domain/errors.ts';
import { EXIT } from '../../exit.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { wholeNumber } from '../../program/shared-options.ts';
import type { Session } from '../../session.ts';

interface ServeFlags {
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
}

export function addServe(program: Command, run: Run): void {
  const command = program
    .command('serve')
    .description(
      'A small web page over this state directory: rounds, states, freshness, hosts, changes, each URL; /metrics and /healthz.',
    )
    .option('--port <n>', 'port; 0 takes a free one', port, 7380)
    .option('--host <address>', 'address to listen on; others than loopback need a token', '127.0.0.1')
    .option('--token-file <file>', 'a file with a token of 16 characters at least, which every reader must give then')
    .addHelpText(
      'after',
      `
Examples:
  incrawl serve
  incrawl serve --port 8080 --dir /var/lib/incrawl
  incrawl serve --host 0.0.0.0 --token-file /etc/incrawl/token

It changes no record, and closes the crawl db at once when a crawl or another command wants it. With a token, pages can be marked to be
visited in the next round.`,
    );
  command.action((flags: ServeFlags) => run(command, (session) => serve(session, flags)));
}

function port(text: string): number {
  const value = wholeNumber(0)(text);
  if (value > 65_535) throw new InvalidArgumentError('Expected a port, 0 to 65535.');
  return value;
}

async function serve(session: Session, { port, host, tokenFile }: ServeFlags): Promise<number> {
  const { isLoopback } = await import('../../serve/guard.ts');
  const token = tokenFile === undefined ? null : await tokenOf(tokenFile);
  if (token === null && !isLoopback(host))
    session.refuse(`--host ${host} can be reached by others: it needs --token-file`);
  const { dir } = session.options;
  if (!existsSync(dir)) {
    throw new CrawlError('usage-invalid', `there is no folder ${dir}; --dir names the state directory of a crawl`);
  }
  const { openServer } = await import('../../serve/server.ts');
  const stop = listenForStop(() => {});
  const options = await session.stateOptions({ port, host, token, baseDir: session.loaded.baseDir });
  const server = await openServer({
    ...options,
    withChecker: session.withChecker,
    hasDb: () => existsSync(join(dir, 'db')) || existsSync(join(dir, 'cluster.json')),
  });
  try {
    await session.out.write(
      session.json ? `${JSON.stringify({ url: server.url, pid: process.pid })}\n` : `${server.url}\n`,
    );
    await session.out.flush();
    if (token === null) session.note('Everybody on this machine may read; Ctrl-C ends it.');
    await new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve(), { once: true }));
  } finally {
    stop.release();
    await server.close();
  }
  return EXIT.done;
}

async function tokenOf(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim();
  if (token.length >= 16) return token;
  throw new CrawlError('usage-invalid', `${file}: expected a token of 16 characters at least`);
}
