import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: {
      'incrawl/plugin-testing': at('./src/plugin-host/plugin-testing.ts'),
      'incrawl/plugin': at('./src/plugin-host/plugin-api.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts', 'plugins/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    restoreMocks: true,
  },
});
