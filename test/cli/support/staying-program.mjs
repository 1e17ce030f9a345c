import { Readable, Writable } from 'node:stream';

// For `staying.ts`: the built program without its start. Each message is a command line, run in this process when those
// before it are done.

const [built] = process.argv.slice(2);
const { runCommand } = await import(new URL('program/run-command.js', built));
const { errorText } = await import(new URL('render/text/error-text.js', built));
const home = process.cwd();

/** A stream that keeps what is written to it in each of the lists. */
function keeper(...lists) {
  return new Writable({
    write(chunk, _encoding, done) {
      for (const list of lists) list.push(chunk);
      done();
    },
  });
}

const textOf = (chunks) => Buffer.concat(chunks).toString();

/** The same as `main.ts`, but for what that does about the end of a process. */
async function run({ args, cwd, input, env }) {
  const [out, err, both] = [[], [], []];
  const [stdout, stderr] = [keeper(out, both), keeper(err, both)];
  const stdin = () => Readable.from([Buffer.from(input ?? '')]);
  const before = { ...process.env };
  Object.assign(process.env, env);
  process.chdir(cwd ?? home);
  try {
    const surroundings = { argv: args, env: { ...process.env }, stdin, stdout, stderr };
    const code = await runCommand(surroundings, (error) => stderr.write(errorText(error, args)));
    return { code, stdout: textOf(out), stderr: textOf(err), output: textOf(both) };
  } finally {
    for (const name of Object.keys(env ?? {})) delete process.env[name];
    Object.assign(process.env, before);
    process.chdir(home);
  }
}

let last = Promise.resolve();
// Ends work under way: no caller waits for it any more.
process.on('disconnect', () => process.exit());
process.on('message', ({ id, ...command }) => {
  last = last.then(async () => process.send({ id, finished: await run(command) }));
});
