import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Effect, Inspectable, Redacted } from "effect"
import { AppConfig } from "../../../src/core/config/Config.ts"
import { selfHostedCatalog } from "../../../src/core/config/plans.ts"

const secret = "correct-horse-battery-staple-secret"

const read = (env: Readonly<Record<string, string>>) =>
  AppConfig.pipe(
    Effect.provide(AppConfig.layer),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env } })
    )
  )

const complaint = (env: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(read(env)), ({ message }) => message)

const workspaceId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const oidc = {
  PUBLIC_URL: "https://scheduling.example.com",
  OIDC_ISSUER: "https://id.example.com",
  OIDC_CLIENT_ID: "scheduling"
}

const defaults = {
  host: "127.0.0.1",
  port: 4000,
  databaseUrl: undefined,
  databasePool: 8,
  dataDir: ".data",
  appSecret: undefined,
  previousAppSecrets: [],
  appSecretLost: undefined,
  registration: "open",
  passwordLogin: "on",
  authProxyHeader: undefined,
  bootstrap: undefined,
  oidc: undefined,
  egressAllow: [],
  callThreads: availableParallelism() > 1 ? 1 : 0,
  runner: "on",
  rateLimit: 600,
  retentionDays: 30,
  auditRetentionDays: 400,
  trustProxy: [],
  allowedHosts: [],
  allowedOrigins: [],
  smtpUrl: undefined,
  mailFrom: undefined,
  dkimDomain: undefined,
  dkimSelector: undefined,
  dkimPrivateKey: undefined,
  publicUrl: undefined,
  plans: selfHostedCatalog,
  stripeSecretKey: undefined,
  stripeWebhookSecrets: [],
  logLevel: "info",
  logFormat: process.stdout.isTTY ? "pretty" : "json",
  logRequests: "off",
  metricsPort: undefined,
  metricsToken: undefined,
  otlpEndpoint: undefined,
  otlpHeaders: undefined,
  otlpProtocol: "http/json",
  otlpServiceName: "scheduling-service",
  traceSampleRatio: 1
}

const variables: Readonly<
  Record<
    string,
    {
      readonly field: keyof AppConfig["Service"]
      readonly good: ReadonlyArray<string>
      readonly bad: ReadonlyArray<string>
    }
  >
> = {
  HOST: { field: "host", good: ["localhost", "::1"], bad: [] },
  PORT: { field: "port", good: ["1", "65535"], bad: ["0", "-1", "65536", "http", "80.5", "4000x"] },
  DATABASE_POOL: {
    field: "databasePool",
    good: ["2", "16"],
    bad: ["1", "0", "1001", "ten", "2.5"]
  },
  DATA_DIR: { field: "dataDir", good: ["/var/lib/scheduling"], bad: [] },
  REGISTRATION: { field: "registration", good: ["open", "closed"], bad: ["Open", "yes", "off"] },
  PASSWORD_LOGIN: { field: "passwordLogin", good: ["on"], bad: ["Off", "closed", "false"] },
  EGRESS_ALLOW: {
    field: "egressAllow",
    good: ["10.0.0.0/8", "10.0.0.0/8,fd00::/8", "127.0.0.1/32"],
    bad: ["10.0.0.0/33", "internal.example.com", "10.0.0/8"]
  },
  CALL_THREADS: { field: "callThreads", good: ["0", "1", "64"], bad: ["-1", "65", "1.5", "off"] },
  RUNNER: { field: "runner", good: ["on", "off"], bad: ["true", "ON"] },
  AUDIT_RETENTION_DAYS: {
    field: "auditRetentionDays",
    good: ["1", "36500"],
    bad: ["0", "36501", "forever"]
  },
  RATE_LIMIT: {
    field: "rateLimit",
    good: ["0", "1", "10000000"],
    bad: ["-1", "10000001", "0.5", "600/minute", "off"]
  },
  RETENTION_DAYS: {
    field: "retentionDays",
    good: ["1", "3650"],
    bad: ["0", "3651", "1.5", "month"]
  },
  TRUST_PROXY: {
    field: "trustProxy",
    good: ["10.0.0.0/8", "10.0.0.0/8, fd00::/8", "10.0.0.1,::1"],
    bad: ["all", "10.0.0.0/40"]
  },
  ALLOWED_HOSTS: {
    field: "allowedHosts",
    good: ["api.example.com", "api.example.com, 10.0.0.5,[fd00::1]"],
    bad: ["*", "https://api.example.com", "api.example.com:443", "api.example.com/v1", "a b", "::1"]
  },
  ALLOWED_ORIGINS: {
    field: "allowedOrigins",
    good: ["https://app.example.com", "https://app.example.com,http://localhost:3000"],
    bad: ["*", "null", "app.example.com", "https://app.example.com/", "ftp://app.example.com"]
  },
  LOG_LEVEL: {
    field: "logLevel",
    good: ["trace", "debug", "info", "warn", "error", "none"],
    bad: ["verbose", "INFO"]
  },
  LOG_REQUESTS: { field: "logRequests", good: ["on", "off"], bad: ["true", "ON"] },
  METRICS_PORT: { field: "metricsPort", good: ["1", "9464"], bad: ["0", "65536", "http"] },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    field: "otlpEndpoint",
    good: ["http://127.0.0.1:4318", "https://collector.example.com/otlp"],
    bad: ["127.0.0.1:4318", "grpc://a", "http://user:password@a"]
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    field: "otlpHeaders",
    good: [],
    bad: ["token", "a b=c"]
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    field: "otlpProtocol",
    good: ["http/json", "http/protobuf"],
    bad: ["grpc"]
  },
  OTEL_SERVICE_NAME: { field: "otlpServiceName", good: ["scheduling-eu"], bad: [] },
  OTEL_TRACES_SAMPLER_ARG: {
    field: "traceSampleRatio",
    good: ["0", "0.1", "1"],
    bad: ["2", "-1", "all"]
  },
  LOG_FORMAT: { field: "logFormat", good: ["pretty", "json"], bad: ["text", "JSON"] }
}

