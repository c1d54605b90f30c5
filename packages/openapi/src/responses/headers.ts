import type { Header, Reference } from "../model.ts"

interface KnownHeader extends Header {
  readonly name: string
}

/** The headers of the contract by lower-case name. */
const known: Readonly<Record<string, KnownHeader>> = {
  allow: {
    name: "Allow",
    description: "The methods that this route supports.",
    schema: { type: "string", examples: ["GET, POST"] }
  },
  "cache-control": {
    name: "Cache-Control",
    description: "Always `no-store`, because the response contains a secret.",
    schema: { type: "string", enum: ["no-store"] }
  },
  deprecation: {
    name: "Deprecation",
    description: "Since when the operation is deprecated (RFC 9745).",
    schema: { type: "string", examples: ["@1798761600"] }
  },
  "idempotency-key": {
    name: "Idempotency-Key",
    description:
      "Makes retries safe: within 24 hours, the same key with the same body returns the first response again.",
    schema: { type: "string" }
  },
  "idempotent-replayed": {
    name: "Idempotent-Replayed",
    description:
      "`true` if this is the stored response to an earlier request with the same `Idempotency-Key`. Otherwise absent.",
    schema: { type: "string", enum: ["true"] }
  },
  "last-event-id": {
    name: "Last-Event-ID",
    description:
      "The id of the last received event, or a time by the clock of the service. The stream continues after it.",
    schema: { type: "string" }
  },
  link: {
    name: "Link",
    description: "Where the deprecation is described.",
    schema: { type: "string", examples: ['</docs>; rel="deprecation"; type="text/html"'] }
  },
  location: {
    name: "Location",
    description: "The path of the new record.",
    schema: {
      type: "string",
      examples: [
        "/v1/workspaces/019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d3f/cron/019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"
      ]
    }
  },
  ratelimit: {
    name: "RateLimit",
    description:
      "The remaining quota of your API key or account: `r` requests immediately. `t` is the number of seconds until the quota is full again or, with `r=0`, until the next request.",
    schema: { type: "string", examples: ['"default";r=599;t=1'] }
  },
  "ratelimit-policy": {
    name: "RateLimit-Policy",
    description:
      "The rate limit: `q` requests per `w` seconds, in a burst or spread out. Absent, like `RateLimit`, if the operator has set no limit.",
    schema: { type: "string", examples: ['"default";q=600;w=60'] }
  },
  "retry-after": {
    name: "Retry-After",
    description: "How many seconds to wait before retrying.",
    schema: { type: "integer", minimum: 0, examples: [1] }
  },
  sunset: {
    name: "Sunset",
    description: "When the operation may be removed (RFC 8594).",
    schema: { type: "string", examples: ["Sat, 01 Jan 2028 00:00:00 GMT"] }
  },
  "www-authenticate": {
    name: "WWW-Authenticate",
    description: "Why the credential is not sufficient (RFC 6750).",
    schema: { type: "string", examples: ['Bearer error="invalid_token"'] }
  },
  "x-request-id": {
    name: "x-request-id",
    description:
      "The id of this request in the logs: the id that you sent, if valid, or a generated one.",
    schema: { type: "string", examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"] }
  }
}

export const knownHeader = (name: string): KnownHeader | undefined => known[name.toLowerCase()]

/** References to the headers of a response, including the headers that all responses have. */
export const headerReferences = (
  names: Iterable<string>
): Readonly<Record<string, Header | Reference>> => {
  const headers: Record<string, Header | Reference> = {}
  for (const name of ["x-request-id", ...names]) {
    const header = knownHeader(name)
    if (header === undefined)
      throw new Error(
        `Describe the response header ${name} in packages/openapi/src/responses/headers.ts`
      )
    headers[header.name] = { $ref: `#/components/headers/${header.name}` }
  }
  return headers
}

export const componentHeaders: Readonly<Record<string, Header>> = Object.fromEntries(
  Object.values(known).map(({ name, ...header }) => [name, header])
)
