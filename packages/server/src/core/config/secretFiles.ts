import { ConfigProvider, Effect, Result } from "effect"
import { readFileSync } from "node:fs"

/** Settings that can be read from a file, which the variable `<NAME>_FILE` names. */
const secrets: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "APP_SECRET",
  "APP_SECRET_PREVIOUS",
  "BOOTSTRAP_PASSWORD",
  "SMTP_URL",
  "DKIM_PRIVATE_KEY",
  "METRICS_TOKEN",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET"
])

/**
 * Reads secrets from files, as orchestrators mount them. A file is safer than the environment,
 * which every child process inherits. One newline at the end of the file is ignored.
 */
export const orSecretFiles = (
  environment: ConfigProvider.ConfigProvider
): ConfigProvider.ConfigProvider =>
  ConfigProvider.make(
    Effect.fnUntraced(function* (path) {
      const [name = ""] = path
      const given = yield* environment.load(path)
      if (path.length !== 1 || typeof name !== "string" || !secrets.has(name)) return given
      const file = textOf(yield* environment.load([`${name}_FILE`]))
      if (file === undefined) return given
      if (textOf(given) !== undefined) {
        return yield* new ConfigProvider.SourceError({
          message: `${name} and ${name}_FILE are both set: remove one of them`
        })
      }
      const read = Result.try(() => readFileSync(file, "utf8"))
      if (Result.isFailure(read)) {
        return yield* new ConfigProvider.SourceError({
          message: `${name}_FILE: ${file} cannot be read`
        })
      }
      return ConfigProvider.makeValue(read.success.replace(/\r?\n$/, ""))
    })
  )

/** An empty variable counts as absent. */
const textOf = (node: ConfigProvider.Node | undefined): string | undefined =>
  node?._tag === "Value" && node.value !== "" ? node.value : undefined
