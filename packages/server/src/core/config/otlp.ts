import { Schema, SchemaTransformation } from "effect"

export const OtlpEndpoint = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/, {
    expected: "a URL that starts with http:// or https://, such as http://127.0.0.1:4318"
  })
).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({
      decode: (url: string) => url.replace(/\/+$/, ""),
      encode: (url: string) => url
    })
  )
)

/**
 * The supported samplers. There is no parent-based sampler, because the sampled flag of a client's
 * `traceparent` is ignored.
 */
export const samplers = ["traceidratio", "always_on", "always_off"] as const

/**
 * The fraction of traces that each sampler keeps. `traceidratio` uses `OTEL_TRACES_SAMPLER_ARG`.
 */
export const sampleRatios: Readonly<Record<(typeof samplers)[number], number | undefined>> = {
  traceidratio: undefined,
  always_on: 1,
  always_off: 0
}

const pair = /^\s*[\w-]+=[\x20-\x7e]*$/

/** `name=value,name=value`, with URL-encoded values. */
export const OtlpHeaders = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((text) => text.split(",").every((one) => pair.test(one)), {
      expected: "name=value pairs separated by commas"
    })
  ).pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.String),
      SchemaTransformation.transform({
        decode: (text: string) =>
          Object.fromEntries(
            text.split(",").map((one): [string, string] => {
              const at = one.indexOf("=")
              return [one.slice(0, at).trim(), decodeValue(one.slice(at + 1).trim())]
            })
          ),
        encode: (headers: Readonly<Record<string, string>>) =>
          Object.entries(headers)
            .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
            .join(",")
      })
    )
  ),
  { label: "OTEL_EXPORTER_OTLP_HEADERS" }
)

/**
 * Decodes a value. A value that is not URL-encoded is returned unchanged, because many people write
 * their tokens without encoding.
 */
const decodeValue = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
