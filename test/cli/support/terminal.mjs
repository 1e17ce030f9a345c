// Loaded into the program by `--import`: standard output and standard error pass for a terminal of so many columns.
for (const stream of [process.stdout, process.stderr]) {
  Object.defineProperty(stream, 'isTTY', { value: true });
  Object.defineProperty(stream, 'columns', { value: Number(process.env.TEST_COLUMNS ?? 80) });
}
