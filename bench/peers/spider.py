"""A crawl by Scrapy that reads title, text and links of each page and keeps nothing; argument: seeds=URL,URL,.."""

import scrapy
from scrapy.linkextractors import LinkExtractor


class BenchSpider(scrapy.Spider):
    name = "bench"

    def __init__(self, seeds="", **kwargs):
        super().__init__(**kwargs)
        self.seeds = seeds.split(",")
        self.links = LinkExtractor()
        self.text_length = 0

    async def start(self):
        # Unlike start_urls, these are seen by the duplicate filter.
        for seed in self.seeds:
            yield scrapy.Request(seed, callback=self.parse)

    def parse(self, response):
        texts = response.xpath("//title/text() | //body//text()").getall()
        self.text_length += sum(len(text) for text in texts)
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, callback=self.parse)
