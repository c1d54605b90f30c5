import { Schema } from "effect"

export const AppSecret = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((secret) => Buffer.byteLength(secret) >= 32, {
      expected: "at least 32 bytes"
    })
  ),
  { label: "APP_SECRET" }
)

export const MetricsToken = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^[\x21-\x7e]{16,}$/, { expected: "at least 16 visible ASCII characters" })
  ),
  { label: "METRICS_TOKEN" }
)

/**
 * The URL of the database. It is validated here, because the driver would report a malformed URL as
 * an unavailable database.
 */
export const DatabaseUrl = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^postgres(?:ql)?:\/\//, { expected: "a URL that starts with postgres://" })
  ),
  { label: "DATABASE_URL" }
)
