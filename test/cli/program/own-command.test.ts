import { describe, expect, it } from 'vitest';
import { ownCommand } from '../../../src/cli/process/own-command.ts';

describe('ownCommand', () => {
  it.each([
    ['on the PATH', '/usr/local/bin/incrawl', '/srv', '/bin:/usr/local/bin', 'incrawl'],
    ['not on the PATH', '/opt/x/bin/incrawl', '/srv', '/bin', 'node /opt/x/bin/incrawl'],
    ['of the project', '/srv/app/node_modules/.bin/incrawl', '/srv/app', '/bin', 'npx incrawl'],
    [
      'of the project, from a folder in it, by npx',
      '/srv/app/node_modules/.bin/incrawl',
      '/srv/app/a/b',
      '/srv/app/node_modules/.bin:/bin',
      'npx incrawl',
    ],
    [
      'of the cache of npx, which puts it on the PATH for a moment',
      '/home/u/.npm/_npx/1/node_modules/.bin/incrawl',
      '/srv',
      '/home/u/.npm/_npx/1/node_modules/.bin:/bin',
      'node /home/u/.npm/_npx/1/node_modules/.bin/incrawl',
    ],
    ['of the clone', '/src/incrawl/dist/src/cli/main.js', '/src/incrawl', '/bin', 'node dist/src/cli/main.js'],
    ['elsewhere', '/src/dist/src/cli/main.js', '/srv', '/bin', 'node /src/dist/src/cli/main.js'],
    ['with a blank', "/src/it's mine/main.js", '/srv', '/bin', "node '/src/it'\\''s mine/main.js'"],
  ])('%s', (_what, script, cwd, path, expected) => expect(ownCommand(script, cwd, path)).toBe(expected));
});
