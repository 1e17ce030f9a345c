import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../program.ts';
import type { Mutation } from './mutations.ts';

/**
 * Makes a folder look like the checkout as it is built, but for one module, by links to all else: Node has to run with
 * `--preserve-symlinks`. Hooks of `node:module` would make each `import()` wait for another thread, which the clock of
 * a simulation does not see.
 * @param folder empty
 */
export function makeMutatedTree(mutation: Mutation, folder: string): void {
  const names = ['dist', ...mutation.file.replace(/\.ts$/, '.js').split('/')];
  let path = '';
  for (const own of names) {
    mkdirSync(join(folder, path), { recursive: true });
    for (const name of readdirSync(join(ROOT, path))) {
      if (name !== own) symlinkSync(join(ROOT, path, name), join(folder, path, name));
    }
    path = join(path, own);
  }
  writeFileSync(join(folder, path), mutatedSource(mutation));
}

/** The module with the mutation, as JavaScript. Throws where the text does not occur once in its file. */
export function mutatedSource({ name, file, text, replacement }: Mutation): string {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const times = source.split(text).length - 1;
  if (times !== 1) throw new Error(`mutation "${name}": ${file} has its text ${times} times in place of once: ${text}`);
  return ts.transpileModule(
    source.replace(text, () => replacement),
    {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    },
  ).outputText;
}
