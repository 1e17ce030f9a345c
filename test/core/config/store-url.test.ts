import { describe, expect, it } from 'vitest';
import { REDIS_URL, SERVER_URL, withoutCredentials, withoutPassword } from '../../../src/core/config/store-url.ts';

describe('URLs of Redis', () => {
  it.each([
    'redis://127.0.0.1',
    'redis://127.0.0.1:6379/0',
    'rediss://user:p%2Fa%20s@redis.example:65535/15',
    'redis://:a@b:c@[::1]:7000',
    'redis://my_redis:6379?family=6',
  ])('%s is one', (url) => {
    expect(REDIS_URL.test(url)).toBe(true);
    expect(() => new URL(url)).not.toThrow();
  });

  it.each([
    '127.0.0.1:6379',
    'http://127.0.0.1:6379',
    'redis://127.0.0.1:0',
    'redis://127.0.0.1:65536',
    'redis://127.0.0.1/first',
    'redis://:pa/ss@127.0.0.1',
    'redis://:pa#ss@127.0.0.1',
    'redis://:pa%ss@127.0.0.1',
    'redis://',
  ])('%s is none', (url) => {
    expect(REDIS_URL.test(url)).toBe(false);
  });

  it('are shown without their passwords, also where these keep them from being URLs', () => {
    expect(withoutPassword('redis://user:se/c@r#et@a.example:1/0')).toBe('redis://user:***@a.example:1/0');
    expect(withoutPassword('postgres://:other,one@b.example')).toBe('postgres://:***@b.example');
    expect(withoutPassword('https://me:secret@example.org/@x')).toBe('https://me:***@example.org/@x');
    expect(withoutPassword('redis://127.0.0.1:6379')).toBe('redis://127.0.0.1:6379');
  });
});

describe('URLs of servers of a crawl', () => {
  it.each([
    ['postgres://crawler@10.0.0.8/crawl', 'postgres://crawler@10.0.0.8/crawl'],
    ['postgres://crawler:se%2Fcret@10.0.0.8:5433/crawl', 'postgres://crawler@10.0.0.8:5433/crawl'],
    ['postgres://a:b@c:d@10.0.0.8/crawl?sslmode=verify-full', 'postgres://a@10.0.0.8/crawl?sslmode=verify-full'],
    ['postgres://10.0.0.8/crawl?user=a&password=b&sslpassword=c', 'postgres://10.0.0.8/crawl?user=a'],
    ['postgres:///crawl?password=b&host=/run/postgresql', 'postgres:///crawl?host=/run/postgresql'],
  ])('%s has the name %s', (url, name) => {
    expect(SERVER_URL.test(url)).toBe(true);
    expect(withoutCredentials(url)).toBe(name);
    expect(withoutCredentials(name)).toBe(name);
  });

  it.each(['', 'redis://10.0.0.8', '10.0.0.8', 'postgres://10.0.0.8/a/b'])('"%s" is none', (url) => {
    expect(SERVER_URL.test(url)).toBe(false);
  });
});
