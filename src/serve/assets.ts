import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';

const own = (name: string): string => fileURLToPath(new URL(`assets/${name}`, import.meta.url));

/** All files that pages load, by name. All are bundled: pages load nothing from another server. */
const FILES: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['style.css', { file: own('style.css'), type: 'text/css; charset=utf-8' }],
  ['live.js', { file: own('live.js'), type: 'text/javascript; charset=utf-8' }],
  ['icon.svg', { file: own('icon.svg'), type: 'image/svg+xml' }],
]);

const read = new Map<string, Promise<Buffer>>();

export async function asset(c: Context): Promise<Response> {
  const name = c.req.param('name') ?? '';
  const known = FILES.get(name);
  if (known === undefined) return c.notFound();
  const text = read.get(name) ?? readFile(known.file);
  read.set(name, text);
  return c.body(new Uint8Array(await text), 200, { 'Content-Type': known.type, 'Cache-Control': 'no-cache' });
}
