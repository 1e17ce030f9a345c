# syntax=docker/dockerfile:1
# docker build --tag incrawl .
ARG NODE_IMAGE=node:22-bookworm-slim

# The archive, as npm publishes it.
FROM ${NODE_IMAGE} AS archive
WORKDIR /src
COPY . .
RUN mkdir /archive && npm pack --pack-destination /archive

FROM ${NODE_IMAGE} AS program
WORKDIR /opt/incrawl
COPY --from=archive /archive/ /archive/
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund /archive/incrawl-*.tgz

FROM ${NODE_IMAGE}
# Packages that only some users need: docker build --build-arg PACKAGES="duckdb jieba"
ARG PACKAGES=""
# Two pools of malloc: with one or more a thread, as is usual, the freed memory of threads piles up.
ENV NODE_ENV=production INCRAWL_PACKAGES=/opt/incrawl-packages MALLOC_ARENA_MAX=2
COPY --from=program /opt/incrawl /opt/incrawl
RUN ln -s /opt/incrawl/node_modules/.bin/incrawl /usr/local/bin/incrawl
RUN mkdir -p /opt/incrawl-packages && if [ -n "$PACKAGES" ]; then incrawl packages install $PACKAGES; fi
# A volume takes the owner of the folder in its place.
RUN mkdir -p /crawl/conf /crawl/seeds /crawl/crawldb && chown -R 1000:1000 /crawl
USER 1000:1000
WORKDIR /crawl
VOLUME /crawl/crawldb
EXPOSE 7380
STOPSIGNAL SIGTERM
ENTRYPOINT ["incrawl"]
CMD ["schedule", "seeds/", "--every", "15m"]
