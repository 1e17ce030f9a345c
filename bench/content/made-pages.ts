/** Made news pages in several languages, from a seed, with known main content. None of the text was ever published. */
export interface MadePage {
  readonly language: string;
  readonly layout: string;
  readonly content: string;
  readonly gold: string;
}

interface Language {
  readonly letters: string;
  /** Letters of a word, least and most; 0: words are not divided. */
  readonly word: readonly [number, number];
  readonly comma: string;
  readonly stop: string;
  readonly labels: {
    readonly menu: string;
    readonly source: string;
    readonly editor: string;
    readonly share: string;
    readonly related: string;
    readonly hot: string;
    readonly rights: string;
    readonly home: string;
  };
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  zh: {
    letters:
      '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严',
    word: [0, 0],
    comma: '，',
    stop: '。',
    labels: {
      menu: '新闻|国内|国际|军事|财经|体育|娱乐|科技|汽车|房产|教育|健康|视频|图片|评论|专题|社会|法治',
      source: '来源：新闻网',
      editor: '责任编辑：王小明',
      share: '分享到：|微信|微博|QQ空间|打印|字号：大 中 小',
      related: '相关新闻',
      hot: '热点排行',
      rights: '版权所有 未经书面授权禁止使用 京ICP备01000000号 违法和不良信息举报电话：010-00000000',
      home: '首页',
    },
  },
  ja: {
    letters:
      'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだでどばびぶべぼぱぴぷぺぽアイウエオカキクケコサシスセソ日本人大年出会社事業市民政府東京都府県議員選挙経済発表調査研究開始中心問題',
    word: [0, 0],
    comma: '、',
    stop: '。',
    labels: {
      menu: 'ニュース|国内|国際|経済|スポーツ|芸能|科学|地域|天気|動画|写真|社説',
      source: '新聞社 更新',
      editor: '（記者 山田）',
      share: 'シェア|ツイート|印刷|ブックマーク',
      related: '関連記事',
      hot: 'アクセスランキング',
      rights: '無断転載を禁じます 著作権 利用規約 プライバシーポリシー',
      home: 'トップ',
    },
  },
  de: {
    letters: 'eeeeennnniiisssrrraaattddhhuulccgmobwfkzpvüäöß',
    word: [2, 11],
    comma: ', ',
    stop: '. ',
    labels: {
      menu: 'Politik|Wirtschaft|Panorama|Sport|Kultur|Netzwelt|Wissenschaft|Auto|Reise|Video|Schlagzeilen|Wetter',
      source: 'Von der Redaktion, Stand:',
      editor: 'Quelle: Agentur/red',
      share: 'Teilen|Drucken|Merken|Per E-Mail versenden',
      related: 'Mehr zum Thema',
      hot: 'Meistgelesen',
      rights: 'Alle Rechte vorbehalten. Impressum Datenschutz Nutzungsbedingungen',
      home: 'Startseite',
    },
  },
  ru: {
    letters: 'ооооееееааааиииннннтттсссррррвввллккммддппууяыьгзбчйхжшюцщэф',
    word: [2, 10],
    comma: ', ',
    stop: '. ',
    labels: {
      menu: 'Политика|Экономика|Общество|Мир|Спорт|Культура|Наука|Технологии|Авто|Видео|Фото|Мнения',
      source: 'Источник: агентство',
      editor: 'Автор: редакция',
      share: 'Поделиться|ВКонтакте|Телеграм|Распечатать',
      related: 'Читайте также',
      hot: 'Самое читаемое',
      rights: 'Все права защищены. Политика конфиденциальности. Реклама на сайте',
      home: 'Главная',
    },
  },
  ar: {
    letters: 'اااالللنننمممييييووررببتتهعدسفقكحجشصطخزذثضغظء',
    word: [2, 8],
    comma: '، ',
    stop: '. ',
    labels: {
      menu: 'سياسة|اقتصاد|رياضة|ثقافة|علوم|تكنولوجيا|صحة|فيديو|صور|آراء|العالم|محليات',
      source: 'المصدر: وكالات',
      editor: 'تحرير: هيئة التحرير',
      share: 'شارك|تويتر|طباعة|أرسل',
      related: 'مواضيع ذات صلة',
      hot: 'الأكثر قراءة',
      rights: 'جميع الحقوق محفوظة سياسة الخصوصية شروط الاستخدام',
      home: 'الرئيسية',
    },
  },
};

