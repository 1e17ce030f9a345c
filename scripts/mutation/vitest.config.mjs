/** Tests of one piece on the sources themselves, which hold the mutants: `vitest.config.ts` runs what is built. */
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const api = (name) => resolve('src/core/plugin-host/api', name);

export default defineConfig({
  resolve: {
    alias: {
      'incrawl/bundled': api('bundled-library.ts'),
      'incrawl/plugin-testing': api('plugin-testing.ts'),
      'incrawl/plugin': api('plugin-api.ts'),
    },
  },
  test: {
    setupFiles: 'test/support/setup.ts',
    include: JSON.parse(process.env.INCRAWL_MUTATION_TESTS ?? '[]'),
    isolate: true,
    testTimeout: 120_000,
  },
});
