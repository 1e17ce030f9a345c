// What a newcomer meets on other sites than a manual: pages behind a password, pages behind a session that ends, and two
// calendars without an end, one of short days and one whose days have much text in common.
import { createServer } from 'node:http';

const SESSION = 'session=ours';
const AUTHORIZATION = `Basic ${Buffer.from('me:open sesame').toString('base64')}`;
const COMMON = 'The rooms are open to all members of the society, who find the keys where they always were. '.repeat(
  10,
);

/** Started server: `origin`, `password` of the user `me`, `counts` of requests by first directory, `endSession`, `close`. */
export async function startTrials(port) {
  const counts = new Map();
  let open = true;
  const server = createServer((request, response) => {
    const path = request.url.split('?')[0];
    const [, top] = path.split('/');
    counts.set(top, (counts.get(top) ?? 0) + 1);
    const [status, headers, html] = answerTo(path, top, request.headers);
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(html);
  });

  function answerTo(path, top, { authorization, cookie = '' }) {
    const day = /^\/(?:cal|diary)\/(\d+)\/(\d+)\.html$/.exec(path);
    if (day !== null) return [200, {}, dayOf(top, Number(day[1]), Number(day[2]))];
    if (path === '/login') return [200, {}, '<title>Log in</title><h1>Log in</h1><form><input type=password></form>'];
    if (top === 'members') {
      if (authorization !== AUTHORIZATION) return [401, { 'www-authenticate': 'Basic realm="members"' }, ''];
      return [200, {}, page('Members', 'Minutes of the last meeting are kept here, for the members of the society.')];
    }
    if (top === 'account') {
      if (!open || !cookie.includes(SESSION)) return [302, { location: '/login' }, ''];
      return [200, {}, page('Account', 'Books that are lent to this reader, with the days on which they are due.')];
    }
    return [404, {}, ''];
  }

  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    password: 'open sesame',
    cookies: `# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\t${SESSION.replace('=', '\t')}\n`,
    counts,
    endSession: () => {
      open = false;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const page = (title, text) => `<title>${title}</title><h1>${title}</h1><p>${text}</p>`;

function dayOf(top, year, day) {
  const links = Array.from({ length: 7 }, (_, at) => day + at - 3)
    .map((other) => (other < 1 ? [year - 1, 365 + other] : other > 365 ? [year + 1, other - 365] : [year, other]))
    .map(([y, d]) => `<a href="/${top}/${y}/${d}.html">${d}</a>`);
  const text = top === 'diary' ? COMMON : 'Nothing is planned for this day so far; ask at the desk.';
  return page(`Day ${day} of ${year}`, `${text} Day ${day} of ${year}.</p><p>${links.join(' ')}`);
}
