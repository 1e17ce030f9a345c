#!/usr/bin/env node

import { nodeVersionFault } from './process/node-version.ts';

// Nothing else is imported statically: on an old Node the modules of the program do not even link.
const fault = nodeVersionFault(process.versions.node);
if (fault === null) {
  void import('../core/packages/module-reads.ts').then(({ boundModuleReads }) => {
    boundModuleReads();
    return import('./start.ts');
  });
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 2;
}
