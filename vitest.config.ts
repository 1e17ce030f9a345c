import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const report = process.env.INCRAWL_TEST_REPORT;

export default defineConfig({
  resolve: {
    alias: {
      'incrawl/plugin-testing': at('./src/plugin-host/api/plugin-testing.ts'),
      'incrawl/plugin': at('./src/plugin-host/api/plugin-api.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts', 'plugins/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // By itself vitest would run one file at a time on two cores; most tests wait for programs that they have started.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});
