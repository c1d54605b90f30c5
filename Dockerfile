# syntax=docker/dockerfile:1
ARG NODE_IMAGE=node:24.21-slim

# The package is the same on every platform, so it is built on the one of the builder.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
COPY packages/calls/package.json packages/calls/
COPY packages/domain/package.json packages/domain/
COPY packages/openapi/package.json packages/openapi/
COPY packages/panel/package.json packages/panel/
COPY packages/schedules/package.json packages/schedules/
COPY packages/sdk/package.json packages/sdk/
COPY packages/server/package.json packages/server/
RUN --mount=type=cache,target=/root/.npm \
    npm ci --include=dev --ignore-scripts --no-audit --no-fund --include-workspace-root --workspace=packages/server --workspace=packages/panel
COPY packages/calls packages/calls
COPY packages/domain packages/domain
COPY packages/openapi packages/openapi
COPY packages/panel packages/panel
COPY packages/schedules packages/schedules
COPY packages/sdk packages/sdk
COPY packages/server packages/server
RUN --mount=type=cache,target=/root/.npm npm run build --workspace packages/server

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
WORKDIR /app
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=build /app/packages/server/dist ./
USER node
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/v1/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "start.cjs"]
