const USER = String.raw`(?:(?:[^\s,/?#%]|%[0-9a-fA-F]{2})*@)?`;
const HOST = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^\s,/?#@:%[\]]+)`;
const PORT = String.raw`(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]))?`;
const DATABASE = String.raw`(?:/\d{0,9})?(?:\?[^\s,#]*)?`;
const ONE = `rediss?://${USER}${HOST}${PORT}${DATABASE}`;

export const REDIS_URL = new RegExp(`^${ONE}$`);

/** For one server, as libpq has it: https://www.postgresql.org/docs/current/libpq-connect.html */
const POSTGRES = `postgres(?:ql)?://${USER}(?:${HOST}${PORT})?(?:/[^\\s,?#/]*)?(?:\\?[^\\s#]*)?`;
export const SERVER_URL = new RegExp(`^${POSTGRES}$`);
/** A PostgreSQL, or nothing. */
export const STORE_URL = new RegExp(`^(?:${POSTGRES})?$`);

/** What is shown may end up in a log or a bug report. The password is left out even where it makes the text no URL. */
export function withoutPassword(text: string): string {
  return text
    .replace(/((?:rediss?|postgres(?:ql)?):\/\/[^\s,/?#@:]*:)\S*@/g, '$1***@')
    .replace(/([?&](?:ssl)?password=)[^&\s]*/g, '$1***')
    .replace(/(\w+:\/\/[^/?#@,]*:)[^/?#,]*@/g, '$1***@');
}

/** The URL of a PostgreSQL without its passwords. */
export function withoutCredentials(url: string): string {
  const [place = '', query = ''] = url.replace(/^(\w+:\/\/[^:@/?#]*):[^/?#]*@/, '$1@').split(/\?(.*)/s);
  const kept = query.split('&').filter((each) => each !== '' && !/^(?:ssl)?password=/.test(each));
  return place + (kept.length === 0 ? '' : `?${kept.join('&')}`);
}
