// Writes docs/reference, conf/incrawl.yaml and its JSON Schema from the built program and the plugin api's source, and
// docs/papers.md from its data, or (--check) says which of them is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { papersPage } from './papers-page.mjs';
import { referencePages } from './reference-pages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { configSample } = await import(new URL('../dist/src/core/config/sample.js', import.meta.url).href);
const { configJsonSchema } = await import(new URL('../dist/src/core/config/json-schema.js', import.meta.url).href);
mkdirSync(join(root, 'docs/reference'), { recursive: true });
const files = [...(await referencePages())].map(([name, text]) => [`docs/reference/${name}`, text]);
for (const [name, text] of [
  ...files,
  ['conf/incrawl.yaml', configSample()],
  ['conf/incrawl.schema.json', configJsonSchema()],
  ['docs/papers.md', papersPage()],
]) {
  const file = join(root, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is out of date: run npm run docs`);
    process.exitCode = 1;
  }
}
