import { rm } from 'node:fs/promises';

type End = () => unknown;
let ofTest: End[] = [];
let ofFile: End[] = [];

/** Runs after the test under way, the last one first. */
export function afterThisTest(end: End): void {
  ofTest.push(end);
}

/** Runs after the last test of the file, the last one first. */
export function afterThisFile(end: End): void {
  ofFile.push(end);
}

/** A folder that goes with the tests of the file; what they had open in it is closed before. */
export function removedAfterThisFile(folder: string): string {
  ofFile.unshift(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

export async function endTest(): Promise<void> {
  const ends = ofTest.reverse();
  ofTest = [];
  for (const end of ends) await end();
}

export async function endFile(): Promise<void> {
  const ends = ofFile.reverse();
  ofFile = [];
  for (const end of ends) await end();
}
