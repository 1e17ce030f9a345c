import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseDocument, parse as parseYaml } from 'yaml';
import { consoleCommands, docs, missingLine, root } from '../../docs/doc-blocks.ts';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { BINARY } from '../support/binary.ts';
import { startExampleSite } from './example-site.ts';

const PATH_DIR = workDir();
beforeAll(() => {
  const shim = join(PATH_DIR, 'incrawl');
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`);
  chmodSync(shim, 0o755);
});

/** Runs a line in a shell that finds the built program under its name. */
function shell(line: string, cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, PATH: `${PATH_DIR}:${process.env.PATH}`, NO_COLOR: '1' };
    const child = spawn('sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Name of a command; `check robots` and `check url` are two. */
const nameOf = (command: string): string => /^incrawl (?:(?:check|plugins) )?\S+/.exec(command)?.[0] ?? '';

/**
 * Lines that run in a shell with a new process: the first one of each command, those that are more than a command, and
 * all from before a plugin of the reader's own is complete, since a running process would keep its earlier version. The
 * others run in this process.
 */
const STARTED: ReadonlySet<string> = (() => {
  const seen = new Set<string>();
  return new Set(
    docs.flatMap(({ name, blocks }) => {
      const lastPlugin = blocks.findLastIndex(({ info }) => info.startsWith('ts '));
      return blocks.flatMap((block, at) =>
        (block.info === 'console' ? consoleCommands(block) : []).flatMap(({ command }, i) => {
          const known = nameOf(command);
          const stays = at > lastPlugin && known !== '' && seen.has(known) && !/[|<>&;]/.test(command);
          seen.add(known);
          return stays ? [] : [`${name}:${block.line}:${i}`];
        }),
      );
    }),
  );
})();

/** Runs a line in this process; a shell still splits its words. */
async function stay(line: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const shown = spawnSync('sh', ['-c', `incrawl() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' });
  return run(shown.stdout.split('\0').slice(0, -1), { cwd });
}

/** Puts settings into the configuration of a crawl. */
function configure(cwd: string, settings: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void {
  const file = join(cwd, 'conf', 'incrawl.yaml');
  if (!existsSync(file)) return;
  const document = parseDocument(readFileSync(file, 'utf8'));
  for (const [section, values] of Object.entries(settings)) {
    const known = (document.toJS() as Record<string, Record<string, unknown> | null>)[section] ?? {};
    document.set(section, { ...known, ...values });
  }
  writeFileSync(file, document.toString());
}

/** The site of the docs is on this machine: its address has to be allowed, and it needs no delay. */
const ON_THIS_MACHINE = { http: { allowAddresses: ['127.0.0.1'] }, fetch: { delay: '0s', auditShare: 0 } };

describe.skipIf(process.platform === 'win32')('console blocks in the docs, run as they stand', () => {
  const runnable = docs.filter(({ blocks }) => blocks.some(({ info }) => info === 'console'));
  it.each(runnable.map(({ name, blocks }) => [name, blocks] as const))('%s', async (name, blocks) => {
    const site = await startExampleSite();
    onTestFinished(() => site.close());
    let cwd = workDir();
    // A reader's own plugin resolves the package as an installed one.
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(root, join(cwd, 'node_modules', 'incrawl'), 'dir');
    for (const block of blocks) {
      const file = /^(?:ts|yaml|text) (\S+)$/.exec(block.info)?.[1];
      if (file === 'conf/incrawl.yaml') configure(cwd, parseYaml(block.text));
      else if (file !== undefined) {
        mkdirSync(dirname(join(cwd, file)), { recursive: true });
        writeFileSync(join(cwd, file), `${block.text}\n`);
      }
      if (block.info !== 'console') continue;
      for (const [i, { command, expected }] of consoleCommands(block).entries()) {
        const moved = /^cd (\S+)$/.exec(command)?.[1];
        if (moved !== undefined) {
          cwd = join(cwd, moved);
          continue;
        }
        configure(cwd, ON_THIS_MACHINE);
        const runIn = STARTED.has(`${name}:${block.line}:${i}`) ? shell : stay;
        const { code, output } = await runIn(command.replaceAll('https://example.org', site.origin), cwd);
        const said = output
          .replaceAll(site.origin, 'https://example.org')
          .replaceAll(site.origin.slice(7), 'example.org');
        const missing = missingLine(said, expected);
        expect(missing, `line ${block.line}: $ ${command}\n${said}`).toBeNull();
        expect(code, `line ${block.line}: $ ${command}\n${said}`).toBe(
          /\|\| true$|# ends with 1/.test(command) ? code : 0,
        );
      }
    }
  });
});
