import { Readable, Writable } from 'node:stream';

// For `warm.ts`: loads the built program once and runs the commands that it is sent, one after the other.

const [programFile, exitFile] = process.argv.slice(2);
const [{ programFor }, { EXIT, exitCodeOf }] = await Promise.all([import(programFile), import(exitFile)]);
const home = process.cwd();
let last = Promise.resolve();

process.on('message', (command) => {
  last = last.then(async () => process.send(await answer(command)));
});
process.on('disconnect', () => process.exit());
process.send('loaded');

/** As `main.ts` does it; what that would say of an error is left to those who start it. */
async function answer({ args, cwd, input, env }) {
  const [stdout, stderr] = [collector(), collector()];
  const before = { ...process.env };
  process.chdir(cwd ?? home);
  Object.assign(process.env, env);
  const stdin = () => Readable.from([Buffer.from(input ?? '')]);
  const finished = (code, error = null) => ({ code, stdout: stdout.text(), stderr: stderr.text(), error });
  try {
    const program = await programFor({ argv: args, env: { ...process.env }, stdin, stdout, stderr });
    await program.command.parseAsync([process.execPath, 'incrawl', ...args]);
    return finished(program.exitCode());
  } catch (error) {
    if (error.name === 'CommanderError') return finished(error.exitCode === 0 ? EXIT.done : EXIT.usage);
    return finished(exitCodeOf(error), error.message);
  } finally {
    for (const name of Object.keys(env ?? {})) delete process.env[name];
    Object.assign(process.env, before);
    process.chdir(home);
  }
}

function collector() {
  const parts = [];
  const stream = new Writable({
    write(part, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(parts).toString('utf8') });
}
