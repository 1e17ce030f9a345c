// Compares prices, lines of JSON, with those of the last run, prices.json, and keeps them for the next one.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const before = existsSync('prices.json') ? JSON.parse(readFileSync('prices.json', 'utf8')) : {};
const now = { ...before };
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const { url, title, 'metadata.price.amount': amount, 'metadata.price.currency': currency } = JSON.parse(line);
  if (url in before && before[url] !== amount) console.log(`${before[url]} -> ${amount} ${currency}  ${title}  ${url}`);
  now[url] = amount;
}
writeFileSync('prices.json.new', JSON.stringify(now, null, 1));
renameSync('prices.json.new', 'prices.json');
