import { relativeAddress } from './local-addresses.ts';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const page = (title: string, head: string, body: string): Uint8Array =>
  Buffer.from(
    `<!doctype html>\n<html><head><meta charset="utf-8"><title>${title}</title>${head}</head>\n${body}</html>\n`,
  );

/** A page that leads on to another address. */
export const redirectPage = (address: string): Uint8Array =>
  page(
    'Redirect',
    `<meta http-equiv="refresh" content="0; url=${escaped(address)}">`,
    `<body><p>This page has moved: <a href="${escaped(address)}">${escaped(address)}</a></p></body>`,
  );

/** The first page of a mirror: it leads to the only seed, or lists the seeds. */
export function startPage(seeds: readonly { readonly url: string; readonly file: string }[]): Uint8Array {
  const [first] = seeds;
  if (first !== undefined && seeds.length === 1) return redirectPage(relativeAddress('index.html', first.file));
  const items = seeds.map(
    ({ url, file }) => `<li><a href="${escaped(relativeAddress('index.html', file))}">${escaped(url)}</a></li>`,
  );
  return page('Mirrored sites', '', `<body><h1>Mirrored sites</h1>\n<ul>\n${items.join('\n')}\n</ul></body>`);
}
