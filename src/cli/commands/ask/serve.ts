import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { CrawlError } from '../../../core/domain/errors.ts';
import { collect, wholeNumber } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface ServeFlags {
  readonly port: number;
  readonly host: string;
  readonly tokenFile?: string;
  readonly control?: true;
  readonly name?: readonly string[];
}

/** The token, if no file holds it. */
const TOKEN_VARIABLE = 'INCRAWL_SERVE_TOKEN';

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
    .option('--control', 'steer the crawl from its pages: pause, resume, stop, touch, seeds, delays; needs a token')
    .option('--name <name>', 'with --control: a name by which browsers reach this server; repeatable', collect)
    .addHelpText(
      'after',
      `
Examples:
  incrawl serve
  incrawl serve --control --token-file token
  incrawl serve --port 8080 --dir /var/lib/incrawl
  incrawl serve --host 0.0.0.0 --token-file /etc/incrawl/token

It reads only, and gives the crawl db up at once when a crawl or another command
needs it. With a token, a page can be marked for the next round. The token may
also stand in the environment, as ${TOKEN_VARIABLE}.`,
    );
  command.action((flags: ServeFlags) => run(command, (session) => serve(session, flags)));
}

function port(text: string): number {
  const value = wholeNumber(0)(text);
  if (value > 65_535) throw new InvalidArgumentError('Expected a port, 0 to 65535.');
  return value;
}

async function serve(session: Session, flags: ServeFlags): Promise<number> {
  const { port, host, tokenFile } = flags;
  const { isLoopback } = await import('../../../serve/guard.ts');
  const inEnvironment = session.surroundings.env[TOKEN_VARIABLE] || undefined;
  const token =
    tokenFile !== undefined
      ? await tokenOf(tokenFile, flags.control === true)
      : inEnvironment === undefined
        ? null
        : checkedToken(inEnvironment, TOKEN_VARIABLE);
  if (flags.control && token === null)
    session.refuse(`--control needs a token: --token-file FILE, or the environment variable ${TOKEN_VARIABLE}`);
  if (flags.name !== undefined && !flags.control) session.refuse('--name goes with --control only');
  const control = flags.control ? { names: flags.name ?? [] } : null;
  if (token === null && !isLoopback(host))
    session.refuse(`--host ${host} can be reached from other machines: it needs --token-file`);
  const { dir } = session.options;
  if (!existsSync(dir)) {
    throw new CrawlError(
      'usage-invalid',
      `there is no folder ${dir}; expected in --dir the state directory of a crawl`,
    );
  }
  const { openServer } = await import('../../../serve/server.ts');
  return withStopSignal(
    session.surroundings,
    () => {},
    async (signal) => {
      const options = await session.stateOptions({ baseDir: session.loaded.baseDir, withChecker: session.withChecker });
      const server = await openServer({ port, host, token, control }, options);
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

/** @param mustBePrivate whether other users must not be able to read the file */
async function tokenOf(file: string, mustBePrivate: boolean): Promise<string> {
  const others = process.platform === 'win32' ? 0 : (await stat(file)).mode & 0o077;
  if (mustBePrivate && others !== 0) {
    throw new CrawlError(
      'usage-invalid',
      `${file}: other users may read the token; expected mode 600: chmod 600 ${file}`,
    );
  }
  return checkedToken((await readFile(file, 'utf8')).trim(), file);
}

function checkedToken(token: string, source: string): string {
  if (token.length >= 16) return token;
  throw new CrawlError('usage-invalid', `${source}: expected a token of at least 16 characters`);
}
