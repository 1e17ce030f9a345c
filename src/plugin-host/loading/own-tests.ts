import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { IMPORT_OPTIONS } from './resolve-plugin.ts';

/** The tests that lie beside a plugin, by `node:test`. */
export interface OwnTests {
  readonly file: string;
  readonly isPassed: boolean;
  readonly tests: number;
  /** The report of Node's test runner. */
  readonly report: string;
}

/** Imports the file of tests as plugins are imported: so no version of Node needs a build step or a package. */
const RUNNER = `
const { createRequire } = await import('node:module');
const [jiti, options, file] = process.argv.slice(1);
await createRequire(jiti)(jiti).createJiti(jiti, JSON.parse(options)).import(file);
`;

/**
 * Runs the tests beside a plugin (`plugin.test.ts` for `plugin.ts`) in a process of their own; `null`: there are none.
 * A file without a test has not passed.
 */
export async function runOwnTests(plugin: string): Promise<OwnTests | null> {
  const file = plugin.replace(/(\.[cm]?[jt]s)$/, '.test$1');
  if (!existsSync(file)) return null;
  const jiti = createRequire(import.meta.url).resolve('jiti');
  const runner = ['--test-reporter=spec', '--input-type=module', '--eval', RUNNER];
  const { code, report } = await run([...runner, jiti, JSON.stringify(IMPORT_OPTIONS), file]);
  const tests = Number(/^\S* ?tests (\d+)$/m.exec(report)?.[1] ?? 0);
  return { file, isPassed: code === 0 && tests > 0, tests, report };
}

function run(args: readonly string[]): Promise<{ readonly code: number | null; readonly report: string }> {
  // Under a test runner of Node its child would report to that.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: { ...env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let report = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        report += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, report }));
  });
}