const each = (kind: "good" | "bad") =>
  Object.entries(variables).flatMap(([name, variable]) =>
    variable[kind].map((value) => ({ name, value, field: variable.field }))
  )

describe("Configuration", () => {
  it.effect("needs no variable at all", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual<unknown>(yield* read({}), defaults)
    })
  )

  it.effect.each(each("good"))("accepts $name=$value", ({ field, name, value }) =>
    Effect.gen(function* () {
      const config = yield* read({ [name]: value })
      const got = config[field]
      if (typeof got === "object") {
        assert.strictEqual(Object.values(got).length, value.split(",").length)
      } else {
        assert.strictEqual(String(got), value)
      }
      assert.deepStrictEqual<unknown>(
        { ...config, [field]: undefined },
        { ...defaults, [field]: undefined }
      )
    })
  )

  it.effect.each(each("bad"))(
    "names the variable in one line for $name=$value",
    ({ name, value }) =>
      Effect.gen(function* () {
        const message = yield* complaint({ [name]: value })
        assert.match(message, new RegExp(`^${name}: [^\\n]+$`))
      })
  )

  it.effect.each([
    [{ PORT: "abc" }, "PORT: expected a whole number from 1 to 65535"],
    [{ METRICS_PORT: "65536" }, "METRICS_PORT: expected a whole number from 1 to 65535"],
    [{ APP_SECRET_FILE: "/nowhere/app" }, "APP_SECRET_FILE: /nowhere/app cannot be read"],
    [
      { APP_SECRET_FILE: "/nowhere/app", APP_SECRET: secret },
      "APP_SECRET and APP_SECRET_FILE are both set: remove one of them"
    ]
  ] as const)("says what is wrong with %j", ([env, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* complaint(env), problem)
    })
  )

  it.effect.each([
    [
      { PASSWORD_LOGIN: "off" },
      "PASSWORD_LOGIN=off needs another way to sign in: OIDC_ISSUER or AUTH_PROXY_HEADER"
    ],
    [
      { AUTH_PROXY_HEADER: "X-Email" },
      "AUTH_PROXY_HEADER needs TRUST_PROXY with the addresses of the proxy"
    ],
    [
      { AUTH_PROXY_HEADER: "Cookie", TRUST_PROXY: "10.0.0.1" },
      "AUTH_PROXY_HEADER: expected the name of a header such as X-Auth-Request-Email"
    ],
    [
      { AUTH_PROXY_HEADER: "X-Email", TRUST_PROXY: "10.0.0.1", EGRESS_ALLOW: "10.0.0.0/8" },
      "AUTH_PROXY_HEADER: TRUST_PROXY and EGRESS_ALLOW must not overlap (10.0.0.1/32), because a task could pretend to be the proxy"
    ],
    [{ OIDC_ISSUER: "https://id.example.com" }, "OIDC_ISSUER needs OIDC_CLIENT_ID"],
    [{ OIDC_CLIENT_ID: "scheduling" }, "OIDC_CLIENT_ID needs OIDC_ISSUER"],
    [
      { OIDC_ISSUER: "http://id.example.com" },
      "OIDC_ISSUER: expected an https:// URL without a query"
    ],
    [
      { OIDC_ISSUER: "https://id.example.com", OIDC_CLIENT_ID: "scheduling" },
      "OIDC_ISSUER needs PUBLIC_URL, to which users return from the provider"
    ],
    [{ ...oidc, OIDC_ROLE_CLAIM: "groups" }, "OIDC_ROLE_CLAIM and OIDC_ROLES must be set together"],
    [
      { ...oidc, OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: `staff=${workspaceId}:owner` },
      `OIDC_ROLES: "staff=${workspaceId}:owner" is not VALUE=WORKSPACE_ID:ROLE with the role viewer, editor or admin`
    ],
    [
      { ...oidc, OIDC_SCOPES: "email" },
      "OIDC_SCOPES: expected scopes separated by spaces, beginning with openid"
    ]
  ] as const)("rejects %j, which is no identity provider", ([env, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* complaint(env), problem)
    })
  )

  it.effect("reads the roles of a claim, whose values may have an equals sign", () =>
    Effect.gen(function* () {
      const roles = `cn=staff=${workspaceId.toUpperCase()}:viewer, /ops=${workspaceId}:admin`
      const config = yield* read({ ...oidc, OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: roles })
      assert.deepStrictEqual(config.oidc?.roles, [
        { value: "cn=staff", workspaceId, role: "viewer" },
        { value: "/ops", workspaceId, role: "admin" }
      ])
    })
  )

  it.effect.each([
    [{ BOOTSTRAP_EMAIL: "ada@example.com" }, "BOOTSTRAP_EMAIL needs BOOTSTRAP_PASSWORD_FILE"],
    [{ BOOTSTRAP_PASSWORD: secret }, "BOOTSTRAP_PASSWORD needs BOOTSTRAP_EMAIL"],
    [
      { BOOTSTRAP_WORKSPACE: "Acme" },
      "BOOTSTRAP_WORKSPACE needs BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD_FILE"
    ],
    [
      { BOOTSTRAP_API_KEY_FILE: "/key" },
      "BOOTSTRAP_API_KEY_FILE needs BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD_FILE"
    ],
    [
      { BOOTSTRAP_EMAIL: "ada@", BOOTSTRAP_PASSWORD: secret },
      "BOOTSTRAP_EMAIL: expected an email address of at most 254 characters"
    ],
    [
      { BOOTSTRAP_EMAIL: "ada@example.com", BOOTSTRAP_PASSWORD: "hunter2" },
      "BOOTSTRAP_PASSWORD: expected a value with a length between 12 and 256"
    ]
  ] as const)("refuses %j, which is no first account", ([env, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* complaint(env), problem)
    })
  )

  it.effect(
    "samples as OTEL_TRACES_SAMPLER says, and rejects a sampler that it does not know",
    () =>
      Effect.gen(function* () {
        const sampled = (OTEL_TRACES_SAMPLER: string) =>
          Effect.map(
            read({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: "0.1" }),
            ({ traceSampleRatio }) => traceSampleRatio
          )
        assert.strictEqual(yield* sampled("traceidratio"), 0.1)
        assert.strictEqual(yield* sampled("always_on"), 1)
        assert.strictEqual(yield* sampled("always_off"), 0)
        const message = yield* complaint({ OTEL_TRACES_SAMPLER: "parentbased_always_on" })
        assert.match(message, /^OTEL_TRACES_SAMPLER: expected "traceidratio" \|[^\n]+$/)
      })
  )

  it.effect.each([...Object.keys(variables), "DATABASE_URL", "APP_SECRET", "APP_SECRET_PREVIOUS"])(
    "treats an empty %s as absent",
    (name) =>
      Effect.gen(function* () {
        assert.deepStrictEqual<unknown>(yield* read({ [name]: "" }), defaults)
      })
  )

  it.effect.each([
    ["127.0.0.1", []],
    ["::1", []],
    ["localhost", []],
    ["0.0.0.0", undefined],
    ["::", undefined],
    ["10.0.0.5", undefined]
  ] as const)(
    "allows any host name on an address that is not a loopback address: %s",
    ([host, any]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual((yield* read({ HOST: host })).allowedHosts, any)
        const named = yield* read({ HOST: host, ALLOWED_HOSTS: "api.example.com" })
        assert.deepStrictEqual(named.allowedHosts, ["api.example.com"])
      })
  )

  describe("of secrets", () => {
    it.effect("reads them from files", () =>
      Effect.gen(function* () {
        const folder = mkdtempSync(join(tmpdir(), "scheduling-secrets-"))
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
        )
        const file = (name: string, text: string) => {
          writeFileSync(join(folder, name), text)
          return join(folder, name)
        }
        const config = yield* read({
          APP_SECRET_FILE: file("app", `${secret}\n`),
          DATABASE_URL_FILE: file("url", "postgres://user@db/app"),
          METRICS_TOKEN_FILE: file("token", "0123456789abcdef\r\n"),
          SMTP_URL_FILE: ""
        })
        assert.strictEqual(Redacted.value(config.appSecret ?? Redacted.make("")), secret)
        assert.strictEqual(
          Redacted.value(config.databaseUrl ?? Redacted.make("")),
          "postgres://user@db/app"
        )
        assert.strictEqual(
          Redacted.value(config.metricsToken ?? Redacted.make("")),
          "0123456789abcdef"
        )
        assert.match(
          yield* complaint({ APP_SECRET_FILE: join(folder, "none") }),
          /APP_SECRET_FILE: .* cannot be read/
        )
        assert.match(
          yield* complaint({ APP_SECRET: secret, APP_SECRET_FILE: join(folder, "app") }),
          /APP_SECRET and APP_SECRET_FILE are both set: remove one of them/
        )
        const short = yield* complaint({ METRICS_TOKEN_FILE: file("short", "hunter2hunter") })
        assert.match(short, /^METRICS_TOKEN: /)
        assert.notInclude(short, "hunter2")
      })
    )

    it.effect("requires APP_SECRET with DATABASE_URL", () =>
      Effect.gen(function* () {
        const env = { DATABASE_URL: "postgres://user:hunter2hunter2@db/app" }
        const message = yield* complaint(env)
        assert.match(message, /^APP_SECRET is required with DATABASE_URL/)
        assert.notInclude(message, "hunter2")
        const config = yield* read({ ...env, APP_SECRET: secret })
        assert.strictEqual(
          config.databaseUrl && Redacted.value(config.databaseUrl),
          env.DATABASE_URL
        )
        assert.strictEqual(config.appSecret && Redacted.value(config.appSecret), secret)
      })
    )

    it.effect("counts the bytes of APP_SECRET, not its characters", () =>
      Effect.gen(function* () {
        assert.isDefined((yield* read({ APP_SECRET: "ä".repeat(16) })).appSecret)
        assert.match(
          yield* complaint({ APP_SECRET: "a".repeat(31) }),
          /^APP_SECRET: [^\n]*32 bytes/
        )
      })
    )

    it.effect("accepts a list of retired secrets", () =>
      Effect.gen(function* () {
        const { previousAppSecrets } = yield* read({
          APP_SECRET_PREVIOUS: `${secret}-1, ${secret}-2,`
        })
        assert.deepStrictEqual(previousAppSecrets.map(Redacted.value), [
          `${secret}-1`,
          `${secret}-2`
        ])
      })
    )

    it.effect.each([
      { APP_SECRET: "hunter2" },
      { APP_SECRET_PREVIOUS: "hunter2" },
      { APP_SECRET_PREVIOUS: `${secret},hunter2` },
      { DATABASE_URL: "postgres://user:hunter2@db/app" },
      { APP_SECRET: secret, PORT: "x" }
    ])("never shows a secret in its complaint", (env) =>
      Effect.gen(function* () {
        const message = yield* complaint(env)
        assert.match(message, /^[A-Z_]+(?::| is required)/)
        assert.notInclude(message, "hunter2")
        assert.notInclude(message, secret)
      })
    )

    it.effect("never shows a secret when it is printed", () =>
      Effect.gen(function* () {
        const config = yield* read({
          DATABASE_URL: `postgres://user:${secret}@db/app`,
          APP_SECRET: secret,
          APP_SECRET_PREVIOUS: secret
        })
        for (const text of [
          JSON.stringify(config),
          Inspectable.toStringUnknown(config),
          String(config)
        ]) {
          assert.notInclude(text, secret)
        }
      })
    )
  })
})
