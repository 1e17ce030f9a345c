import { constants, existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { safeText } from '../../../render/safe-text.ts';
import { shellWord } from '../../process/own-command.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

/** Files of the package, and their paths in the new folder. */
const FILES: readonly (readonly [from: string, to: string])[] = [
  ['conf/incrawl.yaml', 'conf/incrawl.yaml'],
  ['conf/incrawl.schema.json', 'conf/incrawl.schema.json'],
  ['conf/plugins.yaml', 'conf/plugins.yaml'],
  ['conf/url-rules.txt', 'conf/url-rules.txt'],
  ['seeds/example.txt', 'seeds/example.txt'],
];

export function addInit(program: Command, run: Run): void {
  const command = program
    .command('init')
    .argument('[dir]', 'folder to write to', '.')
    .description('Write a commented configuration, the plugin list and sample seeds. Existing files are kept.')
    .option('--dry-run', 'only say which files would be written')
    .addHelpText(
      'after',
      '\nExample:\n  incrawl init my-crawl && cd my-crawl && incrawl crawl seeds --contact me@example.org',
    );
  command.action((dir: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const { makeFolder } = await import('../../../core/plugin-host/make-folder.ts');
      const source = dirname(createRequire(import.meta.url).resolve('incrawl/package.json'));
      const written: string[] = [];
      const kept: string[] = [];
      for (const [from, to] of FILES) {
        const path = join(dir, to);
        if (!dryRun) await makeFolder(dirname(path));
        const isNew = dryRun ? !existsSync(path) : await copyNew(join(source, from), path);
        (isNew ? written : kept).push(path);
      }
      const lines = [
        ...written.map((path) => `wrote ${path}`),
        ...kept.map((path) => `kept  ${path} (exists already)`),
      ];
      const folder = resolve(dir);
      lines.push(
        '',
        'Next: set agent.contact in conf/incrawl.yaml, put your URLs in seeds/example.txt, then',
        ...(folder === process.cwd() ? [] : [`  cd ${shellWord(dir)}`]),
        `  ${session.surroundings.commandIn?.(folder) ?? 'incrawl'} crawl seeds`,
      );
      await writeSummary(session, { dir, written, kept }, () => `${lines.map(safeText).join('\n')}\n`, dryRun);
    }),
  );
}

/** Copies unless the target exists. */
async function copyNew(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
