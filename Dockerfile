# syntax=docker/dockerfile:1
ARG NODE_IMAGE=node:24.21-slim

# The panel is the same on every platform, so it is built on the one of the builder.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS panel
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/panel/package.json packages/panel/
COPY packages/sdk/package.json packages/sdk/
COPY packages/domain/package.json packages/domain/
COPY packages/schedules/package.json packages/schedules/
RUN --mount=type=cache,target=/root/.npm \
    npm ci --include=dev --ignore-scripts --no-audit --no-fund --workspace=packages/panel
COPY packages/domain packages/domain
COPY packages/schedules packages/schedules
COPY packages/sdk packages/sdk
COPY packages/panel packages/panel
RUN node packages/panel/scripts/build.ts

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/calls/package.json packages/calls/
COPY packages/domain/package.json packages/domain/
COPY packages/schedules/package.json packages/schedules/
COPY packages/openapi/package.json packages/openapi/
COPY packages/server/package.json packages/server/
COPY packages/sdk/package.json packages/sdk/
# Only what the server needs. That leaves out the root's own Node, a second one of 125 MB beside the
# image's. No dependency needs an install script.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace=packages/server

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
WORKDIR /app
RUN install --directory --owner=node --group=node --mode=0700 /data
# The workspace links in node_modules lead to packages/*, outside node_modules, where Node strips
# the types from .ts files as it loads them. So there is no build step.
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY packages/calls packages/calls
COPY packages/domain packages/domain
COPY packages/schedules packages/schedules
COPY packages/openapi packages/openapi
COPY packages/server packages/server
COPY --from=panel /app/packages/panel/dist packages/panel/dist
USER node
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/v1/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/server/src/main.ts"]
