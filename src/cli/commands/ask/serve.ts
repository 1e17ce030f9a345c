import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { CrawlError } from '../../../domain/errors.ts';
import { EXIT } from '../../exit.ts';
import { withStopSignal } from '../../process/stop-signal.ts';
import { wholeNumber } from '../../program/option-values.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
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
      'Serve web pages about this state directory: rounds, states, freshness, hosts, changes, each URL; also ' +
        '/metrics (Prometheus) and /healthz.',
    )
    .option('--port <n>', 'port; 0 takes a free one', port, 7380)
    .option('--host <address>', 'address to listen on; any but loopback needs --token-file', '127.0.0.1')
    .option('--token-file <file>', 'file with a token of at least 16 characters, which every request must carry')
    .addHelpText(
      'after',
      `
Examples:
  incrawl serve
  incrawl serve --port 8080 --dir /var/lib/incrawl
  incrawl serve --host 0.0.0.0 --token-file /etc/incrawl/token

It reads only, and gives the crawl db up at once when a crawl or another command
needs it. With a token, a page can be marked for the next round.`,
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
    session.refuse(`--host ${host} can be reached from other machines: it needs --token-file`);
  const { dir } = session.options;
  if (!existsSync(dir)) {
    throw new CrawlError(
      'usage-invalid',
      `there is no folder ${dir}; expected in --dir the state directory of a crawl`,
    );
  }
  const { openServer } = await import('../../serve/server.ts');
  return withStopSignal(
    session.surroundings,
    () => {},
    async (signal) => {
      const options = await session.stateOptions({ baseDir: session.loaded.baseDir, withChecker: session.withChecker });
      const server = await openServer({ port, host, token }, options);
      try {
        await writeAnswer(session, { url: server.url, pid: process.pid }, () => `${server.url}\n`);
        await session.out.flush();
        if (token === null) session.note('Without a token every user of this machine can read. Ctrl-C stops.');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      } finally {
        await server.close();
      }
      return EXIT.done;
    },
  );
}

async function tokenOf(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim();
  if (token.length >= 16) return token;
  throw new CrawlError('usage-invalid', `${file}: expected a token of at least 16 characters`);
}