/** Generators of the parts of a page. */
interface Maker {
  readonly labels: Language['labels'];
  pick(from: number, to: number): number;
  /** A sentence, or what stands in a title: without its stop. */
  sentence(isTitle?: boolean): string;
  paragraph(): string;
  links(count: number, wrap: (link: string) => string): string;
  menu(wrap: (link: string) => string): string;
  date(): string;
}

function makerOf({ letters, word: [least, most], comma, stop, labels }: Language, random: () => number): Maker {
  const all = [...letters];
  const pick = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const letter = (): string => all[pick(0, all.length - 1)] as string;
  const run = (length: number): string => Array.from({ length }, letter).join('');
  const clause = (words: number): string =>
    most === 0 ? run(words * 2) : Array.from({ length: words }, () => run(pick(least, most))).join(' ');
  const sentence = (isTitle = false): string => {
    if (isTitle) return clause(pick(5, 11));
    return Array.from({ length: pick(1, 4) }, () => clause(pick(3, 9))).join(comma) + stop;
  };
  const link = (): string => `<a href="/${pick(1, 99_999)}.html">${sentence(true)}</a>`;
  return {
    labels,
    pick,
    sentence,
    paragraph: () =>
      Array.from({ length: pick(1, 5) }, () => sentence())
        .join('')
        .trim(),
    links: (count, wrap) => Array.from({ length: count }, () => wrap(link())).join('\n'),
    menu: (wrap) =>
      labels.menu
        .split('|')
        .map((name, i) => wrap(`<a href="/${i}/">${name}</a>`))
        .join('\n'),
    date: () => `2026-0${pick(1, 9)}-${pick(10, 28)} ${pick(10, 23)}:${pick(10, 59)}`,
  };
}

type Layout = (make: Maker, title: string, paragraphs: readonly string[]) => string;

const li = (text: string): string => `<li>${text}</li>`;

