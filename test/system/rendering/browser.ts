import { findBrowser, loadPlaywright, type Playwright } from '../../../src/adapters/browser/playwright.ts';
import { loadPackage } from '../../../src/packages/load-package.ts';

/** Why no page can be rendered on this machine; `null`: it can. */
export const noBrowser: string | null = (() => {
  try {
    findBrowser('', process.env.PATH ?? '');
    loadPlaywright(loadPackage);
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0] as string;
  }
})();

export const browserProgram = (): string => findBrowser('', process.env.PATH ?? '');
export const playwright = (): Playwright => loadPlaywright(loadPackage);
