# The scheduler task: one bundled file on Node 24. Built on the builder's own architecture; the bundle runs on any.
# The base by its digest, which names every architecture of it: `docker buildx imagetools inspect node:24.21.0-slim` shows today's.
ARG NODE_IMAGE=public.ecr.aws/docker/library/node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
# The authorities that sign the certificates of RDS: connections to the database are verified. AWS appends to the file when it
# opens a region; the build then stops here, until its new sum is written here.
ARG RDS_AUTHORITIES=https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem
ARG RDS_AUTHORITIES_SHA256=e5bb2084ccf45087bda1c9bffdea0eb15ee67f0b91646106e466714f9de3c7e3
# Into a folder that is there: one that ADD makes would get the mode of the file too, and no user but root could enter it.
WORKDIR /out
ADD --chmod=644 ${RDS_AUTHORITIES} rds-ca.pem
RUN test "$(node -p 'crypto.hash("sha256", fs.readFileSync("rds-ca.pem"))')" = "${RDS_AUTHORITIES_SHA256}"
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node infra/bundle.ts scheduler-task/main /out/main.mjs

# Only for stages with the examples: what they call. Such an image is built with `--target fakes`.
FROM build AS build-fakes
RUN node test/smoke/fakes/bundle.ts /fakes && mkdir /state

FROM ${NODE_IMAGE} AS fakes
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build /out/rds-ca.pem ./
COPY --from=build-fakes /fakes/ ./
# The only place that its user may write; the volume of the task takes the owner over from here. A command of this image
# would run on its architecture, which the builder's machine may not have.
COPY --from=build-fakes --chown=node:node /state/ /state/
VOLUME /state
USER node
ENTRYPOINT ["node", "/app/main.mjs"]
CMD ["serve"]

FROM ${NODE_IMAGE}
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build /out/ ./
USER node
ENTRYPOINT ["node", "/app/main.mjs"]
CMD ["pass"]
