// Writes docs/reference from the built program and the plugin api's source, or (--check) says which page is out of
// date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference-pages.mjs';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'reference');
mkdirSync(folder, { recursive: true });
for (const [name, text] of await referencePages()) {
  const file = join(folder, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`docs/reference/${name} is out of date: run npm run docs`);
    process.exitCode = 1;
  }
}
