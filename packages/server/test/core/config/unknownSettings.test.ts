import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { settingNames } from "../../../src/core/config/Config.ts"
import { unknownSettings } from "../../../src/core/config/unknownSettings.ts"

const found = (...variables: ReadonlyArray<string>) =>
  Effect.map(settingNames, (names) =>
    unknownSettings(variables, names).map(({ meant, name }) => `${name}: ${meant}`)
  )

/** Variables for other programs. Some of their names resemble a setting. */
const ordinary = `
  CI COLORTERM COMPOSE_PROJECT_NAME DATABASE_HOST DATABASE_NAME DEBUG DISPLAY EDITOR GITHUB_ACTIONS
  GITHUB_TOKEN HOME HOSTNAME HOSTTYPE HTTP_PROXY HTTPS_PROXY INVOCATION_ID JOURNAL_STREAM
  KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT LANG
  LC_ALL LOGNAME LS_COLORS MAIL NO_PROXY NODE_ENV NODE_EXTRA_CA_CERTS NODE_OPTIONS NODE_VERSION
  OLDPWD OTEL_EXPORTER_OTLP_TIMEOUT OTEL_LOG_LEVEL OTEL_METRICS_EXPORTER OTEL_TRACES_EXPORTER PATH
  PGHOST PGPASSWORD POSTGRES_PASSWORD POSTGRES_PORT PWD REDIS_URL RUNNER_OS RUNNER_TEMP RUNNER_TOOL_CACHE
  SCHEDULING_PORT SCHEDULING_SERVICE_HOST SCHEDULING_SERVICE_PORT_HTTP SHELL SHLVL SSH_AUTH_SOCK
  STATE_DIRECTORY TERM TMPDIR TZ USER XDG_DATA_DIRS XDG_RUNTIME_DIR YARN_VERSION _ http_proxy
  npm_config_cache npm_package_version`
  .trim()
  .split(/\s+/)

describe("a variable that is not a setting", () => {
  it.effect("is reported if it is close to a setting", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* found(
          "RATELIMIT",
          "DATABASE_URI",
          "LOGLEVEL",
          "ALLOW_HOSTS",
          "TRUSTED_PROXY",
          "SMTP_URI",
          "retention_days",
          "APP_SECRET_PREVIOS_FILE",
          "RATE_LIMIT_FILE"
        ),
        [
          "RATELIMIT: RATE_LIMIT",
          "DATABASE_URI: DATABASE_URL",
          "LOGLEVEL: LOG_LEVEL",
          "ALLOW_HOSTS: ALLOWED_HOSTS",
          "TRUSTED_PROXY: TRUST_PROXY",
          "SMTP_URI: SMTP_URL",
          "retention_days: RETENTION_DAYS",
          "APP_SECRET_PREVIOS_FILE: APP_SECRET_PREVIOUS_FILE",
          "RATE_LIMIT_FILE: RATE_LIMIT"
        ]
      )
    })
  )

  it.effect("is ignored if it belongs to another program", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found(...ordinary), [])
      const settings = [...(yield* settingNames)]
      assert.include(settings, "DATABASE_URL_FILE")
      assert.isAbove(settings.length, 40)
      assert.deepStrictEqual(yield* found(...settings), [])
    })
  )
})