/** Layouts of news pages: of today, of ten and of twenty years ago. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  today: (make, title, paragraphs) =>
    `<header class="header"><nav><ul>${make.menu(li)}</ul></nav></header><div class="crumb"><a href="/">${make.labels.home}</a> &gt; <a href="/1/">${make.labels.menu.split('|')[1]}</a></div>
<main><article><h1>${title}</h1><div class="info"><span>${make.date()}</span> <span>${make.labels.source}</span></div><div class="article-content">${paragraphs.map((each) => `<p>${each}</p>`).join('\n')}</div><p class="editor">${make.labels.editor}</p>
<div class="share">${make.labels.share
      .split('|')
      .map((each) => `<a href="#">${each}</a>`)
      .join(' ')}</div></article><aside><h3>${make.labels.hot}</h3><ol>${make.links(10, li)}</ol></aside></main>
<section class="related"><h3>${make.labels.related}</h3><ul>${make.links(8, li)}</ul></section><footer class="footer"><p>${make.labels.rights}</p></footer>`,
  tables: (make, title, paragraphs) =>
    `<table width="960" align="center"><tr><td>${make.menu((each) => ` | ${each}`)}</td></tr></table><table width="960" align="center"><tr><td width="660" valign="top"><table width="100%"><tr><td><a href="/">${make.labels.home}</a> &gt;&gt; ${make.labels.menu.split('|')[0]}</td></tr>
<tr><td align="center"><font size="5"><b>${title}</b></font></td></tr><tr><td align="center">${make.date()}　${make.labels.source}</td></tr><tr><td><font size="3">${paragraphs.map((each) => `　　${each}`).join('<br><br>\n')}<br></font></td></tr><tr><td align="right">${make.labels.editor}</td></tr></table></td>
<td width="300" valign="top"><table><tr><td><b>${make.labels.hot}</b></td></tr>${make.links(12, (each) => `<tr><td>·${each}</td></tr>`)}</table></td></tr></table><table width="960" align="center"><tr><td>${make.labels.rights}</td></tr></table>`,
  breaks: (make, title, paragraphs) =>
    `<div id="top"><div class="dh">${make.menu((each) => `${each} `)}</div></div><div id="main"><div class="left"><div class="wz">${make.labels.home} - ${make.labels.menu.split('|')[2]}</div><h1>${title}</h1><div class="ly">${make.date()} ${make.labels.source}</div><div class="zw" id="zoom">
${paragraphs.map((each) => `　　${each}`).join('<br/>\n')}
<br/>${make.labels.editor}</div><div class="xg"><b>${make.labels.related}</b><br/>${make.links(8, (each) => `·${each}<br/>`)}</div></div><div class="right"><div class="tit">${make.labels.hot}</div><ul>${make.links(10, li)}</ul></div></div><div id="foot">${make.labels.rights}</div>`,
  short: (make, title, paragraphs) =>
    `<div class="nav"><ul>${make.menu(li)}</ul></div><div class="wrap"><div class="main"><h1>${title}</h1><p class="time">${make.date()} ${make.labels.source}</p>${paragraphs
      .slice(0, 2)
      .map((each) => `<p>${each}</p>`)
      .join(
        '',
      )}<div class="tags">${make.links(4, (each) => each)}</div><div class="list"><h2>${make.labels.related}</h2><ul>${make.links(40, li)}</ul></div></div><div class="side"><h2>${make.labels.hot}</h2><ul>${make.links(30, li)}</ul></div></div><div class="bottom"><p>${make.labels.rights}</p></div>`,
  divs: (make, title, paragraphs) =>
    `<div class="c1"><div class="c2">${make.menu((each) => `<span>${each}</span>`)}</div></div><div class="c3"><div class="c4"><div class="c5">${title}</div><div class="c6"><span>${make.date()}</span><span>${make.labels.source}</span></div><div class="c7">${paragraphs.map((each) => `<div>${each}</div>`).join('')}</div><div class="c8">${make.labels.editor}</div></div>
<div class="c9">${Array.from({ length: 8 }, () => `<div class="c10"><a href="/${make.pick(1, 999)}">${make.sentence(true)}</a><div>${make.sentence()}</div><span>${make.date()}</span></div>`).join('')}</div></div><div class="c11">${make.labels.rights}</div>`,
  pictures: (make, title, paragraphs) =>
    `<div class="channel">${make.menu((each) => each)}</div><div class="content"><h1 class="title">${title}</h1><div class="pages-date">${make.date()} <span>${make.labels.source}</span></div><div class="pages_content">${paragraphs
      .map((each, i) => `<p align="center"><img src="/${i}.jpg"></p><p style="text-indent: 2em;">${each}</p>`)
      .join(
        '',
      )}</div><p class="editor">${make.labels.editor}</p><div class="comment"><h3>${make.labels.share.split('|')[0]}</h3>${Array.from({ length: 6 }, () => `<div class="item"><span class="user">${make.sentence(true)}</span><p>${make.sentence()}</p><span>${make.date()}</span></div>`).join('')}</div></div><div class="rel"><h3>${make.labels.related}</h3><ul>${make.links(10, li)}</ul></div><div class="footer">${make.labels.rights}</div>`,
};

/** @param random numbers in [0, 1) */
export function madePages(random: () => number, perLayout: number): MadePage[] {
  const pages: MadePage[] = [];
  for (const [language, described] of Object.entries(LANGUAGES)) {
    for (const [layout, lay] of Object.entries(LAYOUTS)) {
      for (let i = 0; i < perLayout; i++) {
        const make = makerOf(described, random);
        const title = make.sentence(true);
        const paragraphs = Array.from({ length: make.pick(4, 12) }, () => make.paragraph());
        const kept = layout === 'short' ? paragraphs.slice(0, 2) : paragraphs;
        const content = `<!DOCTYPE html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title></head><body>${lay(make, title, paragraphs)}</body></html>`;
        pages.push({ language, layout, content, gold: [title, ...kept].join('\n') });
      }
    }
  }
  return pages;
}
