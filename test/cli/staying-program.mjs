import { Readable, Writable } from 'node:stream';

// For `staying.ts`: the built program without its start. Each message is a command line, run in this process when those before it are done.

const [built] = process.argv.slice(2);
const { programFor } = await import(new URL('program-for.js', built));
const { exitCodeOf, EXIT } = await import(new URL('exit.js', built));

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
async function run({ args, cwd, input }) {
  process.chdir(cwd);
  const [out, err, both] = [[], [], []];
  const [stdout, stderr] = [keeper(out, both), keeper(err, both)];
  const stdin = () => Readable.from([input]);
  let code;
  try {
    const program = await programFor({ argv: args, env: process.env, stdin, stdout, stderr });
    await program.command.parseAsync(args, { from: 'user' });
    code = program.exitCode();
  } catch (error) {
    const isUsage = error.constructor.name === 'CommanderError';
    code = isUsage ? (error.exitCode === 0 ? EXIT.done : EXIT.usage) : exitCodeOf(error);
    if (!isUsage) stderr.write(`incrawl: ${error.message}\n`);
  }
  return { code, stdout: textOf(out), stderr: textOf(err), output: textOf(both) };
}

let last = Promise.resolve();
// Whatever is under way: nobody hears of it any more.
process.on('disconnect', () => process.exit());
process.on('message', ({ id, ...command }) => {
  last = last.then(async () => process.send({ id, finished: await run(command) }));
});
