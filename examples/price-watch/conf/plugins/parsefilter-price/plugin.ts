import { definePlugin, type Page } from 'incrawl/plugin';

/** The price that a shop states for search engines: in microdata, or in the meta elements of Open Graph. */
function statedPrice({ $ }: Page): { readonly amount: number; readonly currency: string } | null {
  const read = (name: string): string => {
    const element = $(`[itemprop="${name}"], meta[property="product:${name}"], meta[property="product:price:${name}"]`);
    return (element.attr('content') ?? element.first().text()).trim();
  };
  const amount = Number.parseFloat((read('price') || read('amount')).replace(',', '.'));
  const currency = read('priceCurrency') || read('currency');
  return Number.isFinite(amount) ? { amount, currency } : null;
}

export default definePlugin({
  name: 'parsefilter-price',
  api: 1,
  setup: () => ({
    // Signatures are as before: no text is changed.
    content: '',
    filter: (page) => {
      const price = page.dom === null ? null : statedPrice(page);
      if (price === null) return;
      page.result.metadata['price.amount'] = price.amount;
      page.result.metadata['price.currency'] = price.currency;
    },
  }),
});
