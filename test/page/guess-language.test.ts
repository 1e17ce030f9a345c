import { expect, it } from 'vitest';
import { guessLanguage } from '../../src/page/text/language.ts';

it.each([
  [
    'en',
    'The price of solar panels is falling, and that is good for all of those who have to pay for the power of their homes.',
  ],
  [
    'de',
    'Der Preis der Anlagen ist gefallen, und das ist gut für alle, die den Strom von der Sonne nicht mit Kohle machen werden.',
  ],
  [
    'fr',
    'Le prix des panneaux est en baisse, et les habitants sont contents que la facture ne soit plus dans le rouge pour une fois.',
  ],
  [
    'es',
    'El precio de los paneles es más bajo que en el año pasado, y por eso las casas con una planta en el techo son más.',
  ],
  [
    'pt',
    'O preço dos painéis não é mais o que era, e as casas com uma planta no telhado são mais do que em outros anos.',
  ],
  [
    'it',
    'Il prezzo dei pannelli non è più quello che era, e le case con un impianto sono anche per questo più di una volta.',
  ],
  [
    'nl',
    'De prijs van het paneel is niet meer wat het was, en dat is voor een huis met zon op het dak ook een voordeel.',
  ],
  ['sv', 'Priset på panelerna är inte som det var, och det är bra för alla som har ett hus med sol på taket att bo i.'],
  [
    'pl',
    'Cena paneli nie jest taka jak to było, i to jest dobre dla tych, co od lat o tym mówili, ale po cichu i z nadzieją na to.',
  ],
  [
    'tr',
    'Bu panel için fiyat çok düştü ve bu ev için bir kazanç gibi, ama daha sonra ne olan var ne de olarak bir şey değil.',
  ],
  ['ru', 'Цена на панели упала, и это хорошо для тех, кто не хотел платить по счетам, но как это было из года в год.'],
  [
    'uk',
    'Ціна на панелі впала, і це добре для тих, хто не хотів платити, але як це було з року в рік та від літа до зими.',
  ],
  ['zh', '太阳能电池板的价格下降了，这对所有为家庭用电付费的人来说都是好消息。'],
  ['ja', '太陽光パネルの価格が下がった。家庭の電気代を払う人々にとって良い知らせである。'],
  ['ko', '태양광 패널 가격이 떨어졌다. 집에서 전기 요금을 내는 모든 사람에게 좋은 소식이다.'],
  ['ar', 'انخفض سعر الألواح الشمسية وهذا خبر جيد لكل من يدفع ثمن الكهرباء في منزله'],
  ['fa', 'قیمت پنل‌های خورشیدی کاهش یافته است و این خبر خوبی برای همه است که پول برق می‌پردازند'],
  ['th', 'ราคาแผงโซลาร์เซลล์ลดลงซึ่งเป็นข่าวดีสำหรับทุกคน'],
])('%s', (language, text) => {
  expect(guessLanguage(text)).toBe(language);
});

it.each(['', '12 34 56', 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor', 'ok go'])(
  'says nothing of %j',
  (text) => {
    expect(guessLanguage(text)).toBeNull();
  },
);
