import { fileURLToPath } from 'node:url';

const PRELOAD = fileURLToPath(new URL('terminal.mjs', import.meta.url));

/** Environment in which the program takes its output for a terminal. */
export const terminalEnv = (columns: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${PRELOAD}`,
  TEST_COLUMNS: String(columns),
  TERM: 'xterm',
  NO_COLOR: '1',
  FORCE_COLOR: '0',
});
