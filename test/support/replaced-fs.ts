import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Replaces functions of `node:fs`, for modules that have imported them as well. Gives back how to undo that. */
export function replaceFs(functions: (real: typeof fs) => Partial<typeof fs>): () => void {
  const real = { ...fs };
  const replaced = functions(real);
  Object.assign(fs, replaced);
  syncBuiltinESMExports();
  return () => {
    for (const name of Object.keys(replaced)) Object.assign(fs, { [name]: real[name as keyof typeof fs] });
    syncBuiltinESMExports();
  };
}
