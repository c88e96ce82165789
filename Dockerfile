# The scheduler task: one bundled file on Node 24. Built on the builder's own architecture; the bundle runs on any.
FROM --platform=$BUILDPLATFORM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node infra/bundle.ts scheduler-task/main /out/main.mjs

# Only for stages with the examples: what they call. Such an image is built with `--target fakes`.
FROM build AS build-fakes
RUN node test/smoke/fakes/bundle.ts /fakes && mkdir /state

FROM node:24.21.0-slim AS fakes
ARG RDS_AUTHORITIES=https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem
ADD --chmod=644 ${RDS_AUTHORITIES} /app/rds-ca.pem
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build-fakes /fakes/ ./
# The only place that its user may write; the volume of the task takes the owner over from here. A command of this image
# would run on its architecture, which the builder's machine may not have.
COPY --from=build-fakes --chown=node:node /state/ /state/
VOLUME /state
USER node
ENTRYPOINT ["node", "/app/main.mjs"]
CMD ["serve"]

FROM node:24.21.0-slim
# The authorities that sign the certificates of RDS: connections to the database are verified.
ARG RDS_AUTHORITIES=https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem
ADD --chmod=644 ${RDS_AUTHORITIES} /app/rds-ca.pem
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build /out/ ./
USER node
ENTRYPOINT ["node", "/app/main.mjs"]
CMD ["pass"]
