import { availableParallelism } from 'node:os';
import { dirname, relative, resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';

const root = import.meta.dirname;
const report = process.env.INCRAWL_TEST_REPORT;

/**
 * Tests import the sources, and run what `npm run ready` has built of them: Node loads that as it is, once for all
 * files of a worker, where each source would have to be transformed first.
 */
const built: Plugin = {
  name: 'built',
  enforce: 'pre',
  resolveId(id, importer) {
    if (importer === undefined || !id.startsWith('.') || !id.endsWith('.ts')) return null;
    const file = relative(root, resolve(dirname(importer), id));
    if (!/^(src|plugins|bench)\//.test(file)) return null;
    return resolve(root, 'dist', file.replace(/\.ts$/, '.js'));
  },
};

/** Tests that need no process beside the runner and worker threads; `test/system` has those of the built program. */
const IN_PROCESS = ['test/**/*.test.ts', 'plugins/**/*.test.ts'];
const SYSTEM = ['test/system/**/*.test.ts'];

export default defineConfig({
  plugins: [built],
  resolve: {
    alias: {
      'incrawl/bundled': resolve(root, 'dist/src/core/plugin-host/api/bundled-library.js'),
      'incrawl/plugin-testing': resolve(root, 'dist/src/core/plugin-host/api/plugin-testing.js'),
      'incrawl/plugin': resolve(root, 'dist/src/core/plugin-host/api/plugin-api.js'),
    },
  },
  test: {
    globalSetup: 'test/support/build.ts',
    setupFiles: 'test/support/setup.ts',
    pool: 'forks',
    server: { deps: { external: [/\/dist\//] } },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      {
        extends: true,
        // Modules stay loaded from file to file: what a test changes in one, it changes back.
        test: {
          name: 'test',
          include: IN_PROCESS,
          exclude: SYSTEM,
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      { extends: true, test: { name: 'system', include: SYSTEM, testTimeout: 300_000, hookTimeout: 300_000 } },
    ],
  },
});
