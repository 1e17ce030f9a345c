import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeBody, guessEncoding } from '../../../src/core/plugin-host/parsing/decode.ts';
import { encodeAs } from './encode-as.ts';

const TEXTS: readonly (readonly [string, string])[] = [
  ['gbk', '太阳能电池板的价格下降了，这对所有为家庭用电付费的人来说都是一个好消息。我们在这里说的是中国的市场。'],
  ['big5', '太陽能電池板的價格下降了，這對所有為家庭用電付費的人來說都是一個好消息。我們在這裡說的是中國的市場。'],
  [
    'shift_jis',
    '太陽光パネルの価格が下がった。家庭の電気代を払う人々にとって良い知らせである。これはとても嬉しいことです。',
  ],
  [
    'euc-jp',
    '太陽光パネルの価格が下がった。家庭の電気代を払う人々にとって良い知らせである。これはとても嬉しいことです。',
  ],
  [
    'euc-kr',
    '태양광 패널 가격이 떨어졌다. 집에서 전기 요금을 내는 모든 사람에게 좋은 소식이다. 이것은 한국의 시장에 대한 이야기이다.',
  ],
  [
    'windows-1251',
    'Цена на солнечные панели упала, и это хорошая новость для всех, кто платит за электричество в своём доме.',
  ],
  [
    'koi8-r',
    'Цена на солнечные панели упала, и это хорошая новость для всех, кто платит за электричество в своём доме.',
  ],
  [
    'windows-1253',
    'Η τιμή των ηλιακών πάνελ έπεσε και αυτό είναι καλό νέο για όλους όσους πληρώνουν το ρεύμα στο σπίτι τους.',
  ],
  ['windows-1255', 'מחיר הפאנלים הסולריים ירד וזו בשורה טובה לכל מי שמשלם על החשמל בביתו ורוצה לחסוך בכסף'],
  ['windows-1256', 'انخفض سعر الألواح الشمسية وهذا خبر جيد لكل من يدفع ثمن الكهرباء في منزله ويريد أن يوفر المال'],
  ['windows-874', 'ราคาแผงโซลาร์เซลล์ลดลงซึ่งเป็นข่าวดีสำหรับทุกคนที่จ่ายค่าไฟฟ้าในบ้านของตน'],
];

describe('an undeclared encoding', () => {
  it.each(TEXTS)('%s', (charset, text) => {
    const page = encodeAs(charset, `<html><body><p>${text}</p></body></html>`);
    const decoded = decodeBody(page, { contentType: 'text/html', kind: 'html' });
    expect(decoded.charset).toBe(charset);
    expect(decoded.text).toContain(text);
    // Cut within a character, and beside much English.
    expect(guessEncoding(page.subarray(0, page.length - 25))).toBe(charset);
  });

  it.each([
    'Le prix des panneaux a baissé, et c’est une bonne nouvelle pour les ménages où l’électricité était chère à Noël.',
    'Der Preis für Solarmodule ist gefallen: schön für alle, die für ihren Strom über Jahre hinweg zu viel bezahlt hätten.',
    'Prisen på solpaneler er faldet, og det er godt nyt for alle, der skal købe el til børn og høns på øen Ærø.',
    'naïve café',
  ])('of Western Europe is windows-1252: %s', (text) => {
    expect(decodeBody(encodeAs('windows-1252', text), { contentType: null, kind: 'html' })).toEqual({
      text,
      charset: 'windows-1252',
    });
  });

  it('of no text is none', () => {
    expect(guessEncoding(new Uint8Array(readFileSync(process.execPath).subarray(0, 100_000)))).toBeNull();
    expect(guessEncoding(new Uint8Array())).toBeNull();
  });
});

describe('a wrong declaration', () => {
  const [, chinese = ''] = TEXTS[0] ?? [];
  it('of UTF-8 over bytes that hardly are does not count', () => {
    const page = encodeAs('gbk', `<meta charset="utf-8"><p>${chinese}</p>`);
    expect(decodeBody(page, { contentType: 'text/html; charset=utf-8', kind: 'html' }).charset).toBe('gbk');
  });
  it('of a Western encoding over UTF-8 does not count', () => {
    const page = new TextEncoder().encode(`<meta charset="iso-8859-1"><p>${chinese}</p>`);
    expect(decodeBody(page, { contentType: 'text/html', kind: 'html' }).charset).toBe('utf-8');
    const header = { contentType: 'text/html; charset=iso-8859-1', kind: 'html' } as const;
    expect(decodeBody(page, header).text).toContain(chinese);
  });
  it('of UTF-8 over a few broken bytes stays', () => {
    const page = Uint8Array.from([...new TextEncoder().encode(`<p>${chinese}${chinese}</p>`), 0xe9, 0x20, 0xff]);
    expect(decodeBody(page, { contentType: 'text/html; charset=utf-8', kind: 'html' }).charset).toBe('utf-8');
  });
});
