// Runs commands of a shell and writes them down with what they printed, as Markdown. A command whose exit code, or whose
// words, are not those that the story expects ends the run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const HEAD = 14;
const TAIL = 10;

export function transcript({ cwd, env, replace, write }) {
  let place = cwd;

  /**
   * Runs a line of shell; `exit` is the expected code, `says` what the output must match, `killWhen` what must be true
   * before the line is killed. Answers the whole output.
   */
  async function run(line, { exit = 0, says = [], killWhen, head = HEAD, tail = TAIL } = {}) {
    const child = spawn('sh', ['-c', line], { cwd: place, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    const closed = once(child, 'close');
    if (killWhen !== undefined) {
      while (!killWhen() && child.exitCode === null) await delay(10);
      if (child.exitCode !== null) throw new Error(`${line}: ended before it could be killed\n${text}`);
      process.kill(-child.pid, 'SIGKILL');
    }
    const [code, signal] = await closed;
    const lines = shortened(replace(text).trimEnd().split('\n'), head, tail);
    const end = killWhen !== undefined ? [`[killed: ${signal}]`] : code === 0 ? [] : [`[exit code ${code}]`];
    write(['', `    $ ${line}`, ...[...lines, ...end].map((each) => `    ${each}`.trimEnd()), ''].join('\n'));
    const unsaid = [says].flat().filter((expected) => !expected.test(text));
    if (killWhen === undefined && code !== exit)
      throw new Error(`${line}: exit code ${code}, expected ${exit}\n${text}`);
    if (unsaid.length > 0) throw new Error(`${line}: expected ${unsaid.join(', ')} in\n${text}`);
    return text;
  }

  return {
    run,
    cd: (folder) => {
      place = folder;
    },
    title: (text) => write(`\n## ${text}\n`),
    say: (text) => write(`\n${text}\n`),
  };
}

function shortened(lines, head, tail) {
  const kept = lines.length === 1 && lines[0] === '' ? [] : lines;
  if (kept.length <= head + tail + 1) return kept;
  return [...kept.slice(0, head), `[${kept.length - head - tail} lines]`, ...kept.slice(-tail)];
}
