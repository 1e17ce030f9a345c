import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';
import { kindOfPlugin, type PluginKind } from '../api/plugin-api.ts';
import { makeFolder } from '../make-folder.ts';
import { IMPORT_OPTIONS, textOf } from './resolve-plugin.ts';

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

/** The body of a new plugin of each kind: small, but working. */
const SETUP: Readonly<Record<PluginKind, string>> = {
  protocol: `  setup: (host) => {
    const http = host.http.createGotProtocol();
    return { schemes: ['http', 'https'], exchange: (request) => http.exchange(request), close: () => http.close() };
  },`,
  urlnormalizer: `  setup: () => ({
    // Drops one query parameter; return null to refuse a URL.
    normalize: (url) => {
      const parsed = new URL(url);
      parsed.searchParams.delete('ref');
      return parsed.href;
    },
  }),`,
  urlexemption: `  setup: () => ({
    exempt: (url, refusal) =>
      refusal.by === 'urlfilter-scope' && url.startsWith('https://static.example.org/')
        ? { exempt: true, reason: 'its own files' }
        : { exempt: false },
  }),`,
  urlfilter: `  setup: () => ({
    filter: (url) => (url.includes('/private/') ? { accept: false, reason: 'private' } : { accept: true }),
  }),`,
  parse: `  setup: () => ({
    types: ['application/json'],
    parse: (page) => {
      const value = JSON.parse(page.content) as { title?: unknown };
      page.result.title = typeof value.title === 'string' ? value.title : null;
      page.result.text = page.content;
    },
  }),`,
  parsefilter: `  setup: () => ({
    // Empty: this filter changes no signed text. Without this line its name becomes part of the signature's name.
    content: '',
    // Counts headings; metadata goes into the page's record.
    filter: (page) => {
      if (page.dom === null) return;
      page.result.metadata['NAME.headings'] = page.$('h1, h2, h3').length;
    },
  }),`,
  signature: `  setup: () => ({
    // Only signatures of equal ids are compared: change the id with the algorithm or its parameters.
    id: 'NAME-v1',
    sign: (page) => {
      const text = page.result.mainText ?? page.result.text;
      if (text.trim() === '') return null;
      let hash = 0xcbf29ce484222325n;
      for (const char of text) hash = BigInt.asUintN(64, (hash ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
      return hash.toString(16).padStart(16, '0');
    },
  }),`,
  schedule: `  setup: (host) => ({
    name: 'NAME',
    initialIntervalMs: host.intervals.intervalMs,
    // Half the interval after a change, double it after none.
    onVisit: (memory, visit) => {
      const factor = visit.outcome === 'modified' ? 0.5 : visit.outcome === 'unchanged' ? 2 : 1;
      const { minIntervalMs, maxIntervalMs } = host.intervals;
      const intervalMs = Math.max(minIntervalMs, Math.min(maxIntervalMs, memory.intervalMs * factor));
      return {
        memory: { ...memory, intervalMs },
        nextFetchAt: visit.now + intervalMs,
        terms: [{ label: 'factor', value: factor }],
      };
    },
  }),`,
  scoring: `  setup: () => ({
    seedScore: () => 1,
    outlinkScore: (parent) => parent.score / 2,
    rank: (candidate) => candidate.score,
  }),`,
  exporter: `  setup: () => ({
    format: 'NAME',
    fileExtension: 'txt',
    document: (document) => \`\${document.url}\\t\${document.title ?? ''}\\n\`,
  }),`,
};

const pluginText = (name: string, kind: PluginKind): string => `import { definePlugin } from 'incrawl/plugin';

export default definePlugin({
  name: '${name}',
  api: 1,
${SETUP[kind].replaceAll('NAME', name.slice(kind.length + 1))}
});
`;

const testText = (
  name: string,
): string => `// Run it, on any version of Node and without a build step: incrawl plugins test ${name}
import { test } from 'node:test';
import { testPlugin } from 'incrawl/plugin-testing';
import plugin from './plugin.ts';

test('${name} fulfils the contract of its kind', async () => {
  await testPlugin(plugin);
});
`;

const readmeText = (name: string): string => `# ${name}

Describe here what the plugin does, and its options.

Test it, on any version of Node and without a build step:

    incrawl plugins test ${name}

Add it to \`plugins.yaml\`:

    plugins:
      - ${name}
`;

/**
 * Writes a working plugin with a test into `dir/name` and returns the paths of its files. Never overwrites.
 * @param dryRun write nothing, only return the paths
 */
export async function scaffoldPlugin(name: string, dir: string, dryRun = false): Promise<string[]> {
  let kind: PluginKind;
  try {
    kind = kindOfPlugin(name);
  } catch (error) {
    throw new CrawlError('usage-invalid', textOf(error), { cause: error });
  }
  if (!/^[a-z]+(?:-[a-z0-9]+)+$/.test(name)) {
    throw new CrawlError(
      'usage-invalid',
      `plugin name "${name}" may have lower-case letters, digits and single "-" only`,
    );
  }
  const folder = resolve(dir, name);
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  if (exists) throw new CrawlError('usage-invalid', `${folder} exists already; nothing was written`);
  const files: Readonly<Record<string, string>> = {
    'plugin.ts': pluginText(name, kind),
    'plugin.test.ts': testText(name),
    'README.md': readmeText(name),
  };
  if (dryRun) return Object.keys(files).map((file) => join(folder, file));
  await makeFolder(folder);
  const written: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    await writeFile(path, text, { flag: 'wx' });
    written.push(path);
  }
  return written;
}
