import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadPackage } from '../../src/core/packages/find-package.ts';
import { findBrowser, loadPlaywright } from '../../src/transports/browser/playwright.ts';

/** How a copy looks from disk beside its site. */
export interface Look {
  readonly shown: number;
  /** Requests that fail beyond those for which the site has no answer either. */
  readonly failed: number;
  /** Requests to other places than the disk. */
  readonly toWeb: number;
  /** Pages of which more than 0.5 % of the pixels differ. */
  readonly different: readonly string[];
}

interface ShownPage {
  goto(url: string, options: { readonly waitUntil: 'load' }): Promise<unknown>;
  on(event: 'request' | 'requestfailed', listener: (request: { url(): string }) => void): void;
  on(event: 'response', listener: (response: { status(): number }) => void): void;
  screenshot(): Promise<Buffer>;
  evaluate<Value>(script: string): Promise<Value>;
}

interface ManifestFile {
  readonly url: string;
  readonly file: string;
  readonly kind: string;
}

export const filesOf = (copy: string): readonly ManifestFile[] =>
  (JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as { files: ManifestFile[] }).files;

/** Opens pages of a copy, spread evenly over it, from disk and from the site. */
export async function lookAt(copy: string, most: number): Promise<Look> {
  const pages = filesOf(copy).filter(({ kind, file }) => kind === 'page' && file.endsWith('.html'));
  const step = Math.max(1, Math.floor(pages.length / most));
  const browser = await loadPlaywright(loadPackage).chromium.launch({
    executablePath: findBrowser('', process.env.PATH ?? ''),
    args: ['--no-sandbox'],
  });
  const seen: string[] = [];
  let [failed, missing] = [0, 0];
  const different: string[] = [];
  try {
    const context = await browser.newContext({ viewport: { width: 1_000, height: 800 } });
    const [origin, local] = [await context.newPage(), await context.newPage()] as unknown as [ShownPage, ShownPage];
    local.on('request', (request) => seen.push(request.url()));
    local.on('requestfailed', () => failed++);
    origin.on('response', (response) => {
      if (response.status() >= 400) missing++;
    });
    const chosen = pages.filter((_, i) => i % step === 0).slice(0, most);
    for (const { url, file } of chosen) {
      await origin.goto(url, { waitUntil: 'load' });
      await local.goto(pathToFileURL(join(copy, file)).href, { waitUntil: 'load' });
      const [a, b] = [await origin.screenshot(), await local.screenshot()];
      if (!a.equals(b) && (await shareOfPixels(origin, a, b)) > 0.005) different.push(url);
    }
    const toWeb = seen.filter((url) => !/^(?:file|data|blob|about):/.test(url)).length;
    return { shown: chosen.length, failed: Math.max(0, failed - missing), toWeb, different };
  } finally {
    await browser.close();
  }
}

/** Share of the pixels that differ between two pictures of one size, by a canvas of the browser. */
function shareOfPixels(page: ShownPage, a: Buffer, b: Buffer): Promise<number> {
  const urls = JSON.stringify([a, b].map((png) => `data:image/png;base64,${png.toString('base64')}`));
  return page.evaluate<number>(`(async () => {
    const [a, b] = await Promise.all(${urls}.map(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      return new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    }));
    return a.filter((pixel, i) => pixel !== b[i]).length / a.length;
  })()`);
}
