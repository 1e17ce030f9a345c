import { answerTargets } from './answer-targets.ts';
import { DOCUMENT_TARGETS } from './document-targets.ts';
import { FILE_TARGETS } from './file-targets.ts';
import { PAGE_TARGETS } from './page-targets.ts';
import { serverTargets } from './server-targets.ts';
import type { FuzzTarget } from './target.ts';
import { TEXT_TARGETS } from './text-targets.ts';

/** Every target; each is to be closed. */
export const fuzzTargets = async (): Promise<readonly FuzzTarget[]> => [
  ...PAGE_TARGETS,
  ...TEXT_TARGETS,
  ...FILE_TARGETS,
  ...DOCUMENT_TARGETS,
  ...(await answerTargets()),
  ...(await serverTargets()),
];
