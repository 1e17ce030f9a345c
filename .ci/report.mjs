// Reports of the test runner, read by .ci/run:
//   failed REPORT       the test files of it that failed, a line each
//   close FOLDER        what failed, what passed only when it was run again, and a line that counts the tests
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);
const nameOf = ({ name }) => relative('.', name);
const failuresOf = ({ assertionResults }) => assertionResults.filter(({ status }) => status === 'failed');

function failed(file) {
  const report = read(file);
  for (const one of report?.testResults ?? []) if (one.status === 'failed') console.log(nameOf(one));
}

/** What failed in the first run and passed in the second is told, and counted as passed. */
function close(folder) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  let isWhole = true;
  for (const suite of ['test', 'system']) {
    const first = read(join(folder, `${suite}.json`));
    if (first === null || first.numTotalTests === 0) {
      console.log(`${suite}: the test runner left no report`);
      isWhole = false;
      continue;
    }
    sum.passed += first.numPassedTests;
    sum.skipped += first.numPendingTests;
    const again = new Map((read(join(folder, `${suite}-again.json`))?.testResults ?? []).map((one) => [one.name, one]));
    let found = 0;
    for (const file of first.testResults.filter(({ status }) => status === 'failed')) {
      const passes = again.get(file.name)?.status === 'passed';
      const word = passes ? 'PASSED ONLY WHEN RUN AGAIN' : 'FAILED';
      const failures = failuresOf(file);
      if (failures.length === 0) console.log(`${word} ${nameOf(file)}: ${file.message}`);
      for (const one of failures)
        console.log(`${word} ${nameOf(file)}: ${one.fullName}\n${one.failureMessages.join('\n')}`);
      if (passes) sum.passed += failures.length;
      else sum.failed += failures.length;
      isWhole &&= passes;
      found++;
    }
    // An error outside of all tests fails a run as well.
    isWhole &&= first.success || found > 0;
  }
  console.log(`Tests: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  return isWhole && sum.failed === 0;
}

const [command, path] = process.argv.slice(2);
if (command === 'failed') failed(path);
else if (!close(path)) process.exitCode = 1;
