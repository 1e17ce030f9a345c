import { loadPackage } from '../../../../src/core/packages/find-package.ts';
import { findBrowser, loadPlaywright, type Playwright } from '../../../../src/transports/browser/playwright.ts';

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
